import { ApiError, type RunOptions } from "../../../shared/client/index.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { DemSuccess } from "../../../shared/contract/dem.ts";
import { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { SurfaceGrid } from "../drawing/surface-grid.ts";
import type { Progress } from "../progress.ts";
import {
  type GroundSummary,
  interpolatedShare,
  isLand,
  type NoiseSummary,
  type Scene,
  type StepOutcome,
  type SurfaceSummary,
  type TerrainSummary,
} from "../report/findings.ts";
import type { Covered, RasterPlace } from "./cell-size.ts";
import type { GroundChoice } from "./ground.ts";
import type { AnalyzeOptions } from "./options.ts";
import type { AnalyzeClient } from "./run.ts";

export interface Terrain {
  readonly noise: StepOutcome<NoiseSummary>;
  readonly left_out_as_noise: number | null;
  readonly ground: StepOutcome<GroundSummary>;
  readonly dtm: StepOutcome<SurfaceSummary & { readonly grid: SurfaceGrid; readonly octree: OctreeBlock }>;
  readonly warnings: readonly string[];
  /** Of all rasters. */
  readonly rasters: RasterWishes;
}

interface RasterWishes extends Partial<RasterPlace> {
  readonly skip_noise: boolean;
}

export interface Steps {
  readonly scene: Scene;
  /** Cells of the rasters over a box; undefined for one without an area: the service then says why there is no raster. */
  readonly placeOf: (covered: Covered) => RasterPlace | undefined;
  readonly options: AnalyzeOptions;
  readonly client: AnalyzeClient;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Largest share of points that a scanner's noise explains: what is labelled beyond it may be no noise, and stays in. */
export const MOST_NOISE = 0.03;

/** Largest share of the surface that is interpolated without a warning: between scan lines and in small shadows. */
const MOST_INTERPOLATED = 1 / 3;

const notAsked = (option: string) => ({ done: false, asked: false, reason: `left out (${option})` }) as const;
const senseless = ({ kind }: Scene) =>
  notAsked(`no land: the scene is a ${kind === "tree" ? "tree" : "thing or a room"}`);
const impossible = (reason: string) => ({ done: false, asked: true, reason }) as const;

/** Runs a step. A refusal by the service because of the cloud becomes its outcome; other errors are thrown. */
async function attempted<T extends object>(body: () => Promise<T>): Promise<StepOutcome<T>> {
  try {
    return { done: true, ...(await body()) };
  } catch (error) {
    return refusedByCloud(error);
  }
}

function refusedByCloud(error: unknown): ReturnType<typeof impossible> {
  if (error instanceof ApiError && error.code === "invalid_argument") return impossible(error.message);
  throw error;
}

/** With fewer ground points or a smaller share, a terrain would be fiction: the foot of a stem is not ground. */
const FEWEST_GROUND = 3;
const SMALLEST_GROUND_SHARE = 0.005;

const isTooLittle = ({ num_ground, num_plant }: GroundSummary) =>
  num_ground < FEWEST_GROUND || num_ground < SMALLEST_GROUND_SHARE * (num_ground + num_plant);

/**
 * Labels noise and ground and computes the terrain, each step only if the options request it and the cloud allows it.
 * The returned tail lists the added columns.
 */
export async function labelTerrain(
  tail: CreateSessionTail,
  steps: Steps,
): Promise<{ readonly tail: CreateSessionTail; readonly terrain: Terrain }> {
  const { client, progress, signal, options, scene, placeOf } = steps;
  const id = tail.session_id;
  const warnings: string[] = [];
  let terrain_noise = 0;
  const found_noise = options.denoise ? await stepNoise() : notAsked("--no-denoise");
  const { kept_bounds, ...noise } = { kept_bounds: null, ...found_noise };
  // Points that the file itself names as noise are none of the land, also where nothing is looked for.
  const skip_noise = !noise.done || noise.flagged <= MOST_NOISE * (noise.flagged + noise.kept);
  const found_ground = await (!isLand(scene)
    ? senseless(scene)
    : options.ground
      ? stepGround(options.ground)
      : notAsked("--no-ground"));
  const { clean_bounds, noise_count, ...ground } = { clean_bounds: kept_bounds, noise_count: null, ...found_ground };
  const covered = skip_noise && clean_bounds ? { ...tail, tight_bounds: clean_bounds } : tail;
  const rasters: RasterWishes = { ...(isLand(scene) ? placeOf(covered) : {}), skip_noise };
  const dtm = await (!isLand(scene) ? senseless(scene) : options.dem ? stepDtm() : notAsked("--no-dem"));
  const labelled = noise.done || ground.done;
  const shown = dtm.done ? dtm.octree : labelled ? await rebuilt() : null;
  const left_out_as_noise = skip_noise ? (noise_count ?? terrain_noise) : null;
  const terrain = { noise, left_out_as_noise, ground, dtm, warnings, rasters };
  return { tail: shown ? { ...tail, ...shown } : tail, terrain };

  function stepNoise() {
    progress.stage("Looking for noise");
    return attempted(async () => {
      const found = await client.denoiseSession(id, { method: "auto", defer_octree: true }, { signal });
      warnings.push(...found.warnings);
      const { flagged, kept, method, params_used, over_removal, kept_bounds } = found;
      return { flagged, kept, method, params_used, over_removal, kept_bounds };
    });
  }
  function stepGround(filter: GroundChoice) {
    progress.stage("Looking for the ground");
    return attempted(async () => {
      const request = { method: filter, skip_noise, defer_octree: true, acknowledge_cost: true } as const;
      const found = await client.segmentGroundSession(id, request, { signal });
      warnings.push(...found.warnings);
      const { num_ground, num_plant, low_outliers, method, params_used, point_spacing_m, noise_count } = found;
      const clean_bounds = found.kept_bounds;
      return { num_ground, num_plant, low_outliers, method, params_used, point_spacing_m, noise_count, clean_bounds };
    });
  }
  async function stepDtm(): Promise<Terrain["dtm"]> {
    if (options.ground && !ground.done) return impossible("the ground is not known");
    if (ground.done && isTooLittle(ground)) {
      const all = ground.num_ground + ground.num_plant;
      return impossible(`${ground.num_ground} ground points of ${all} are too few for a terrain`);
    }
    progress.stage("Making the terrain");
    const made = await surface("dtm", id, { ...rasters, add_height_column: true }, steps);
    if (!made.done) return made;
    const octree = OctreeBlock.parse(made.meta);
    terrain_noise = made.meta.noise_count ?? 0;
    warnings.push(...made.warnings);
    return { ...summaryOf(made, tail.world_shift?.[2] ?? 0), done: true, grid: made.grid, octree };
  }
  async function rebuilt() {
    return OctreeBlock.parse(await client.rebuildOctree(id, { signal }));
  }
}

/** Computes the surface and the canopy height model, without noise as the terrain. */
export async function canopy(id: string, { dtm, rasters }: Terrain, steps: Steps, shift_z: number) {
  const neither = <T>(outcome: T) => ({ dsm: outcome, chm: outcome });
  if (!isLand(steps.scene)) return neither(senseless(steps.scene));
  if (!steps.options.dem) return neither(notAsked("--no-dem"));
  if (!dtm.done) return neither(impossible("there is no terrain"));
  steps.progress.stage("Making surface and canopy");
  const dsm = await surface("dsm", id, rasters, steps);
  const chm = await surface("chm", id, rasters, steps);
  const outcome = (made: typeof chm, lift: number) =>
    made.done ? { ...summaryOf(made, lift), done: true as const, grid: made.grid, warnings: made.warnings } : made;
  return { dsm: outcome(dsm, shift_z), chm: outcome(chm, 0) };
}
export type Canopy = Awaited<ReturnType<typeof canopy>>;

/** The results without rasters, for the report and --json. */
export function terrainSummary(found: Terrain, { dsm, chm }: Canopy): TerrainSummary {
  const { noise, left_out_as_noise, ground, dtm, warnings } = found;
  const { grid: _, octree: __, ...terrain } = dtm.done ? dtm : { ...dtm, grid: null, octree: null };
  const plain = (made: Canopy["chm"]): StepOutcome<SurfaceSummary> => {
    const { grid: ___, warnings: ____, ...summary } = made.done ? made : { ...made, grid: null, warnings: [] };
    return summary as StepOutcome<SurfaceSummary>;
  };
  const more = [dsm, chm].flatMap((made) => (made.done ? made.warnings : []));
  const guessed = dsm.done ? interpolatedShare(dsm) : 0;
  if (guessed > MOST_INTERPOLATED)
    more.push(
      `${(100 * guessed).toFixed(0)} % of the cells of the surface hold no point: their heights, and those of the canopy above the terrain, are interpolated across gaps.`,
    );
  return {
    noise,
    left_out_as_noise,
    ground,
    dtm: terrain as TerrainSummary["dtm"],
    dsm: plain(dsm),
    chm: plain(chm),
    warnings: [...new Set([...warnings, ...more])],
  };
}

interface MadeSurface {
  readonly done: true;
  readonly meta: DemSuccess;
  readonly grid: SurfaceGrid;
  readonly warnings: readonly string[];
}

async function surface(
  surface_type: "dtm" | "dsm" | "chm",
  id: string,
  wishes: RasterWishes & { readonly add_height_column?: boolean },
  { client, progress, signal }: Steps,
): Promise<MadeSurface | ReturnType<typeof impossible>> {
  const onProgress: RunOptions["onProgress"] = (step) => progress.update(step.progress, step.message);
  const answer = await client
    .sessionDem(id, { surface_type, ...wishes }, { signal, onProgress })
    .catch((error: unknown) => refusedByCloud(error));
  if ("done" in answer) return answer;
  const { meta, buffers } = answer;
  const layer = (name: string) => {
    const values = buffers.get(name);
    return values instanceof Float32Array ? values : undefined;
  };
  const z = layer("grid_z");
  if (!z) throw new ApiError(200, "internal", "the frame of a DEM has no grid_z", meta);
  const { grid_nx: nx, grid_ny: ny, grid_cell: cell, grid_origin: origin, warning } = meta;
  const grid = { nx, ny, cell, origin, z, hillshade: layer("layer_grid_hillshade") };
  return { done: true, meta, grid, warnings: [...(meta.warnings ?? []), ...(warning ? [warning] : [])] };
}

function summaryOf({ meta, grid }: MadeSurface, shift_z: number): SurfaceSummary {
  let low = Infinity;
  let high = -Infinity;
  for (const value of grid.z) {
    if (Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return {
    cell_m: grid.cell,
    cells: [grid.nx, grid.ny],
    void_cells: meta.voids,
    interpolated_cells: meta.surface_type === "chm" ? null : grid.nx * grid.ny - meta.voids - meta.points_used,
    range: high >= low ? [low + shift_z, high + shift_z] : null,
    ground_source: meta.ground_source ?? null,
  };
}
