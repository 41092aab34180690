import type { SessionDemRequest } from "../../../shared/contract/cloud-session/dem.ts";
import type { DemFailure, DemOptions, DemRequest, DemSuccess } from "../../../shared/contract/dem.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { groundLayersBytes } from "../../native/classify/ground.ts";
import * as native from "../../native/terrain.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unclassifiedWarnings } from "../classify/ground-gaps.ts";
import { groundLayersOf, groundLayerWarnings } from "../classify/ground-layers.ts";
import { publishLabels } from "../classify/label-column.ts";
import { noiseWarnings } from "../classify/noise-rows.ts";
import { canopyStructureWarnings } from "../classify/structure-rows.ts";
import { surviving } from "../octree/misses.ts";
import { octreeCost } from "../octree/publish.ts";
import { sourceSession, sourceTranslation } from "../run/points.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { belowCanopy, belowCanopyWarnings, isSurface, seenShare } from "./below-canopy.ts";
import { type DemCloud, flatCloud, sessionCloud } from "./dem-cloud.ts";
import { layerOf, ranges, terrainLayers } from "./dem-layers.ts";
import { changeWithHalf, densityWarnings, halfPoints, lowCanopyWarnings } from "./density.ts";
import { returnWarnings } from "./first-returns.ts";
import { type DemPlan, demPlan } from "./grid.ts";
import { heights } from "./heights.ts";
import { loneReturns, loneReturnsMeta, loneReturnWarnings } from "./lone-returns.ts";
import { groundOfScans, isOfGround, scanHeightWarnings } from "./scan-heights.ts";
import { type DemSurface, makeSurface } from "./surface.ts";
import { canopyWarnings, dtmOnly, lowTerrainWarnings, vertexWarnings, wrongLengths } from "./warnings.ts";

/** A buffer of the answer; the run owns its column. */
export interface DemBuffer {
  readonly dtype: "f32" | "u32";
  readonly length: number;
  readonly data: ColumnRef;
}
export interface DemFrame {
  readonly meta: Readonly<Record<string, unknown>> & { readonly warnings?: readonly string[] | undefined };
  readonly buffers: Readonly<Record<string, DemBuffer>>;
}

/** Errors: invalid_argument without points and source, not_found. Later failures are reported in the frame. */
export async function checkDemRequest({ points, source }: DemRequest, deps: Deps): Promise<void> {
  if (source) {
    await sourceSession(source, deps);
    sourceTranslation(source);
  } else if (!points) throw new AppError("invalid_argument", "Send points or a source descriptor.");
}

/** DEM of inline points or of a source. */
export function flatDem(request: DemRequest, unknownKeys: readonly string[], deps: Deps, job: Job): Promise<DemFrame> {
  return failingInFrame(request, unknownKeys, job, async (plan) => {
    const cloud = await flatCloud(request, deps, job.quiet()); // progress begins with the first stage
    return deps.admission.run(job, "DEM", demBytes(cloud), async () => {
      const asked = request.compute_height_above_ground;
      const ignored = [
        ...cloud.warnings,
        ...dtmOnly("compute_height_above_ground", asked, plan.surface),
        ...wrongLengths(request, cloud.hit_count),
      ];
      const made = await makeDem(cloud, plan, ignored, job);
      if (plan.surface !== "dtm" || !asked) return made.answer;
      const hag = await heights(cloud, made.surface, plan, "compute_height_above_ground", job);
      return { ...made.answer, buffers: { ...made.answer.buffers, hag: buffer(hag, "f32") } };
    });
  });
}

export const HEIGHT_SLUG = "height_above_ground";
const NOISE_EFFECT = ["belongs to no surface", "belong to no surface"] as const;
const HEIGHT_LABEL = "Height Above Ground";

