import { DEFAULT_SMRF } from "../../../shared/contract/segment-ground.ts";
import { chmCell, DEFAULT_CHM, DEFAULT_CUT_PURSUIT } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import { defaultCell } from "../analyze/cell-size.ts";
import type { Workflow } from "./workflow.ts";

const bad = (message: string) => new AppError("invalid_argument", message);

export interface Resolved {
  readonly workflow: Workflow;
  readonly derived: readonly string[];
}

/** Largest cell of a derived raster, metres: crowns stand apart in it. */
const COARSEST_CELL_M = 1;
/** Edge of the voxels that wood is told apart in; without it, each tile would choose its own. */
const WOOD_VOXEL_M = 0.02;

/**
 * The workflow with every parameter that a step would derive from its own points as a number: the same in all tiles.
 * `density`: points per m2 of the catalogue. Errors: invalid_argument for a parameter that only the points can tell.
 */
export function resolveWorkflow(workflow: Workflow, density: number, extent: readonly [number, number]): Resolved {
  const derived: string[] = [];
  const take = <T>(name: string, given: T | null | undefined, value: () => T): T => {
    if (given !== null && given !== undefined) return given;
    derived.push(name);
    return value();
  };
  const { ground, rasters, trees, wood } = workflow;
  return {
    workflow: {
      ...workflow,
      ...(ground ? { ground: resolveGround(ground, density, take) } : {}),
      ...(rasters ? { rasters: { ...rasters, cell_m: take("rasters.cell_m", rasters.cell_m, cellOf) } } : {}),
      ...(trees ? { trees: resolveTrees(trees, density) } : {}),
      ...(wood ? { wood: { ...wood, voxel_size: take("wood.voxel_size", wood.voxel_size, () => WOOD_VOXEL_M) } } : {}),
    },
    derived,
  };
  function cellOf(): number {
    const wanted = defaultCell(density, ...extent);
    return Math.min(COARSEST_CELL_M, wanted);
  }
}

type Ground = NonNullable<Workflow["ground"]>;
type Take = <T>(name: string, given: T | null | undefined, value: () => T) => T;
const clip = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));
const toMillimetres = (metres: number) => Math.round(metres * 1000) / 1000;

function resolveGround(ground: Ground, density: number, take: Take): Ground {
  if (ground.method === "smrf") {
    const { cell_size, slope, window_radius, elevation_threshold, elevation_scale, net_spacing } = ground;
    const given = { cell_size, slope, window_radius, elevation_threshold, elevation_scale, net_spacing };
    const set = Object.entries(given).map(([name, value]) => [name, value ?? DEFAULT_SMRF[name as keyof typeof given]]);
    return { ...ground, ...Object.fromEntries(set) };
  }
  if (ground.method === "auto" || ground.method === "las_classification") return ground;
  ground.method satisfies "cloth";
  for (const name of ["rigidness", "slope_smooth"] as const) {
    if (ground[name] === null || ground[name] === undefined)
      throw bad(
        `ground.${name}: each tile would choose its own from the slopes it sees; state it (rigidness 1 soft to 3 stiff, slope_smooth true for steep land)`,
      );
  }
  if (ground.auto_class_threshold)
    throw bad("ground.auto_class_threshold: each tile would measure its own threshold; state class_threshold instead");
  const spacing = 1 / Math.sqrt(density);
  // The rules of docs/adr/0014, with the spacing of the whole catalogue.
  return {
    ...ground,
    cloth_resolution: take("ground.cloth_resolution", ground.cloth_resolution, () =>
      toMillimetres(clip(2 * spacing, 0.1, Math.max(0.5, spacing / 2))),
    ),
    class_threshold: take("ground.class_threshold", ground.class_threshold, () =>
      toMillimetres(clip(spacing / 2, 0.08, 0.5)),
    ),
  };
}

function resolveTrees(trees: NonNullable<Workflow["trees"]>, density: number): NonNullable<Workflow["trees"]> {
  const defaults: Record<string, number> =
    trees.method === "default" ? { ...DEFAULT_CUT_PURSUIT } : trees.method === "chm" ? { ...DEFAULT_CHM } : {};
  const given = Object.fromEntries(
    Object.entries(trees).filter(([, value]) => value !== null && value !== undefined),
  ) as typeof trees;
  const scale = given.chm_crown_scale ?? DEFAULT_CHM.chm_crown_scale;
  // Without it, each tile would choose its own.
  const cell = trees.method === "chm" ? { chm_cell: chmCell(scale, 1 / Math.sqrt(density)) } : {};
  return { ...defaults, ...cell, ...given };
}

/** Metres beyond which points change nothing of a step's result in the core. */
export function buffersOf({ ground, rasters, trees, wood }: Workflow): Record<string, number> {
  return {
    ...(ground ? { ground: groundBuffer(ground) } : {}),
    ...(rasters ? { rasters: Math.max(RASTER_REACH_M, RASTER_REACH_CELLS * (rasters.cell_m ?? 1)) } : {}),
    ...(trees ? { trees: trees.tile_buffer_m } : {}),
    ...(wood ? { wood: WOOD_REACH_M } : {}),
  };
}

/** Cells of the coarsest level of method auto, and the collar of tiles of a cloth: contract classification, section 2. */
const AUTO_REACH_M = 16;
const CLOTH_COLLAR = { cells: 30, least_m: 2, most_m: 30 } as const;
/** Triangles of a terrain span gaps of about this width. */
const RASTER_REACH_M = 5;
const RASTER_REACH_CELLS = 10;
const WOOD_REACH_M = 2;

function groundBuffer(ground: Ground): number {
  if (ground.method === "smrf")
    return 2 * (ground.window_radius ?? DEFAULT_SMRF.window_radius) + 2 * (ground.cell_size ?? DEFAULT_SMRF.cell_size);
  if (ground.method === "auto") return AUTO_REACH_M;
  if (ground.method === "las_classification") return 0;
  ground.method satisfies "cloth";
  const { cells, least_m, most_m } = CLOTH_COLLAR;
  return clip(cells * (ground.cloth_resolution ?? 1), least_m, most_m);
}

/**
 * The buffer of a tile: trees and wood beyond the core read heights there, so the reach of ground or terrain (the larger)
 * comes before that of trees or wood (the larger).
 */
export function totalBuffer(buffers: Readonly<Record<string, number>>): number {
  const of = (name: string) => buffers[name] ?? 0;
  return Math.max(of("ground"), of("rasters")) + Math.max(of("trees"), of("wood"));
}
