import { SLOW_REQUEST_MS } from "../../shared/limits.ts";
import type { RunRecord } from "../jobs/registry.ts";
import { withoutPaths } from "./private-paths.ts";
import type { App } from "./types.ts";

interface Failure {
  readonly detail: unknown;
  readonly err: unknown;
}
const failures = new WeakMap<object, Failure>();

/** Adds the reason of a refusal or failure to the request's log line. `err` (logged with its stack) is for our bugs. */
export function noteFailure(request: object, detail: unknown, err?: unknown): void {
  failures.set(request, { detail, err });
}

/**
 * Logs one line per request: 5xx as error, 4xx as warning with the reason, all others as info. A slow request gets a
 * second line with the number of other requests in progress and the memory used. Query strings are not logged, because
 * they may contain file paths, and paths that the request names are shown as file names.
 */
export function installRequestLog(app: App): void {
  let inFlight = 0;
  const rssBefore = new WeakMap<object, number>();
  app.addHook("onRequest", async (request, reply) => {
    inFlight += 1;
    reply.raw.once("close", () => {
      inFlight -= 1; // fires after a response and when the client disconnects
    });
    rssBefore.set(request, process.memoryUsage.rss());
  });
  app.addHook("onResponse", async (request, reply) => {
    const ms = Math.round(reply.elapsedTime);
    const status = reply.statusCode;
    const line = `${request.method} ${request.url.split("?", 1)[0]} -> ${status}`;
    const { detail, err } = failures.get(request) ?? {};
    const hide = withoutPaths(request);
    const text = typeof detail === "string" ? hide(`${line}: ${detail}`) : line;
    if (status >= 500) request.log.error({ ms, err: shownError(err, hide) }, text);
    else if (status >= 400) request.log.warn({ ms }, text);
    else request.log.info({ ms }, text);
    if (ms < SLOW_REQUEST_MS) return;
    const rss_before_bytes = rssBefore.get(request) ?? 0;
    const rss_after_bytes = process.memoryUsage.rss();
    request.log.warn({ ms, others: inFlight - 1, rss_before_bytes, rss_after_bytes }, `slow: ${line}`);
  });
}

/** An error for the log, without the paths of the request. */
function shownError(err: unknown, hide: (text: string) => string): object | undefined {
  if (!(err instanceof Error)) return undefined;
  return { type: err.name, message: hide(err.message), stack: hide(err.stack ?? "") };
}

/** Logs one line per run; JobRegistry calls it. */
export function runLogger(log: { info(fields: object, message: string): void }): (record: RunRecord) => void {
  return (record) => log.info(record, `run ${record.run_id} ${record.label}: ${record.outcome}`);
}
