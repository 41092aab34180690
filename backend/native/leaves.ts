import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";
import type { QsmTables } from "./qsm.ts";
import type { VoxelBox } from "./surfaces.ts";

export interface Phyllotaxis {
  readonly angle_deg: number;
  /** 0..1. */
  readonly confidence: number;
  readonly parent_count: number;
  readonly candidates: readonly { readonly angle_deg: number; readonly score: number; readonly log_support: number }[];
}

export interface LeafPlacementParams {
  readonly leaf_spacing_m: number;
  /** 0 = along the shoot. */
  readonly leaf_pitch_rad: number;
  readonly leaf_size_m: number;
  readonly phyllotaxis_deg: number;
  readonly leaves_per_node: number;
  readonly max_leaves: number;
}

/** Places and directions of leaves in native memory. */
export interface NativeLeaves {
  release(): void;
}

export interface PlacedLeaves {
  readonly leaves: NativeLeaves;
  readonly leaf_count: number;
  /** Leaves without max_leaves. */
  readonly wanted_count: number;
  /** Shoots with leaves. */
  readonly shoot_count: number;
  readonly leafy_length_m: number;
}

/** A rectangle, or the triangles of a mesh: f32 (9 T), f32 (9 T), f32 (6 T) or null, u32 (T) or null. */
export type LeafShape =
  | { readonly aspect: number }
  | {
      readonly vertices: NativeColumn;
      readonly normals: NativeColumn;
      readonly uvs: NativeColumn | null;
      readonly material: NativeColumn | null;
    };

/** Triangles of all leaves. The caller owns the columns. */
export interface NativeLeafMesh {
  /** f64 (9 T), metres. */
  readonly vertices: NativeColumn;
  /** f32 (9 T). */
  readonly normals: NativeColumn;
  /** f32 (6 T). */
  readonly uvs: NativeColumn | null;
  /** u32 (T). */
  readonly materials: NativeColumn | null;
}

/** Numbers per target: cell, mu, nu, ecc, phi0_deg, n_measured. */
export const TARGET_WIDTH = 6;

export interface TurnedLeaves {
  readonly leaves: NativeLeaves;
  readonly adjusted_count: number;
  readonly cell_count: number;
  readonly untouched_count: number;
  readonly capped_count: number;
}

export interface LeavesNative {
  phyllotaxis(qsm: QsmTables): NativeJob<Phyllotaxis>;
  placeLeaves(qsm: QsmTables, params: LeafPlacementParams): NativeJob<PlacedLeaves>;
  placeLeavesBytes(cylinders: number, leaves: number): number;
  leafMesh(leaves: NativeLeaves, length_m: number, shape: LeafShape): NativeJob<NativeLeafMesh>;
  leafMeshBytes(triangles: number): number;
  fitLeafAngles(
    triangles: { readonly vertices: NativeColumn; readonly indices: NativeColumn; readonly cells: NativeColumn },
    cell_count: number,
  ): NativeJob<{ readonly targets: NativeColumn; readonly unfit_count: number }>;
  turnLeaves(
    leaves: NativeLeaves,
    targets: NativeColumn,
    grid: VoxelBox,
    params: { readonly seed: number; readonly max_cell_leaves: number },
  ): NativeJob<TurnedLeaves>;
  turnLeavesBytes(leaves: number, targets: number): number;
  assignRows(costs: NativeColumn, n: number): NativeJob<NativeColumn>;
}

const addon = addonAs<LeavesNative>();

/** Divergence angle from the azimuths of branches. */
export const phyllotaxis: LeavesNative["phyllotaxis"] = (qsm) => addon.phyllotaxis(qsm);
/** Leaves on the youngest growth. Errors: invalid_argument for a model whose parts do not fit together. */
export const placeLeaves: LeavesNative["placeLeaves"] = (qsm, params) => addon.placeLeaves(qsm, params);
/** Memory of placeLeaves, bytes. */
export const placeLeavesBytes: LeavesNative["placeLeavesBytes"] = (cylinders, leaves) =>
  addon.placeLeavesBytes(cylinders, leaves);
/** Triangles of leaves. */
export const leafMesh: LeavesNative["leafMesh"] = (leaves, length_m, shape) => addon.leafMesh(leaves, length_m, shape);
/** Memory of leafMesh, bytes. */
export const leafMeshBytes: LeavesNative["leafMeshBytes"] = (triangles) => addon.leafMeshBytes(triangles);
/** Distributions of the angles of triangles, by cell. Errors: invalid_argument for an index or a cell out of range. */
export const fitLeafAngles: LeavesNative["fitLeafAngles"] = (triangles, cell_count) =>
  addon.fitLeafAngles(triangles, cell_count);
/** Copies of leaves, turned to the distribution of their cell; max_cell_leaves 0 = all. */
export const turnLeaves: LeavesNative["turnLeaves"] = (leaves, targets, grid, params) =>
  addon.turnLeaves(leaves, targets, grid, params);
/** Memory of turnLeaves, bytes. */
export const turnLeavesBytes: LeavesNative["turnLeavesBytes"] = (leaves, targets) =>
  addon.turnLeavesBytes(leaves, targets);
/** The column (u32) of each row of an (n, n) matrix (f64) with the smallest sum. */
export const assignRows: LeavesNative["assignRows"] = (costs, n) => addon.assignRows(costs, n);
