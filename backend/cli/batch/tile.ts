import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Client } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_WOOD_POINTS } from "../../../shared/limits.ts";
import { withBackend } from "../analyze/backend.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { reportedWarnings } from "../wording.ts";
import { inWorkFolder, PLACES, readJson, sourceOf, writeJson } from "./folders.ts";
import { sliceLas } from "./las-records.ts";
import type { SurveyFrame } from "./measure.ts";
import { LEAST_POINTS, type SeenTree } from "./owners.ts";
import type { Plan, PlannedTile } from "./plan-document.ts";
import { readOwnPlan } from "./program.ts";
import { makeSurfaces, type SurfaceName } from "./tile-rasters.ts";
import type { TileResult } from "./tile-result.ts";
import { type Surveyed, surveyTile } from "./tile-trees.ts";
import { voidWarning } from "./voids.ts";

/** Tiles with fewer points in their core have no results. */
const FEWEST_POINTS = 10;

interface TileRun {
  readonly plan: Plan;
  readonly tile: PlannedTile;
  /** Null without the step ground. */
  readonly survey: SurveyFrame | null;
  readonly client: Client;
  /** For what is published at the end, and for what is not. */
  readonly folder: string;
  readonly clock: Stopwatch;
  readonly log: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs the steps of a workflow on one tile and its buffer. Errors: not_found for a tile that the plan has not. */
export async function runTile(out: string, id: string, deps: AnalyzeDeps): Promise<void> {
  const root = resolve(out);
  const plan = await readOwnPlan(root);
  const tile = plan.tiles.find((one) => one.id === id);
  if (!tile) throw new AppError("not_found", `the plan has no tile ${id}`);
  const { signal } = deps;
  const survey = plan.windows.length > 0 ? await readJson<SurveyFrame>(join(root, PLACES.frame)) : null;
  const clock = new Stopwatch();
  const log = (text: string) => void deps.stderr.write(`${text}\n`);
  await inWorkFolder(root, id, deps, async (folder, startBackend) => {
    const view = join(folder, "view.las");
    const count = await sliceLas(
      tile.files.map((i) => sourceOf(root, plan, i)),
      tile.view,
      view,
      signal,
    );
    clock.lap("slice");
    log(`${count} points in the tile with its buffer of ${plan.buffer_m} m`);
    const core =
      count === 0 ? 0 : (await surveyTile(view, tile.core, { trees: false, ground: false }, signal)).core_points;
    const result =
      core < FEWEST_POINTS
        ? emptyTile(id, count, core)
        : await withBackend({ startBackend }, (client) =>
            steps(view, { plan, tile, survey, client, folder, clock, log, signal }),
          );
    if (core < FEWEST_POINTS) await writeFile(join(folder, "labels.las"), "");
    for (const warning of result.warnings) log(`Warning: ${warning}`);
    await publish(root, folder, result);
    const peak_rss_mb = Math.ceil(process.resourceUsage().maxRSS / 1024);
    await writeJson(join(root, PLACES.times(id)), { seconds: clock.seconds(), peak_rss_mb });
    await rename(join(folder, "result.json"), join(root, PLACES.result(id)));
  });
}

const emptyTile = (tile: string, view_points: number, core_points: number): TileResult => ({
  tile,
  view_points,
  core_points,
  trees: [],
  rows: [],
  stem_curve: [],
  skipped: [],
  qsm: null,
  ground_hull: [],
  surfaces: [],
  warnings: core_points > 0 ? [`Tile ${tile} has only ${core_points} points; it was left out.`] : [],
});

/** Moves the files of a tile to their places; its result follows when all are there. */
async function publish(root: string, folder: string, result: TileResult): Promise<void> {
  const place = join(root, PLACES.tile(result.tile));
  await mkdir(place, { recursive: true });
  await writeJson(join(folder, "result.json"), result);
  for (const name of [...result.surfaces.map((surface) => `${surface}.tif`), "labels.las"])
    await rename(join(folder, name), join(place, name));
}

async function steps(view: string, run: TileRun): Promise<TileResult> {
  const { plan, tile, survey: frames, client, clock, log, signal } = run;
  const { ground, trees, wood, inventory, qsm } = plan.workflow;
  const tail = await client.createSession({ source_path: view, world_shift: [...plan.shift] }, { signal });
  const id = tail.session_id;
  const warnings: string[] = [...(tail.warnings ?? [])];
  clock.lap("import");
  let plants = Number.POSITIVE_INFINITY;
  if (ground) {
    log("Looking for the ground");
    const found = await client.segmentGroundSession(
      id,
      { ...ground, frame: frames?.frame ?? null, defer_octree: true, acknowledge_cost: true },
      { signal },
    );
    warnings.push(...found.warnings);
    plants = found.num_plant;
    clock.lap("ground");
  }
  const surfaces = await makeSurfaces(id, plan, tile, { ...run, signal });
  warnings.push(...surfaces.warnings);
  if (plan.workflow.rasters) clock.lap("rasters");
  if (trees) {
    log("Segmenting trees");
    const found = await client.segmentTreesSession(
      id,
      { ...trees, defer_octree: true, acknowledge_cost: true },
      { signal },
    );
    warnings.push(...found.warnings, ...(found.fusion_warning ? [found.fusion_warning] : []));
    clock.lap("trees");
  }
  if (wood && plants >= MIN_WOOD_POINTS) {
    log("Telling wood from leaves");
    const found = await client.segmentWoodSession(
      id,
      { ...wood, skip_ground: true, defer_octree: true, acknowledge_cost: true }, // needs step ground
      { signal },
    );
    warnings.push(...found.warnings);
    clock.lap("wood");
  }
  const survey = await exportCore(id, run, warnings);
  clock.lap("export");
  const measured = inventory ? await measure(id, survey.trees, inventory, run, warnings) : NOTHING;
  if (inventory) clock.lap("inventory");
  const models = qsm ? await model(id, survey.trees, qsm, run, warnings) : null;
  if (qsm) clock.lap("qsm");
  return {
    tile: tile.id,
    view_points: tail.point_count,
    core_points: survey.core_points,
    trees: survey.trees,
    ...measured,
    qsm: models,
    ground_hull: survey.ground_hull,
    surfaces: surfaces.made as SurfaceName[],
    warnings: reportedWarnings(warnings),
  };
}

/** Writes the labelled points of the core, and what they tell about the trees. */
async function exportCore(
  id: string,
  { plan, tile, client, folder, signal }: TileRun,
  warnings: string[],
): Promise<Surveyed> {
  const labelled = join(folder, "labelled.las");
  const source = { session_id: id };
  const done = await client.exportCloud({ source, format: "las", dest_path: labelled, columns: null }, { signal });
  warnings.push(...(done.warnings ?? []));
  const { ground, rasters, trees } = plan.workflow;
  const survey = await surveyTile(
    labelled,
    tile.core,
    { trees: trees !== undefined, ground: ground !== undefined },
    signal,
  );
  const wide = ground && rasters ? await voidWarning(labelled, plan, tile, signal) : null;
  if (wide) warnings.push(wide);
  await sliceLas([labelled], tile.core, join(folder, "labels.las"), signal);
  return survey;
}

const NOTHING = { rows: [], stem_curve: [], skipped: [] };

/** Trees that the tile may own: their stems are near its core, or it holds points of them. */
const NEAR_CORE_M = 1;
const mayOwn = ({ margin_m, core_points }: SeenTree) => margin_m >= -NEAR_CORE_M || core_points >= LEAST_POINTS;

async function measure(
  id: string,
  trees: readonly SeenTree[],
  { plot_area_m2: _, min_dbh_cm: __, ...request }: NonNullable<Plan["workflow"]["inventory"]>,
  { client, log, signal }: TileRun,
  warnings: string[],
): Promise<Pick<TileResult, "rows" | "stem_curve" | "skipped">> {
  const tree_ids = trees.filter(mayOwn).map((tree) => tree.id);
  if (tree_ids.length === 0) return NOTHING;
  log(`Measuring ${tree_ids.length} trees`);
  const found = await client.treeInventory(id, { ...request, tree_ids }, { signal });
  // The stand follows when the trees of all tiles are known.
  warnings.push(...found.warnings.filter((text) => !text.startsWith("Plot, competition")));
  return { rows: found.trees, stem_curve: found.stem_curve, skipped: found.skipped };
}

async function model(
  id: string,
  trees: readonly SeenTree[],
  request: NonNullable<Plan["workflow"]["qsm"]>,
  { client, plan, log, signal }: TileRun,
  warnings: string[],
): Promise<NonNullable<TileResult["qsm"]>> {
  const tree_ids = trees.filter(mayOwn).map((tree) => tree.id);
  if (tree_ids.length === 0) return [];
  log(`Modelling ${tree_ids.length} trees`);
  const wishes = { ...request, tree_ids, include_models: false, wood_only: plan.workflow.wood !== undefined };
  const found = await client.treeQsm(id, wishes, { signal });
  warnings.push(...found.warnings);
  return found.results;
}
