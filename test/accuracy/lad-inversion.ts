// Beams of scans inverted in a grid.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { type BeamScan, traceBeams } from "../../backend/native/lad.ts";
import { type HitLabels, invertBeams } from "../../backend/native/lad-inversion.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { values } from "./native.ts";

/** Values of every voxel. */
export interface Inverted {
  readonly sums: ArrayLike<number>;
  readonly lad: ArrayLike<number>;
  readonly variance: ArrayLike<number>;
  readonly state: ArrayLike<number>;
  /** Surface of the wood; null without labels. */
  readonly wad: ArrayLike<number> | null;
}

export interface InversionOptions {
  /** Width of a leaf; default: none. */
  readonly leaf_m?: number;
  readonly labels?: HitLabels | null;
}

export async function invert(
  scans: readonly BeamScan[],
  grid: VoxelBox,
  g: NativeColumn,
  { leaf_m = 0, labels = null }: InversionOptions = {},
): Promise<Inverted> {
  const traced = await traceBeams(scans, grid).promise;
  const { nx, ny, nz } = grid;
  const voxel_size = [grid.size[0] / nx, grid.size[1] / ny, grid.size[2] / nz] as const;
  const params = {
    voxel_size,
    nx,
    ny,
    nz,
    min_beams: 5,
    element_width_m: leaf_m,
    occlusion_threshold_m: 0,
    reach: traced.reach,
    labels,
  };
  const found = await invertBeams(traced.sums, g, params).promise;
  const read = {
    sums: values(traced.sums),
    lad: values(found.lad),
    variance: values(found.variance),
    state: values(found.state),
    wad: found.wad && values(found.wad),
  };
  for (const one of [traced.sums, traced.reach, found.lad, found.variance, found.state, found.wad]) one?.release();
  return read;
}
