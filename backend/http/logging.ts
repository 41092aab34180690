import { SLOW_REQUEST_MS } from "../../shared/limits.ts";
import type { RunRecord } from "../jobs/registry.ts";
import type { App } from "./types.ts";

interface Failure {
  readonly detail: unknown;
  readonly err: unknown;
}
const failures = new WeakMap<object, Failure>();

/** Puts the reason of a refusal or failure into the request's one log line; `err` (with its stack) for our own bugs. */
export function noteFailure(request: object, detail: unknown, err?: unknown): void {
  failures.set(request, { detail, err });
}

/**
 * One line per request: 5xx at error, 4xx at warning with the reason, the rest at info; a slow one also says what else
 * was going on. Query strings stay out: they may hold paths.
 */
export function installRequestLog(app: App): void {
  let inFlight = 0;
  const rssBefore = new WeakMap<object, number>();
  app.addHook("onRequest", async (request, reply) => {
    inFlight += 1;
    reply.raw.once("close", () => {
      inFlight -= 1; // comes for an answer and for a client that left
    });
    rssBefore.set(request, process.memoryUsage.rss());
  });
  app.addHook("onResponse", async (request, reply) => {
    const ms = Math.round(reply.elapsedTime);
    const status = reply.statusCode;
    const line = `${request.method} ${request.url.split("?", 1)[0]} -> ${status}`;
    const { detail, err } = failures.get(request) ?? {};
    const text = typeof detail === "string" ? `${line}: ${detail}` : line;
    if (status >= 500) request.log.error({ ms, err }, text);
    else if (status >= 400) request.log.warn({ ms }, text);
    else request.log.info({ ms }, text);
    if (ms < SLOW_REQUEST_MS) return;
    const rss_before_bytes = rssBefore.get(request) ?? 0;
    const rss_after_bytes = process.memoryUsage.rss();
    request.log.warn({ ms, others: inFlight - 1, rss_before_bytes, rss_after_bytes }, `slow: ${line}`);
  });
}

/** One line per run, for JobRegistry. */
export function runLogger(log: { info(fields: object, message: string): void }): (record: RunRecord) => void {
  return (record) => log.info(record, `run ${record.run_id} ${record.label}: ${record.outcome}`);
}
