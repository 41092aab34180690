import { ApiError } from "../../../shared/client/index.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { DetectStemsResponse } from "../../../shared/contract/cloud-session/detect-stems.ts";
import type { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { GroundLayers } from "../../../shared/contract/ground-layers.ts";
import { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { TreeMethod } from "../../../shared/contract/segment-trees.ts";
import { type Covered, pointDensity, type RasterPlace, rasterPlace } from "../analyze/cell-size.ts";
import { detectedScene } from "../analyze/scene.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import type { SurfaceGrid } from "../drawing/surface-grid.ts";
import type { Scene } from "../report/findings.ts";
import { footCount } from "../run/feet.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { CloudPart } from "../run/inputs.ts";
import { cloudSample } from "../run/samples.ts";
import { withoutStand, withoutStems } from "./list-parts.ts";
import { labelNoise } from "./noise.ts";
import type { InventoryOptions, PlotScene } from "./options.ts";
import { segmentPlot } from "./segmented.ts";

/** Points of the sample that the kind of scene is seen from. */
const GLANCE_POINTS = 200_000;
/** From the air, a crown may have a few returns: enough for its height. */
const AIRBORNE_MIN_POINTS = 3;
const TREE_SLUG = "tree_instance";

/** A cloud whose points have the ids of their trees. */
export interface LabelledPlot {
  readonly tail: CreateSessionTail;
  readonly scene: Pick<Scene, "kind" | "reason">;
  /** Seen from the air: stems have too few points for diameters. */
  readonly is_airborne: boolean;
  /** one_tree: the whole cloud is a tree. */
  readonly method: TreeMethod | "one_tree";
  readonly ground: { readonly num_ground: number; readonly num_plant: number } | null;
  readonly has_heights: boolean;
  /** The ground lies higher in some scans than in others. */
  readonly has_lifted_scans: boolean;
  /** Points labelled as noise take no part. */
  readonly skip_noise: boolean;
  readonly segmented: SessionTreesResponse | null;
  /** Stored frame; null = not looked for. */
  readonly stems: DetectStemsResponse | null;
  /** Canopy height model, stored frame. */
  readonly chm: SurfaceGrid | null;
  readonly warnings: readonly string[];
}

/** Whether two layers of ground are those of scans that can be moved. */
const tellsLiftedScans = (layers: GroundLayers | null, { scanColumn }: InventoryOptions): boolean =>
  layers !== null &&
  (!layers.by_flight_lines || layers.scans_by === scanColumn) &&
  layers.upper_scans.length > 0 &&
  layers.lower_scans.length > 0;

/** Of scans that fit, the ground differs by less. */
const LIFT_M = 0.01;

/** Small plots with fewer points were scanned from the air; scans from the ground have hundreds. */
const SPARSE_PER_M2 = 60;

function plotScene(glance: PointSample, asked: PlotScene | undefined): Pick<Scene, "kind" | "reason"> {
  if (asked) return { kind: asked, reason: "--scene" };
  const scene = detectedScene(glance);
  const density = pointDensity(glance);
  if (scene.kind !== "plot" || density === null || density >= SPARSE_PER_M2) return scene;
  return { kind: "airborne", reason: `${scene.reason}, fewer than ${SPARSE_PER_M2} points/m²` };
}

/** Coarsest cell in which crowns stand apart, metres: a canopy height model closes gaps of two cells. */
const CROWN_CELL_M = 1;
const MOST_CELLS = 1_000_000;

/** Cells of terrain and canopy height model: of a sparse cloud finer than its density asks for. */
export function crownPlace(covered: Covered, glance: PointSample): RasterPlace | undefined {
  const place = rasterPlace(covered, glance, undefined);
  if (!place || place.cell_size <= CROWN_CELL_M) return place;
  const [left, low, right, high] = place.bbox;
  const cells = ((right - left) * (high - low)) / CROWN_CELL_M ** 2;
  return cells > MOST_CELLS ? place : rasterPlace(covered, glance, CROWN_CELL_M);
}

/** Ground, heights above it, trees and stems of a plot; of a single tree only its id. */
export async function labelPlot({ tail }: CloudPart, options: InventoryOptions, run: FolderRun): Promise<LabelledPlot> {
  const { client, progress, signal } = run;
  const { method: asked, scene: stated, crownWidth, ground: filter } = options;
  const id = tail.session_id;
  progress.stage("1/6 Looking at the cloud");
  const glance = await cloudSample(tail, client, { budget: GLANCE_POINTS, signal });
  const scene = plotScene(glance, stated);
  const isTree =
    scene.kind === "tree" &&
    asked === undefined &&
    crownWidth === undefined &&
    filter === undefined &&
    (stated === "tree" || footCount(glance) <= 1);
  if (isTree) return oneTree(tail, scene, run);
  const warnings: string[] = [];
  const { skip_noise, covered } = await labelNoise(tail, run, warnings);
  const rasters = { ...crownPlace(covered, glance), skip_noise };
  progress.stage("1/6 Looking for the ground");
  const ground = await client.segmentGroundSession(
    id,
    { method: filter ?? "auto", skip_noise, defer_octree: true, acknowledge_cost: true },
    { signal },
  );
  warnings.push(...ground.warnings);
  progress.stage("2/6 Measuring heights above the ground");
  const terrain = await surface(id, "dtm", { ...rasters, add_height_column: true }, run, warnings);
  const canopy = terrain ? await surface(id, "chm", rasters, run, warnings) : null;
  const is_airborne = scene.kind === "airborne";
  progress.stage("3/6 Segmenting trees");
  const { method, segmented, warnings: told } = await segmentPlot(id, options, { is_airborne, skip_noise }, run);
  warnings.push(...told);
  progress.stage("4/6 Looking for stems");
  const stems = terrain && !is_airborne ? await client.detectStems(id, { skip_noise }, { signal }) : null;
  if (stems) warnings.push(...stems.warnings);
  const shownTail = { ...tail, ...OctreeBlock.parse(segmented) };
  return {
    tail: shownTail,
    scene,
    is_airborne,
    method,
    ground,
    has_heights: terrain !== null,
    has_lifted_scans: (terrain?.has_lifted_scans ?? false) || tellsLiftedScans(ground.ground_layers, options),
    skip_noise,
    segmented,
    stems,
    chm: canopy?.grid ?? null,
    warnings,
  };
}

/** Every point that the file does not name as noise is one tree: there is no ground to look for. */
async function oneTree(tail: CreateSessionTail, scene: LabelledPlot["scene"], run: FolderRun): Promise<LabelledPlot> {
  const { client, progress, signal } = run;
  const warnings: string[] = [];
  const skip_noise = true;
  const { min, max } = tail.tight_bounds ?? tail.bounds;
  const region = {
    kind: "box" as const,
    min: [...min] as [number, number, number],
    max: [...max] as [number, number, number],
  };
  progress.stage("3/6 Labelling the tree");
  const strokes = [{ stroke_id: "tree", region, to_class: 1 }];
  const labelled = await client.labelRegion(
    tail.session_id,
    { slug: TREE_SLUG, label: "Tree Instance", strokes, skip_noise },
    { signal },
  );
  warnings.push(...(labelled.warnings ?? []));
  const octree = await client.rebuildOctree(tail.session_id, { signal });
  return {
    tail: { ...tail, ...OctreeBlock.parse(octree) },
    scene,
    is_airborne: false,
    method: "one_tree",
    ground: null,
    has_heights: false,
    has_lifted_scans: false,
    skip_noise,
    segmented: null,
    stems: null,
    chm: null,
    warnings,
  };
}

/** A raster; null, with a warning, if the service makes none of this cloud. */
async function surface(
  id: string,
  surface_type: "dtm" | "chm",
  wishes: Partial<RasterPlace> & { readonly skip_noise: boolean; readonly add_height_column?: boolean },
  run: FolderRun,
  warnings: string[],
): Promise<{ readonly grid: SurfaceGrid; readonly has_lifted_scans: boolean } | null> {
  try {
    const { meta, buffers } = await run.client.sessionDem(id, { surface_type, ...wishes }, shown(run));
    const z = buffers.get("grid_z");
    if (!(z instanceof Float32Array)) throw new ApiError(200, "internal", "the frame of a DEM has no grid_z", meta);
    warnings.push(...(meta.warnings ?? []), ...(meta.warning ? [meta.warning] : []));
    const { grid_nx: nx, grid_ny: ny, grid_cell: cell, grid_origin: origin } = meta;
    const has_lifted_scans = (meta.scan_heights ?? []).some(({ z_m }) => Math.abs(z_m) > LIFT_M);
    return { grid: { nx, ny, cell, origin, z, hillshade: undefined }, has_lifted_scans };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "invalid_argument")) throw error;
    const what = surface_type === "dtm" ? "Heights above the ground are not known" : "There is no canopy height model";
    warnings.push(`${what}: ${error.message}`);
    return null;
  }
}

/** The tree list; of an airborne cloud without what is measured on stems, of one tree without a stand. */
export async function measurePlot(
  { tail, is_airborne, method, skip_noise }: LabelledPlot,
  { breastHeight, align, scanColumn }: InventoryOptions,
  run: FolderRun,
): Promise<TreeInventoryTail> {
  run.progress.stage("5/6 Measuring trees");
  const wishes = {
    skip_noise,
    align_scans: align,
    scan_column: scanColumn,
    ...(breastHeight === undefined ? {} : { breast_height_m: breastHeight }),
    ...(is_airborne ? { min_points: AIRBORNE_MIN_POINTS } : {}),
  };
  const list = await run.client.treeInventory(tail.session_id, wishes, shown(run));
  if (method === "one_tree") return withoutStand(list);
  return is_airborne ? withoutStems(list) : list;
}

/** The points of the plot with the ids of their trees as values, true world coordinates. */
export function plotSample({ tail }: LabelledPlot, { points }: InventoryOptions, run: FolderRun): Promise<PointSample> {
  return cloudSample(tail, run.client, { budget: points, signal: run.signal, value: TREE_SLUG });
}
