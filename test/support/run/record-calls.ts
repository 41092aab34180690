import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { Admission } from "../../../backend/jobs/admission.ts";
import { addon } from "../../../backend/native/core/addon.ts";

const RECORDED = Symbol.for("calls of endpoints");

/** Column files are the journal's business, written behind any edit: no endpoint's own. */
const JOURNAL: ReadonlySet<string> = new Set(["writeColumnFiles", "syncColumnFile", "damagedColumnFiles"]);

/**
 * Which native jobs each endpoint starts and whether it asks for admission, taken from the requests of the contract tests:
 * what docs/endpoints.md lists. Does nothing unless APP_RECORD_CALLS names a folder; each test file appends its lines
 * `{endpoint, op}` or `{endpoint, admitted}` to a file there.
 */
interface HandlerStart {
  readonly route: { readonly url: string; readonly method: string | readonly string[] };
}

/** Notes the calls of this process from now on, once: files that share the process share the notes. */
function recorded(): Set<string> {
  const home = globalThis as { [RECORDED]?: Set<string> };
  if (home[RECORDED]) return home[RECORDED];
  const lines = new Set<string>();
  home[RECORDED] = lines;
  const endpoint = new AsyncLocalStorage<string>();
  tracingChannel<unknown, HandlerStart>("fastify.request.handler").start.bindStore(
    endpoint,
    ({ route: { url, method } }) => `${[method].flat().join(" ")} ${url}`,
  );
  const note = (fact: { readonly op: string } | { readonly admitted: true }) => {
    const now = endpoint.getStore();
    if (now !== undefined) lines.add(JSON.stringify({ endpoint: now, ...fact }));
  };
  watchJobs(note);
  const { run } = Admission.prototype;
  Admission.prototype.run = function (this: Admission, ...args: Parameters<typeof run>) {
    note({ admitted: true });
    return run.apply(this, args);
  } as typeof run;
  return lines;
}

function record(target: string): void {
  const lines = recorded();
  lines.clear(); // another file's, which are none of the contract tests
  afterAll(() => {
    mkdirSync(target, { recursive: true });
    if (lines.size > 0) appendFileSync(join(target, `${process.pid}.jsonl`), `${[...lines].join("\n")}\n`);
  });
}

function watchJobs(note: (fact: { readonly op: string }) => void): void {
  for (const [op, native] of Object.entries(addon) as [string, unknown][]) {
    if (typeof native !== "function" || native === addon.Column || JOURNAL.has(op)) continue;
    const watched = (...args: unknown[]) => {
      const started: unknown = native(...args);
      if (typeof started === "object" && started !== null && "progress" in started) note({ op });
      return started;
    };
    Object.assign(addon, { [op]: watched });
  }
}

const folder = process.env.APP_RECORD_CALLS;
if (folder && (expect.getState().testPath ?? "").includes(join("test", "contract"))) record(folder);
