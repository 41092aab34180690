import type { LadCell } from "../../../shared/contract/lad-compute.ts";
import { LazyList } from "../../../shared/wire/json-values.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { SUM_FIELDS, SUM_HITS, SUM_TRANSMITTED } from "../../native/lad.ts";
import { type HitLabels, type InvertedBeams, VOXEL } from "../../native/lad-inversion.ts";
import { copyOut } from "../run/points.ts";
import type { LadGrid } from "./grid.ts";
import type { VoxelG } from "./projection.ts";

/** Half width of a 95 % interval in standard deviations. */
const Z95 = 1.96;

/** The voxels of a grid, copied out of native memory: they outlive the run. */
export interface VoxelValues {
  /** (cells, SUM_FIELDS) */
  readonly sums: Float64Array;
  readonly lad: Float64Array;
  readonly variance: Float64Array;
  readonly state: Uint8Array;
  /** (cells), or (nz) per layer. */
  readonly g: Float64Array;
  /** Standard error of lad with everything. */
  readonly error: Float64Array;
  /** With wood_split. */
  readonly wood: WoodValues | null;
}

/** Wood of the voxels. */
export interface WoodValues {
  readonly wad: Float64Array;
  readonly wood: Uint32Array;
  readonly leaf: Uint32Array;
  readonly wood_g: number;
}

export async function voxelValues(
  sums: NativeColumn,
  { lad, variance, state, error }: Pick<InvertedBeams, "lad" | "variance" | "state" | "error">,
  { column, profile }: VoxelG,
  wood: WoodValues | null,
): Promise<VoxelValues> {
  return {
    wood,
    sums: await doubles(sums),
    lad: await doubles(lad),
    variance: await doubles(variance),
    state: await copied(state),
    error: await doubles(error),
    g: profile ? Float64Array.from(profile) : await doubles(column),
  };
}

export async function woodValues(wad: NativeColumn | null, labels: HitLabels | null): Promise<WoodValues | null> {
  if (!wad || !labels) return null;
  const counts = async (column: NativeColumn) => new Uint32Array((await copied(column)).buffer);
  const { wood, leaf, wood_g } = labels;
  return { wad: await doubles(wad), wood: await counts(wood), leaf: await counts(leaf), wood_g };
}

const doubles = async (column: NativeColumn) => new Float64Array((await copied(column)).buffer);

async function copied(column: NativeColumn): Promise<Uint8Array<ArrayBuffer>> {
  const out = new Uint8Array(column.bytes);
  await copyOut(column, out);
  return out;
}

/** Sums over the voxels of kept columns. */
export interface VoxelSummary {
  readonly occluded_by_layer: number[];
  readonly filled_leaf_area: number;
}

export function voxelSummary(grid: LadGrid, { lad, state }: VoxelValues): VoxelSummary {
  const { nx, ny, nz } = grid.box;
  const occluded_by_layer = Array<number>(nz).fill(0);
  const volume = grid.edges[0] * grid.edges[1] * grid.edges[2];
  let filled_leaf_area = 0;
  for (let k = 0, v = 0; k < nz; k += 1) {
    for (let column = 0; column < nx * ny; column += 1, v += 1) {
      const bits = state[v] ?? 0;
      if (bits & VOXEL.occluded) occluded_by_layer[k] = (occluded_by_layer[k] ?? 0) + 1;
      if (bits & VOXEL.filled) filled_leaf_area += (lad[v] ?? 0) * volume;
    }
  }
  return { occluded_by_layer, filled_leaf_area };
}

/** The cells of an answer, made while it is written. */
export function cellList(grid: LadGrid, values: VoxelValues): LazyList {
  const columns = grid.box.nx * grid.box.ny;
  const { kept } = grid;
  const keptColumns = kept ? Uint32Array.from({ length: columns }, (_, c) => c).filter((c) => kept[c] !== 0) : null;
  const perLayer = keptColumns ? keptColumns.length : columns;
  return new LazyList(perLayer * grid.box.nz, (n) => {
    const k = Math.floor(n / perLayer);
    const column = n - k * perLayer;
    return cellOf(grid, values, (keptColumns ? (keptColumns[column] ?? 0) : column) + k * columns);
  });
}

