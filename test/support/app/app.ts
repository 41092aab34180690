import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pino from "pino";
import { onTestFinished } from "vitest";
import { buildApp } from "../../../backend/app.ts";
import { type Config, parseConfig } from "../../../backend/config.ts";
import type { Deps } from "../../../backend/deps.ts";
import { buildDeps } from "../../../backend/entry/serve.ts";
import type { App } from "../../../backend/http/types.ts";
import { ROUTES } from "../../../backend/routes/index.ts";
import { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { ExportTail } from "../../../shared/contract/pointcloud.ts";
import type { Marker } from "../../../shared/wire/php1.ts";
import type { RunOutcome } from "../../../shared/wire/run-stream.ts";
import { readRun } from "./run-body.ts";

/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg?: string; readonly level: number };

export interface TestApp {
  readonly app: App;
  readonly deps: Deps;
  /** Everything below lies in here and goes with close(). */
  readonly folder: string;
  readonly sessions: string;
  readonly octrees: string;
  readonly log: LogLine[];
  /** Writes a file into the folder and returns its path. */
  file(name: string, content: string | Uint8Array): string;
  /** Ends what runs and removes the folder. The second call waits for the first. */
  close(): Promise<void>;
}

/** The whole service with native code, temporary folders, every route; not listening. */
export async function makeApp(
  config: Partial<Config> = {},
  folder = mkdtempSync(join(tmpdir(), "app-")),
): Promise<TestApp> {
  const log: LogLine[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split("\n")) if (line !== "") log.push(JSON.parse(line) as LogLine);
      done();
    },
  });
  const octrees = join(folder, "octrees");
  const full = { ...parseConfig({}), dataDir: join(folder, "data"), octreeCacheRoot: octrees, ...config };
  const deps = await buildDeps(full, pino({ level: "debug" }, sink));
  const app = await buildApp(deps, ROUTES);
  const end = async () => {
    await app.close();
    await deps.jobs.idle();
    await deps.sessions.close();
    await deps.octreeCache.close();
    await rm(folder, { recursive: true, force: true });
  };
  let ending: Promise<void> | undefined;
  return {
    app,
    deps,
    folder,
    sessions: join(full.dataDir, "sessions"),
    octrees: full.octreeCacheRoot,
    log,
    file: (name, content) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    close: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** The service for one test; closed and removed after it, also when it fails. */
export async function appOfTest(config: Partial<Config> = {}, folder?: string): Promise<TestApp> {
  const made = await makeApp(config, folder);
  onTestFinished(made.close);
  return made;
}

export interface RunAnswer {
  readonly status: number;
  readonly markers: readonly Marker[];
  readonly outcome: RunOutcome;
}

/** A streamed request read to its end. Fails when the answer is no stream. */
export async function run({ app }: TestApp, url: string, payload: object): Promise<RunAnswer> {
  const answer = await app.inject({ method: "POST", url, payload });
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}: ${answer.body}`);
  return { status: answer.statusCode, ...readRun(answer.rawPayload) };
}

/** Status and body of a request that is expected to be refused before any stream. */
export async function refused({ app }: TestApp, url: string, payload: object) {
  const { statusCode, body } = await app.inject({ method: "POST", url, payload });
  const parsed = JSON.parse(body) as {
    detail: string | { loc: (string | number)[] }[];
    code: string;
    message?: string;
  };
  return { status: statusCode, ...parsed };
}

const CREATE = "/api/cloud/session/create";
const EXPORT = "/api/pointcloud/export";

/** A scan to open: the rows of a text file, the first one naming the columns; the bytes of a LAS file; a file's path. */
export type Scan = readonly string[] | Uint8Array | string;

let files = 0;

/** Path of a scan; rows and bytes are written to a file of a fresh name. */
export function scanFile(made: TestApp, scan: Scan, extension = scan instanceof Uint8Array ? "las" : "txt"): string {
  if (typeof scan === "string") return scan;
  files += 1;
  return made.file(`scan${files}.${extension}`, scan instanceof Uint8Array ? scan : `${scan.join("\n")}\n`);
}

/** Creates a session and returns the tail, checked against the contract. */
export async function create(made: TestApp, source_path: string, wishes: object = {}): Promise<CreateSessionTail> {
  const { outcome } = await run(made, CREATE, { source_path, ...wishes });
  if (outcome.kind !== "json") throw new Error(outcome.kind === "failed" ? outcome.error : "the create was canceled");
  return CreateSessionTail.parse(outcome.value);
}

/** The sentence of a create that fails after its stream has opened. */
export async function createError(made: TestApp, source_path: string, wishes: object = {}): Promise<string> {
  const { outcome } = await run(made, CREATE, { source_path, ...wishes });
  if (outcome.kind !== "failed") throw new Error(`create did not fail: ${JSON.stringify(outcome).slice(0, 500)}`);
  return outcome.error;
}

export async function exportTail(made: TestApp, request: object): Promise<ExportTail> {
  const { outcome } = await run(made, EXPORT, request);
  if (outcome.kind === "json") return ExportTail.parse(outcome.value);
  if (outcome.kind === "failed") return ExportTail.parse(outcome.tail);
  throw new Error(`export: ${JSON.stringify(outcome)}`);
}

/** A session's points as an export of the asked format writes them. */
export async function exported(made: TestApp, session_id: string, format: string, more: object = {}): Promise<Buffer> {
  const tail = await exportTail(made, { source: { session_id, want_colors: true }, format, ...more });
  if (!tail.success || tail.data === null) throw new Error(`export: ${tail.error}`);
  return Buffer.from(tail.data, "base64");
}

/** Rows of a txt export as objects of numbers, by column name. */
export async function rowsOf(
  made: TestApp,
  session_id: string,
  columns: readonly string[] = [],
): Promise<Record<string, number>[]> {
  const text = (await exported(made, session_id, "csv", { columns })).toString();
  const [header = "", ...lines] = text.split("\n");
  const names = header.split(",");
  return lines.map((line) =>
    Object.fromEntries(line.split(",").map((field, i) => [names[i] ?? i, field === "" ? Number.NaN : Number(field)])),
  );
}
