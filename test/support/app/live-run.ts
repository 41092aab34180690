import type { Marker } from "../../../shared/wire/php1.ts";
import { type RunOutcome, RunStreamParser } from "../../../shared/wire/run-stream.ts";
import { stopwatch, type Times } from "../run/stopwatch.ts";

/** A streamed request over a real socket, seen marker by marker. */
export interface LiveRun {
  readonly run_id: string;
  readonly markers: readonly Marker[];
  /** Resolves at the first marker of that label; false when the stream ends without it. */
  until(label: string): Promise<boolean>;
  /** What it came to; rejects when the connection broke. */
  readonly outcome: Promise<RunOutcome>;
  /** Drops the connection without a word. */
  hangUp(): void;
  /** POSTs the cancel; the time from before the POST to the end of the stream, and what the stream came to. */
  cancel(): Promise<Times & { canceled: boolean; outcome: RunOutcome }>;
}

/** POSTs a run and resolves at its first marker. Errors: the answer is no stream. */
export async function openRun(base: string, path: string, body: object): Promise<LiveRun> {
  const connection = new AbortController();
  const headers = { "content-type": "application/json" };
  const answer = await fetch(base + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: connection.signal,
  });
  if (answer.status !== 200 || !answer.body)
    throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  const markers: Marker[] = [];
  let changed: () => void = () => undefined;
  let ended = false;
  const read = async () => {
    const parser = new RunStreamParser();
    try {
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        markers.push(...parser.push(chunk));
        changed();
      }
      return parser.finish();
    } finally {
      ended = true;
      changed();
    }
  };
  const outcome = read();
  outcome.catch(() => undefined); // a test that hangs up does not ask for it
  const seen = async (found: () => boolean) => {
    while (!found() && !ended) {
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
    return found();
  };
  await seen(() => markers.length > 0);
  const run_id = markers[0]?.run_id ?? "";
  return {
    run_id,
    markers,
    until: (label) => seen(() => markers.some(({ message }) => message === label)),
    outcome,
    hangUp: () => connection.abort(),
    cancel: async () => {
      const stop = stopwatch();
      const said = fetch(`${base}/api/cancel/${run_id}`, { method: "POST" }).then(
        (reply) => reply.json() as Promise<{ canceled: boolean }>,
      );
      const came = await outcome;
      const times = stop();
      return { ...times, canceled: (await said).canceled, outcome: came };
    },
  };
}

/** A JSON request over a real socket. */
export async function ask<T>(
  base: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: T }> {
  const init = body ? { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {};
  const answer = await fetch(base + path, { method, ...init });
  return { status: answer.status, body: (await answer.json()) as T };
}

/** The JSON tail of a run. Errors: it came to anything else. */
export async function tailOf<T>(base: string, path: string, body: object): Promise<T> {
  const outcome = await (await openRun(base, path, body)).outcome;
  if (outcome.kind !== "json") throw new Error(`${path}: ${JSON.stringify(outcome)}`);
  return outcome.value as T;
}
