import { realpath } from "node:fs/promises";
import { createClient } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Config } from "../../config.ts";
import { type Picture, renderPictures } from "../drawing/render.ts";
import { Progress } from "../progress.ts";
import type { EditedCloud, TerrainSummary } from "../report/findings.ts";
import { reportHtml } from "../report/report.ts";
import { scansCsv } from "../report/scan-table.ts";
import { type AnalysisSummary, summarize } from "../report/summary.ts";
import type { TerrainPictures } from "../report/terrain-report.ts";
import { type Copy, writeCopy } from "./cloud-copy.ts";
import { createRequest, editCloud, requirePoints } from "./cloud-edits.ts";
import { loadOctreePoints } from "./octree-points.ts";
import { type AnalyzeOptions, checkInput, checkMerge, copyName, type InputFile } from "./options.ts";
import { OutputFolder } from "./output-folder.ts";
import { describeVersions, recordedParameters, reproduceFacts, summaryTable } from "./record.ts";
import type { AnalyzeClient, AnalyzeDeps, AnalyzeResult, Run } from "./run.ts";
import { Stopwatch } from "./stopwatch.ts";
import { canopy, labelTerrain, terrainSummary } from "./terrain.ts";
import { drawTerrain } from "./terrain-pictures.ts";

const SCANS_FILE = "scans.csv";

/** Settings of the service for one short run: any free port, no journal, and only errors in the log. */
const RUN_CONFIG = { port: 0, sessionJournal: false, logLevel: "error" } as const satisfies Partial<Config>;

/**
 * Imports a cloud through the HTTP API of a service in this process and writes report, pictures and a copy to the
 * output folder, all of them or, after a cancel or failure, none.
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

/** Errors: invalid_argument if the copy would replace a merged file. It cannot replace the first one: copyName(). */
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
    requirePoints(tail, input.path);
    const cloud = await editCloud(tail, run);
    open = cloud.tail.session_id;
    if (cloud.edits) clock.lap("edit");
    const result = await useSession(run, cloud, clock);
    await client.closeSession(open);
    return result;
  } catch (error) {
    // Report the first failure; stopping the service removes every session anyway.
    await client.closeSession(open).catch(() => undefined);
    throw error;
  }
}

async function useSession(run: Run, { tail: imported, edits }: EditedCloud, clock: Stopwatch): Promise<AnalyzeResult> {
  const { input, options, client, progress, signal } = run;
  const { tail, terrain } = await labelTerrain(imported, run);
  clock.lap("terrain");
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
  const crowns = await canopy(tail.session_id, terrain, run);
  const drawn = await drawTerrain(terrain, crowns, sample, options.pictureSize);
  clock.lap("canopy");
  const look = await client.preview({ file_path: input.path, ascii_format: options.columns ?? null }, { signal });
  const cloud = summarize({ path: input.path, name: input.name, bytes: input.bytes }, { tail, edits }, sample, look);
  const summary = terrainSummary(terrain, crowns);
  const warnings = [...cloud.warnings, ...summary.warnings, ...copy.warnings];
  return writeResults(run, { ...cloud, warnings }, { pictures, terrain: summary, drawn }, copy, clock);
}

interface Drawn {
  readonly pictures: readonly Picture[];
  readonly terrain: TerrainSummary;
  readonly drawn: TerrainPictures;
}

async function writeResults(
  run: Run,
  summary: AnalysisSummary,
  { pictures, terrain, drawn }: Drawn,
  copy: Copy,
  clock: Stopwatch,
): Promise<AnalyzeResult> {
  const { options, client, out, progress, signal } = run;
  progress.stage("Writing the report");
  const versions = await describeVersions(client, signal);
  const parameters = recordedParameters(run);
  const files = [
    ...pictures.map(({ frame, scale, png }) => ({ name: `${frame.view.name}_${scale.mode}.png`, png })),
    ...drawn.rasters.map(({ name, png }) => ({ name: `${name}.png`, png })),
    ...(drawn.profile ? [{ name: "ground_profile.png", png: drawn.profile.png }] : []),
  ];
  for (const { name, png } of files) await out.write(name, png);
  const report = reportHtml({
    summary,
    pictures,
    terrain,
    terrainPictures: drawn,
    reproduce: reproduceFacts(run, versions),
    copy: copy.name === null ? null : { name: copy.name, format: options.format, point_count: copy.point_count },
    created: new Date(),
  });
  await out.write("report.html", report);
  if (summary.scans.length > 0) await out.write(SCANS_FILE, scansCsv(summary.scans));
  clock.lap("report");
  return {
    ...summary,
    terrain,
    copy: copy.name === null ? null : { format: options.format, point_count: copy.point_count },
    outputs: {
      report: out.final("report.html"),
      scans: summary.scans.length > 0 ? out.final(SCANS_FILE) : null,
      copy: copy.name === null ? null : out.final(copy.name),
      pictures: files.map(({ name }) => out.final(name)),
    },
    versions,
    parameters,
    seconds: clock.seconds(),
  };
}