/** DEM of the surviving hits of a session. Errors, reported in the frame: conflict if the cloud changed meanwhile. */
export function sessionDem(
  session: CloudSession,
  request: SessionDemRequest,
  unknownKeys: readonly string[],
  deps: Deps,
  job: Job,
): Promise<DemFrame> {
  return failingInFrame(request, unknownKeys, job, (plan) =>
    session.read(job, async (base) => {
      const cloud = await sessionCloud(base, request.skip_noise, job.quiet()); // progress begins with the first stage
      const adds = plan.surface === "dtm" && request.add_height_column;
      const noise_count = cloud.hits.hit_count - cloud.hit_count;
      const ignored = [
        ...dtmOnly("add_height_column", request.add_height_column, plan.surface),
        ...noiseWarnings(noise_count, NOISE_EFFECT),
        ...(plan.surface === "chm" ? await canopyStructureWarnings(base, cloud, job.quiet()) : []),
      ];
      const bytes = Math.max(demBytes(cloud), adds ? octreeCost(base, cloud) : 0);
      return deps.admission.run(job, "DEM", bytes, async () => {
        const { answer: made, surface } = await makeDem(cloud, plan, ignored, job);
        const answer = { ...made, meta: { ...made.meta, noise_count } };
        if (!adds) return answer;
        const column = await heights(cloud, surface, plan, "add_height_column", job);
        const { warnings: more, ...octree } = await addHeights(session, base, column, deps, job);
        const warnings = [...(answer.meta.warnings ?? []), ...more];
        return { ...answer, meta: { ...answer.meta, ...octree, ...(warnings.length > 0 ? { warnings } : {}) } };
      });
    }),
  );
}

/** Runs `body` and reports its failure in `meta` of the frame. A cancel is thrown. */
async function failingInFrame(
  options: DemOptions,
  unknownKeys: readonly string[],
  job: Job,
  body: (plan: DemPlan) => Promise<DemFrame>,
): Promise<DemFrame> {
  const named = unknownKeyWarnings(unknownKeys);
  try {
    const { meta, buffers } = await body(demPlan(options));
    const warnings = [...named, ...(meta.warnings ?? [])];
    return { meta: { ...meta, ...(warnings.length > 0 ? { warnings } : {}) }, buffers };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const method_used = `dem_${options.surface_type.toLowerCase() === "chm" ? "chm" : options.method.toLowerCase()}`;
    const meta: DemFailure = {
      success: false,
      error: message,
      code,
      method_used,
      num_vertices: 0,
      num_triangles: 0,
      ...(named.length > 0 ? { warnings: named } : {}),
    };
    return { meta, buffers: {} };
  }
}

/** Bytes for computing the largest raster and for its grids, mesh and layers. */
function demBytes({ positions, hit_count }: DemCloud): number {
  const perCell = 8 + 8 + 56 + 7 * 8 + 8 + 4 * 8; // two grids, the mesh, seven layers with their vertices, counts, those of half and without lone returns
  const gridding = native.terrainRasterBytes(hit_count, MAX_DEM_CELLS);
  return (
    Math.max(gridding, native.LONE_RETURNS_CELL_BYTES * MAX_DEM_CELLS, groundLayersBytes(hit_count)) + // one after the other
    perCell * MAX_DEM_CELLS +
    native.BELOW_CANOPY_BYTES +
    33 * positions.length
  );
}

interface Made {
  readonly answer: { readonly meta: DemSuccess; readonly buffers: Record<string, DemBuffer> };
  readonly surface: DemSurface;
}

