import { realpath } from "node:fs/promises";
import { AppError } from "../../../shared/errors.ts";
import { renderPictures } from "../drawing/render.ts";
import { Progress } from "../progress.ts";
import type { EditedCloud } from "../report/findings.ts";
import { summarize } from "../report/summary.ts";
import { reportedWarnings } from "../wording.ts";
import { withBackend } from "./backend.ts";
import { type Covered, rasterPlace } from "./cell-size.ts";
import { writeCopy } from "./cloud-copy.ts";
import { createRequest, editCloud, requirePoints } from "./cloud-edits.ts";
import { doubtfulSize } from "./doubtful-size.ts";
import { leftNote } from "./earlier-run.ts";
import { jsonDocument } from "./json-document.ts";
import { loadOctreePoints } from "./octree-points.ts";
import { type AnalyzeOptions, checkInput, checkMerge, copyName, type InputFile } from "./options.ts";
import { OutputFolder, publishAll } from "./output-folder.ts";
import { projectFile, saveProject } from "./project-file.ts";
import { writeRasters } from "./rasters.ts";
import { summaryTable } from "./record.ts";
import { REPORT_FILE, writeResults } from "./results.ts";
import type { AnalyzeDeps, AnalyzeResult, ProjectFile, Run } from "./run.ts";
import { ceilingOf, sceneOf } from "./scene.ts";
import { type Look, lookAt } from "./source-units.ts";
import { Stopwatch } from "./stopwatch.ts";
import { canopy, labelTerrain, terrainSummary } from "./terrain.ts";
import { drawTerrain } from "./terrain-pictures.ts";
import { turnedUp } from "./up.ts";

/**
 * Imports a cloud through the HTTP API of a service in this process and writes report, pictures and a copy to the
 * output folder, all of them or, after a cancel or failure, none.
 * Errors: those of the options and the client; the signal's reason or CanceledError after a cancel.
 */
export async function analyze(file: string, options: AnalyzeOptions, deps: AnalyzeDeps): Promise<AnalyzeResult> {
  const { signal } = deps;
  const input = await checkInput(file, options);
  const merge = await checkMerge(input, options);
  if (options.cell !== undefined && !options.dem) {
    throw new AppError("invalid_argument", "--cell sets the rasters that --no-dem leaves out; give one of the two");
  }
  signal.throwIfAborted();
  const out = await OutputFolder.open(options.out, options.force ? undefined : REPORT_FILE);
  const progress = new Progress(deps.stderr);
  let project: ProjectFile | undefined;
  try {
    if (options.project !== undefined) project = await projectFile(options.project, options.force);
    await refuseOverwriting(merge, out.final(copyName(input.name, options.format)));
    const result = await withBackend(deps, (client) =>
      work({ input, merge, options, client, out, project, progress, signal }),
    );
    signal.throwIfAborted();
    const left = await publishAll(project ? [out, project.folder] : [out]);
    progress.done();
    deps.stderr.write(leftNote(left));
    deps.stdout.write(options.json ? jsonDocument(result) : summaryTable(result));
    return result;
  } catch (error) {
    progress.stop();
    await project?.folder.discard();
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

async function work(run: Run): Promise<AnalyzeResult> {
  const { input, options, client, progress, signal } = run;
  const clock = new Stopwatch();
  progress.stage("Reading the cloud");
  const look = await lookAt(input.path, options, client, signal);
  const tail = await client.createSession(createRequest(input.path, options, look), {
    signal,
    onProgress: (step) => progress.update(step.progress, step.message),
  });
  clock.lap("import");
  let open = tail.session_id;
  try {
    requirePoints(tail, input.path);
    const cloud = await editCloud(await turnedUp(tail, options.up, client, signal), run);
    open = cloud.tail.session_id;
    if (cloud.edits) clock.lap("edit");
    const result = await useSession(run, cloud, look, clock);
    await client.closeSession(open);
    return result;
  } catch (error) {
    // Report the first failure; stopping the service removes every session anyway.
    await client.closeSession(open).catch(() => undefined);
    throw error;
  }
}

/** Points of the sample that tells the scene and the density. */
const SCENE_POINTS = 200_000;

async function useSession(
  run: Run,
  { tail: imported, edits }: EditedCloud,
  look: Look,
  clock: Stopwatch,
): Promise<AnalyzeResult> {
  const { input, options, client, progress, signal } = run;
  const glance = await loadOctreePoints(client, imported.cache_id, { budget: SCENE_POINTS, signal });
  const scene = sceneOf(glance.sample, options.scene);
  const placeOf = (covered: Covered) => rasterPlace(covered, glance.sample, options.cell);
  const steps = { ...run, scene, placeOf };
  const { tail, terrain } = await labelTerrain(imported, steps);
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
    ceiling_stored: scene.kind === "object" ? ceilingOf(glance.sample) : undefined,
    signal,
    onProgress: (done, total) => progress.update(done / total),
  });
  clock.lap("draw");
  const copy = await writeCopy(run, tail);
  clock.lap("copy");
  const crowns = await canopy(tail.session_id, terrain, steps, tail.world_shift?.[2] ?? 0);
  const drawn = await drawTerrain(terrain, crowns, sample, options.pictureSize);
  const rasters = await writeRasters(run, tail, terrain, crowns);
  clock.lap("canopy");
  const file = { path: input.path, name: input.name, bytes: input.bytes };
  const cloud = summarize(file, { tail, edits }, sample, look, scene);
  const summary = terrainSummary(terrain, crowns);
  const unused =
    options.cell !== undefined && rasters.length === 0 ? ["--cell was not used: there are no rasters."] : [];
  const saved = await saveProject(run, tail);
  if (options.project !== undefined) clock.lap("project");
  const facts = { scene, spacing_m: imported.point_spacing ?? null, units_stated: look.units_stated };
  const size = doubtfulSize(glance.sample, facts);
  const said = [...cloud.warnings, ...summary.warnings, ...copy.warnings, ...saved, ...unused];
  const warnings = reportedWarnings([...said, ...size]);
  return writeResults(run, { ...cloud, warnings }, { pictures, terrain: summary, drawn, rasters }, copy, clock);
}
