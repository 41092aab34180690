// Beams of scans inverted in a grid.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { type BeamScan, traceBeams, type VoxelProjection, voxelViews } from "../../backend/native/lad.ts";
import { type HitLabels, invertBeams } from "../../backend/native/lad-inversion.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { notableSpread, voxelBeamG } from "../../backend/services/lad/beam-projection.ts";
import { column, values } from "./native.ts";

/** Values of every voxel. */
export interface Inverted {
  readonly sums: ArrayLike<number>;
  readonly lad: ArrayLike<number>;
  readonly variance: ArrayLike<number>;
  /** Standard error of lad, of everything. */
  readonly error: ArrayLike<number>;
  readonly state: ArrayLike<number>;
  /** Surface of the wood; null without labels. */
  readonly wad: ArrayLike<number> | null;
}

export interface InversionOptions {
  /** Width of a leaf; default: none. */
  readonly leaf_m?: number;
  readonly labels?: HitLabels | null;
  /** Default: that of the voxel for all beams. */
  readonly beams?: BeamG | null;
  /** G of triangles, which gives each beam its own as `lad/compute` does: where they differ. */
  readonly own?: VoxelProjection | null;
  /** With leaf_m: variance of |normal . beam| of a leaf as a part of G squared. */
  readonly spread?: number;
}

/** G of the beams: by their angle, in the bins of traceBeams, the factors of `g`, which is that of each voxel or of all. */
export interface BeamG {
  readonly factors: readonly number[];
  readonly g: NativeColumn;
}

export function beamG(bins: readonly number[]): BeamG {
  const greatest = Math.max(...bins);
  return { factors: bins.map((g) => g / greatest), g: column("f64", Float64Array.of(greatest)) };
}

function ownBeams(own: VoxelProjection | null, zenith_count: readonly number[]): BeamG | null {
  if (!own?.beam_g || !own.uniform_azimuths) return null;
  const beams = voxelBeamG(own.beam_factors, own.beam_g);
  return notableSpread(beams, zenith_count) && { factors: own.beam_factors, g: own.beam_g };
}

/** Sums of beams that have each their own G. */
async function opticalSums(scans: readonly BeamScan[], grid: VoxelBox, { factors, g }: BeamG) {
  const held = column("f64", Float64Array.from(factors));
  const { sums, reach } = await traceBeams(scans, grid, held).promise;
  for (const one of [held, reach]) one?.release();
  return { sums, g };
}

export async function invert(
  scans: readonly BeamScan[],
  grid: VoxelBox,
  g: NativeColumn,
  { leaf_m = 0, labels = null, beams = null, own = null, spread = 0 }: InversionOptions = {},
): Promise<Inverted> {
  const traced = await traceBeams(scans, grid, null).promise;
  const each = beams ?? ownBeams(own, traced.zenith_count);
  const optical = each && (await opticalSums(scans, grid, each));
  const views = leaf_m > 0 ? await voxelViews(scans, grid).promise : null;
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
    measured: own?.error ?? null,
    few: views && { views, spread },
  };
  const found = await invertBeams(traced.sums, g, params).promise;
  const read = {
    sums: values(traced.sums),
    lad: values(found.lad),
    variance: values(found.variance),
    error: values(found.error),
    state: values(found.state),
    wad: found.wad && values(found.wad),
  };
  const held = [views, traced.sums, traced.reach, optical?.sums];
  for (const one of [...held, found.lad, found.variance, found.state, found.wad, found.error]) one?.release();
  return read;
}