async function makeDem(cloud: DemCloud, plan: DemPlan, ignored: readonly string[], job: Job): Promise<Made> {
  const surface = await makeSurface(cloud, plan, job);
  const { frame, grid, drape, sources } = surface;
  if (plan.surface === "dtm") job.stage("Computing layers", 0.55, 0.95);
  else if (plan.surface === "dsm") job.stage("Building surface mesh", 0.75, 0.95);
  const mesh = await job.track(() => native.rasterMesh(frame, drape));
  const [vertices, normals, indices, cell] = [mesh.vertices, mesh.normals, mesh.indices, mesh.cell].map((column) =>
    job.adopt(new ColumnRef(column)),
  );
  if (!vertices || !normals || !indices || !cell) throw new Error("a mesh without its columns");
  if (indices.length === 0) {
    throw new AppError(
      "invalid_argument",
      `No surface: no block of 2 x 2 cells of ${frame.cell} m has values; use a larger cell size or fill_voids.`,
    );
  }
  const layers = plan.surface === "dtm" ? await terrainLayers(cloud, surface, cell.native, job) : {};
  const shown = await layerOf(grid, cell.native, job);
  const scan_heights = await groundOfScans(cloud, surface, plan, job);
  const ground_layers = plan.surface === "dsm" ? null : await groundLayersOf(cloud, job.quiet());
  const half = await changeWithHalf(cloud, surface, plan, job.quiet());
  const lone = await loneReturns(cloud, surface, plan, job.quiet());
  const below = await belowCanopy(cloud, surface, plan, job.quiet());
  const warnings = [
    ...ignored,
    ...(plan.surface === "dsm" ? [] : groundLayerWarnings(ground_layers, plan.surface)),
    ...(await leftOut(cloud, surface, job)),
    ...(await returnWarnings(cloud, job)),
    ...canopyWarnings(plan.surface, shown.max, cloud.unit_is_stated),
    ...loneReturnWarnings(lone, plan.surface, cloud.world_shift),
    ...densityWarnings(plan.surface, half, { cell: frame.cell, is_guess: below !== null && isSurface(below) }),
    ...(await lowTerrain(cloud, surface, plan, job)),
    ...(await lowCanopyWarnings(cloud, surface, half, plan, job.quiet())),
    ...belowCanopyWarnings(below),
    ...scanHeightWarnings(scan_heights, cloud),
    ...vertexWarnings(frame),
  ];
  const meta: DemSuccess = {
    success: true,
    error: null,
    surface_type: plan.surface,
    method_used: plan.method_used,
    num_vertices: cell.length,
    num_triangles: indices.length / 3,
    surface_area: Number.isFinite(mesh.area) ? mesh.area : null,
    points_used: surface.points_used,
    grid_nx: frame.nx,
    grid_ny: frame.ny,
    grid_cell: frame.cell,
    grid_origin: [frame.min_x, frame.min_y],
    voids: surface.voids,
    half_points: halfPoints(half),
    lone_returns: loneReturnsMeta(lone),
    seen_below_canopy: below && seenShare(below),
    ground_layers,
    ...(plan.surface === "dtm" ? { layers: ranges(layers), scan_heights: [...scan_heights] } : {}),
    ...sources,
    world_shift: [...cloud.world_shift],
    ...(cloud.crs_epsg === null ? {} : { crs_epsg: cloud.crs_epsg }),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  job.stage("Packing DEM", 0.95, 0.97);
  const buffers: Record<string, DemBuffer> = {
    vertices: buffer(vertices, "f32"),
    indices: buffer(indices, "u32"),
    normals: buffer(normals, "f32"),
    grid_z: buffer(shown.grid, "f32"),
  };
  for (const [name, layer] of Object.entries(layers)) {
    buffers[`layer_grid_${name}`] = buffer(layer.grid, "f32");
    buffers[`layer_vert_${name}`] = buffer(layer.at_vertices, "f32");
  }
  return { answer: { meta, buffers }, surface };
}

/** Warns of a terrain that lies below the middle of the ground's returns, as low percentiles of noisy ranges do. */
async function lowTerrain({ positions }: DemCloud, surface: DemSurface, plan: DemPlan, job: Job): Promise<string[]> {
  if (!isOfGround(surface, plan)) return [];
  const { frame, grid, ground_skip } = surface;
  const above = await job.quiet().track(() => native.medianAboveGround(positions, ground_skip, frame, grid));
  return lowTerrainWarnings(above, plan.percentile);
}

/** Warns of hits without a class where the terrain is that of a session's ground classes. */
function leftOut({ ground, skip, ground_is_given }: DemCloud, { sources }: DemSurface, job: Job): Promise<string[]> {
  const from_column = sources.ground_source === "column" && !ground_is_given;
  return unclassifiedWarnings(from_column ? ground : null, skip, "The terrain leaves them out.", job);
}

const buffer = (data: ColumnRef, dtype: DemBuffer["dtype"]): DemBuffer => ({ dtype, length: data.length, data });

/** Commits the column and the octree that shows it, all or nothing, and returns the octree block. */
async function addHeights(session: CloudSession, base: CloudState, labels: ColumnRef, deps: Deps, job: Job) {
  job.stage("Rebuilding display", 0.97, 1);
  const mask = await surviving(base, job.quiet());
  const column = { slug: HEIGHT_SLUG, label: HEIGHT_LABEL, labels };
  return publishLabels(session, base, column, { defer_octree: false, from: 0.97, mask }, deps, job);
}
