import { realpath } from "node:fs/promises";
import { type Client, createClient } from "../../shared/client.ts";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { AppError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";
import { type AnalyzeOptions, checkInput, checkMerge, copyName, type InputFile } from "./analyze-options.ts";
import { createRequest, type EditedCloud, editCloud } from "./cloud-edits.ts";
import { filterText } from "./edit-options.ts";
import { loadOctreePoints } from "./octree-points.ts";
import { OutputFolder } from "./output-folder.ts";
import { Progress, printable, type TextStream } from "./progress.ts";
import { type Picture, renderPictures } from "./render.ts";
import { reportHtml } from "./report.ts";
import { scansCsv } from "./scan-table.ts";
import { Stopwatch } from "./stopwatch.ts";
import { type AnalysisSummary, type Fact, keyFacts, summarize } from "./summary.ts";

/** The backend of this process, as backend/entry/serve.ts starts it. */
export interface Backend {
  readonly url: string;
  readonly token: string | null;
  stop(options?: { removeSessions?: boolean }): Promise<void>;
}
export type StartBackend = (overrides?: Partial<Config>) => Promise<Backend>;

export type AnalyzeClient = Pick<
  Client,
  "version" | "preview" | "createSession" | "closeSession" | "merge" | "filter" | "exportCloud" | "octreeFile"
>;

export interface AnalyzeDeps {
  readonly startBackend: StartBackend;
  readonly connect?: (backend: Backend) => AnalyzeClient;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** Cancels the run cleanly. */
  readonly signal: AbortSignal;
}

/** What a run of `analyze` made; the document of --json. */
export interface AnalyzeResult extends AnalysisSummary {
  readonly copy: { readonly format: string; readonly point_count: number } | null;
  readonly outputs: {
    readonly report: string;
    /** Table of the scans; null for a file without any. */
    readonly scans: string | null;
    readonly copy: string | null;
    readonly pictures: readonly string[];
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly seconds: Readonly<Record<string, number>>;
}

interface Run {
  readonly input: InputFile;
  readonly merge: readonly InputFile[];
  readonly options: AnalyzeOptions;
  readonly client: AnalyzeClient;
  readonly out: OutputFolder;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

const SCANS_FILE = "scans.csv";

/** The service's own settings for one short run: no port to guess, no journal to keep, its log only when it fails. */
const RUN_CONFIG = { port: 0, sessionJournal: false, logLevel: "error" } as const satisfies Partial<Config>;

/**
 * Imports a cloud through the HTTP API of a service in this process and leaves report, pictures and a copy in the output
 * folder: all of them, or after a cancel or a failure none.
 * Errors: those of the options and the client; the signal's reason or CanceledError after a cancel.
 */
export async function analyze(file: string, options: AnalyzeOptions, deps: AnalyzeDeps): Promise<AnalyzeResult> {
  const { signal } = deps;
  const input = await checkInput(file, options);
  const merge = await checkMerge(input, options);
  signal.throwIfAborted();
  const out = await OutputFolder.open(options.out);
  const progress = new Progress(deps.stderr);
  try {
    await refuseOverwriting(merge, out.final(copyName(input.name, options.format)));
    const result = await withBackend(deps, (client) => work({ input, merge, options, client, out, progress, signal }));
    signal.throwIfAborted();
    await out.publish();
    progress.done();
    deps.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : summaryTable(result));
    return result;
  } catch (error) {
    progress.stop();
    await out.discard();
    throw error;
  }
}

/** The copy's name is longer than the first file's; one of the others may have it. */
async function refuseOverwriting(merge: readonly InputFile[], copy: string): Promise<void> {
  const existing = await realpath(copy).catch(() => undefined);
  if (existing === undefined || !merge.some(({ path }) => path === existing)) return;
  throw new AppError(
    "invalid_argument",
    `--merge "${existing}" would be replaced by the copy of this run; choose another --out or --format`,
  );
}

async function withBackend<T>(deps: AnalyzeDeps, use: (client: AnalyzeClient) => Promise<T>): Promise<T> {
  const backend = await deps.startBackend(RUN_CONFIG);
  const { url: baseUrl, token } = backend;
  const connect = deps.connect ?? (() => createClient(token === null ? { baseUrl } : { baseUrl, token }));
  try {
    return await use(connect(backend));
  } finally {
    await backend.stop({ removeSessions: true });
  }
}

async function work(run: Run): Promise<AnalyzeResult> {
  const { input, options, client, progress, signal } = run;
  const clock = new Stopwatch();
  progress.stage("Reading the cloud");
  const tail = await client.createSession(createRequest(input.path, options), {
    signal,
    onProgress: (step) => progress.update(step.progress, step.message),
  });
  clock.lap("import");
  let open = tail.session_id;
  try {
    const cloud = await editCloud(tail, run);
    open = cloud.tail.session_id;
    if (cloud.edits) clock.lap("edit");
    const result = await useSession(run, cloud, clock);
    await client.closeSession(open);
    return result;
  } catch (error) {
    // The first failure is the one to report; stopping the service removes every session as well.
    await client.closeSession(open).catch(() => undefined);
    throw error;
  }
}

async function useSession(run: Run, { tail, edits }: EditedCloud, clock: Stopwatch): Promise<AnalyzeResult> {
  const { input, options, client, progress, signal } = run;
  progress.stage("Fetching points");
  const { sample } = await loadOctreePoints(client, tail.cache_id, {
    budget: options.points,
    signal,
    onProgress: (done, total) => progress.update(total > 0 ? done / total : 1),
  });
  clock.lap("fetch");
  progress.stage("Drawing pictures");
  const pictures = await renderPictures(sample, {
    longest_px: options.pictureSize,
    signal,
    onProgress: (done, total) => progress.update(done / total),
  });
  clock.lap("draw");
  const copy = await writeCopy(run, tail);
  clock.lap("copy");
  const look = await client.preview({ file_path: input.path, ascii_format: options.columns ?? null }, { signal });
  const cloud = summarize({ path: input.path, name: input.name, bytes: input.bytes }, { tail, edits }, sample, look);
  return writeResults(run, { ...cloud, warnings: [...cloud.warnings, ...copy.warnings] }, pictures, copy, clock);
}

interface Copy {
  readonly name: string | null;
  readonly point_count: number;
  readonly warnings: readonly string[];
}

/** Formats that write the scalar columns they are asked for; LAS takes all of them, XYZ and OBJ none. */
const WITH_COLUMNS: ReadonlySet<string> = new Set(["txt", "csv", "ply"]);
/** These have columns of their own in every format. */
const BUILT_IN: ReadonlySet<string> = new Set(["position", "rgb", "intensity"]);

const scalarNames = ({ attributes }: CreateSessionTail) =>
  attributes.map(({ name }) => name).filter((name) => !BUILT_IN.has(name));

async function writeCopy(
  { input, options, client, out, progress, signal }: Run,
  tail: CreateSessionTail,
): Promise<Copy> {
  if (tail.point_count === 0) {
    return { name: null, point_count: 0, warnings: ["No copy was written: the cloud has no points."] };
  }
  progress.stage("Writing the copy");
  const name = copyName(input.name, options.format);
  const done = await client.exportCloud(
    {
      source: { session_id: tail.session_id },
      format: options.format,
      dest_path: out.stage(name),
      columns: WITH_COLUMNS.has(options.format) ? scalarNames(tail) : null,
    },
    { signal, onProgress: (step) => progress.update(step.progress, step.message) },
  );
  return { name, point_count: done.point_count, warnings: done.warnings ?? [] };
}

async function writeResults(
  run: Run,
  summary: AnalysisSummary,
  pictures: readonly Picture[],
  copy: Copy,
  clock: Stopwatch,
): Promise<AnalyzeResult> {
  const { input, options, client, out, progress, signal } = run;
  progress.stage("Writing the report");
  const versions = await describeVersions(client, signal);
  const parameters = {
    source: input.path,
    source_modified: input.modified,
    units: options.units ?? null,
    shift: options.shift ?? null,
    columns: options.columns ?? null,
    merge: run.merge.map(({ path }) => path),
    crop: options.crop ?? null,
    filter: options.filters.map(filterText),
    format: options.format,
    points: options.points,
    picture_size: options.pictureSize,
  };
  for (const { frame, scale, png } of pictures) await out.write(`${frame.view.name}_${scale.mode}.png`, png);
  const report = reportHtml({
    summary,
    pictures,
    reproduce: reproduceFacts(run, versions),
    copy: copy.name === null ? null : { name: copy.name, format: options.format, point_count: copy.point_count },
    created: new Date(),
  });
  await out.write("report.html", report);
  if (summary.scans.length > 0) await out.write(SCANS_FILE, scansCsv(summary.scans));
  clock.lap("report");
  return {
    ...summary,
    copy: copy.name === null ? null : { format: options.format, point_count: copy.point_count },
    outputs: {
      report: out.final("report.html"),
      scans: summary.scans.length > 0 ? out.final(SCANS_FILE) : null,
      copy: copy.name === null ? null : out.final(copy.name),
      pictures: pictures.map(({ frame, scale }) => out.final(`${frame.view.name}_${scale.mode}.png`)),
    },
    versions,
    parameters,
    seconds: clock.seconds(),
  };
}

async function describeVersions(client: AnalyzeClient, signal: AbortSignal): Promise<Record<string, string>> {
  const { version } = await client.version({ signal });
  return { service: version, node: process.version, platform: `${process.platform} ${process.arch}` };
}

function reproduceFacts({ input, merge, options }: Run, versions: Record<string, string>): Fact[] {
  const { crop, filters } = options;
  return [
    ["Source file", input.path],
    ["Size, last change", `${input.bytes} bytes, ${input.modified}`],
    ["Units (--units)", options.units ?? "not given"],
    ["World shift (--shift)", options.shift ? `${options.shift.join(", ")} m` : "not given"],
    ["Column legend (--columns)", options.columns ?? "not given"],
    ...merge.map(({ path, bytes, modified }): Fact => ["Merged (--merge)", `${path}, ${bytes} bytes, ${modified}`]),
    ...(crop ? [["Box (--crop)", [...crop.min, ...crop.max].join(",")] as const] : []),
    ...filters.map((rule): Fact => ["Filter (--filter)", filterText(rule)]),
    ["Copy (--format)", options.format],
    ["Points for pictures (--points)", `at most ${options.points}`],
    ["Longest picture side (--picture-size)", `${options.pictureSize} pixels`],
    [
      "Versions",
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", "),
    ],
  ];
}

function summaryTable(result: AnalyzeResult): string {
  const facts: Fact[] = [["File", result.file.name], ...keyFacts(result), ["Report", result.outputs.report]];
  if (result.outputs.scans !== null) facts.push(["Scan table", result.outputs.scans]);
  if (result.outputs.copy !== null) facts.push(["Copy", result.outputs.copy]);
  const width = Math.max(...facts.map(([label]) => label.length));
  // Narrow spaces and true minus signs are for paper; a terminal's text gets copied.
  const plain = (text: string) => printable(text).replaceAll("\u202f", " ").replaceAll("\u2212", "-");
  const lines = facts.map(([label, value]) => `${label.padEnd(width)}  ${plain(value)}`);
  for (const warning of result.warnings) lines.push(`Warning: ${printable(warning)}`);
  return `${lines.join("\n")}\n`;
}
