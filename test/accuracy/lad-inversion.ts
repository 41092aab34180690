// Beams of scans inverted in a grid.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { type BeamScan, invertBeams, traceBeams } from "../../backend/native/lad.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { values } from "./native.ts";

/** Values of every voxel. */
export interface Inverted {
  readonly sums: ArrayLike<number>;
  readonly lad: ArrayLike<number>;
  readonly variance: ArrayLike<number>;
  readonly state: ArrayLike<number>;
}

export async function invert(
  scans: readonly BeamScan[],
  grid: VoxelBox,
  g: NativeColumn,
  leaf_m = 0,
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
  };
  const found = await invertBeams(traced.sums, g, params).promise;
  const read = {
    sums: values(traced.sums),
    lad: values(found.lad),
    variance: values(found.variance),
    state: values(found.state),
  };
  for (const one of [traced.sums, traced.reach, found.lad, found.variance, found.state]) one?.release();
  return read;
}
