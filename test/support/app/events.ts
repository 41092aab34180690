import { EventParser, type ServerEvent } from "../../../shared/wire/sse.ts";

/** The events of a whole body. */
export const eventsOf = (body: Uint8Array): ServerEvent[] => new EventParser().push(body);

/** A request over a real socket whose answer is read event by event. */
export interface LiveEvents {
  readonly run_id: string;
  readonly events: readonly ServerEvent[];
  /** Resolves when an event satisfies the condition; false when the stream ends without it. */
  until(found: (event: ServerEvent) => boolean): Promise<boolean>;
  /** Resolves at the end of the stream with its last event; rejects when the connection broke. */
  readonly last: Promise<ServerEvent | undefined>;
  hangUp(): void;
}

/** POSTs a request and resolves at its first event. Errors: the answer is no event stream. */
export async function openEvents(base: string, path: string, body: object): Promise<LiveEvents> {
  const connection = new AbortController();
  const answer = await fetch(base + path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(body),
    signal: connection.signal,
  });
  if (answer.headers.get("content-type") !== "text/event-stream" || !answer.body)
    throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  const events: ServerEvent[] = [];
  let changed: () => void = () => undefined;
  let ended = false;
  const read = async () => {
    const parser = new EventParser();
    try {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        events.push(...parser.push(chunk));
        changed();
      }
      return events.at(-1);
    } finally {
      ended = true;
      changed();
    }
  };
  const last = read();
  last.catch(() => undefined); // a test that hangs up does not ask for it
  const until = async (found: (event: ServerEvent) => boolean) => {
    while (!events.some(found) && !ended) {
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
    return events.some(found);
  };
  await until(() => true);
  const first = JSON.parse(events[0]?.data ?? "{}") as { run_id?: string };
  return { run_id: first.run_id ?? "", events, until, last, hangUp: () => connection.abort() };
}
