import { SLOW_REQUEST_MS } from "../../shared/limits.ts";
import type { RunRecord } from "../jobs/registry.ts";
import type { App } from "./types.ts";

/** One line per request; a slow one also says what else was going on. Query strings stay out: they may hold paths. */
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
    const line = `${request.method} ${request.url.split("?", 1)[0]} -> ${reply.statusCode}`;
    request.log.info({ ms }, line);
    if (ms < SLOW_REQUEST_MS) return;
    const rss_before_bytes = rssBefore.get(request) ?? 0;
    request.log.warn(
      { ms, others: inFlight - 1, rss_before_bytes, rss_after_bytes: process.memoryUsage.rss() },
      `slow: ${line}`,
    );
  });
}

/** One line per run, for JobRegistry. */
export function runLogger(log: { info(fields: object, message: string): void }): (record: RunRecord) => void {
  return (record) => log.info(record, `run ${record.run_id} ${record.label}: ${record.outcome}`);
}
