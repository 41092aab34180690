// Beams of scans inverted in a grid.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { type BeamScan, traceBeams } from "../../backend/native/lad.ts";
import { type HitLabels, invertBeams } from "../../backend/native/lad-inversion.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { column, values } from "./native.ts";

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
  /** G of the beams by their angle, in the bins of traceBeams; default: that of the voxel. */
  readonly beam_g?: readonly number[] | null;
}

/** Sums of beams that have each their own G. */
async function opticalSums(scans: readonly BeamScan[], grid: VoxelBox, beam_g: readonly number[]) {
  const greatest = Math.max(...beam_g);
  const factors = column(
    "f64",
    Float64Array.from(beam_g, (g) => g / greatest),
  );
  const { sums, reach } = await traceBeams(scans, grid, factors).promise;
  for (const one of [factors, reach]) one?.release();
  return { sums, g: column("f64", Float64Array.of(greatest)) };
}

export async function invert(
  scans: readonly BeamScan[],
  grid: VoxelBox,
  g: NativeColumn,
  { leaf_m = 0, labels = null, beam_g = null }: InversionOptions = {},
): Promise<Inverted> {
  const traced = await traceBeams(scans, grid, null).promise;
  const optical = beam_g && (await opticalSums(scans, grid, beam_g));
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
    optical,
  };
  const found = await invertBeams(traced.sums, g, params).promise;
  const read = {
    sums: values(traced.sums),
    lad: values(found.lad),
    variance: values(found.variance),
    state: values(found.state),
    wad: found.wad && values(found.wad),
  };
  const held = [traced.sums, traced.reach, optical?.sums, optical?.g];
  for (const one of [...held, found.lad, found.variance, found.state, found.wad]) one?.release();
  return read;
}