function cellOf(grid: LadGrid, values: VoxelValues, index: number): LadCell {
  const { sums, lad, variance, state, g, error } = values;
  const at = index * SUM_FIELDS;
  const sum = (field: number) => sums[at + field] ?? 0;
  const [ex, ey, ez] = grid.edges;
  const volume = ex * ey * ez;
  const diagonal = Math.hypot(ex, ey, ez);
  const layer = Math.floor(index / (grid.box.nx * grid.box.ny));
  const bits = state[index] ?? 0;
  const has = (bit: number) => (bits & bit) !== 0;
  const density = lad[index] ?? 0;
  // By energy both may be less than nothing behind leaves that stop all beams.
  const beam_count = Math.max(0, sum(0));
  const path = Math.max(0, sum(1) * diagonal);
  const measured = has(VOXEL.solved) && !has(VOXEL.filled);
  const spread = variance[index] ?? Number.NaN;
  const known = measured && Number.isFinite(spread);
  const trusted = known && has(VOXEL.trusted);
  const total = error[index] ?? Number.NaN;
  const half = trusted ? volume * Z95 * total : 0;
  return {
    index,
    center: centerOf(grid, index),
    size: [ex, ey, ez],
    leaf_area: density * volume,
    lad: density,
    gtheta: (g.length === grid.cells ? g[index] : g[layer]) ?? 0,
    hit_count: sum(SUM_HITS),
    beam_count: Math.round(beam_count),
    relative_density_index: beam_count > 0 ? clamped(1 - sum(SUM_TRANSMITTED) / beam_count) : null,
    mean_path_length: beam_count > 0 ? path / beam_count : null,
    path_length_total: path,
    under_sampled: has(VOXEL.occluded),
    lad_filled: has(VOXEL.filled),
    lad_solved: has(VOXEL.solved),
    lad_variance: known ? spread : null,
    lad_std: known ? Math.sqrt(spread) : null,
    lad_std_total: known ? total : null,
    ci_valid: trusted,
    leaf_area_ci_lower: trusted ? Math.max(0, density * volume - half) : null,
    leaf_area_ci_upper: trusted ? density * volume + half : null,
    ...(values.wood && woodOf(values.wood, index, volume, has(VOXEL.filled) ? null : density)),
  };
}

/** The fields of a cell on its wood. `density` of its leaves; null = interpolated. */
function woodOf({ wad, wood, leaf, wood_g }: WoodValues, index: number, volume: number, density: number | null) {
  const [wood_hit_count, leaf_hit_count] = [wood[index] ?? 0, leaf[index] ?? 0];
  const labelled = wood_hit_count + leaf_hit_count;
  const own = density === null ? null : (wad[index] ?? 0);
  return {
    wad: own,
    wood_area: own === null ? null : own * volume,
    pad: own === null || density === null ? null : own + density,
    wood_fraction: labelled > 0 ? wood_hit_count / labelled : null,
    wood_hit_count,
    leaf_hit_count,
    wood_gtheta: wood_g,
  };
}

const clamped = (share: number) => Math.min(1, Math.max(0, share));

/** Centre in the unrotated lattice. */
function centerOf({ box, edges, offsets }: LadGrid, index: number): [number, number, number] {
  const { nx, ny, nz, center } = box;
  const column = index % (nx * ny);
  const place = (count: number, i: number, edge: number) => (i + 0.5 - count / 2) * edge;
  return [
    center[0] + place(nx, column % nx, edges[0]),
    center[1] + place(ny, Math.floor(column / nx), edges[1]),
    center[2] + place(nz, Math.floor(index / (nx * ny)), edges[2]) + (offsets?.[column] ?? 0),
  ];
}
