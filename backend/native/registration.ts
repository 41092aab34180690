import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

type Triple = readonly [number, number, number];

/** Triangles of shared vertices. */
export interface NativeMesh {
  /** vec3d, metres. */
  readonly vertices: NativeColumn;
  /** u32, three per triangle. */
  readonly indices: NativeColumn;
}

/** Inline points without the far cluster of their sky points. */
export interface ListedPoints {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  /** u8, 1 = sky point; null = none. */
  readonly skip: NativeColumn | null;
  readonly far_count: number;
}

export interface PointToMeshParams {
  /** Added to the points: from their frame to the mesh's. */
  readonly shift: Triple;
  /** Every so many-th point is measured. */
  readonly stride: number;
  /** Whether to tell inside from outside. */
  readonly with_sides: boolean;
}

/** Metres; percent for the shares. Names as in the contract. */
export interface DistanceSpread {
  readonly mean_distance: number;
  readonly rmse: number;
  readonly std_deviation: number;
  readonly min_distance: number;
  readonly max_distance: number;
  readonly median_distance: number;
  readonly percentile_90: number;
  readonly percentile_95: number;
  readonly percentile_99: number;
  readonly band_thresholds_m: Triple;
  readonly points_within_percent: Triple;
  readonly bin_width_m: number;
  readonly bin_counts: readonly number[];
}

/** Distances that are negative inside the mesh. */
export interface SidedSpread {
  readonly defined: boolean;
  readonly mean: number;
  readonly std_deviation: number;
  readonly open_edge_count: number;
  /** Triangles without a normal. */
  readonly flat_count: number;
}

export interface MeshDistances {
  /** f32 per row; NaN = not measured. */
  readonly distances: NativeColumn;
  readonly point_count: number;
  /** Points that are not finite. */
  readonly unmeasured_count: number;
  /** null = no point was measured. */
  readonly spread: DistanceSpread | null;
  /** null = not asked for. */
  readonly sides: SidedSpread | null;
}

export interface RegistrationNative {
  meshOfLists(vertices: NativeColumn, indices: NativeColumn): NativeJob<NativeMesh>;
  pointsOfList(coordinates: NativeColumn): NativeJob<ListedPoints>;
  pointToMeshDistance(
    positions: NativeColumn,
    skip: NativeColumn | null,
    mesh: NativeMesh,
    params: PointToMeshParams,
    options?: OpOptions,
  ): NativeJob<MeshDistances>;
  pointToMeshBytes(points: number, vertices: number, triangles: number, withSides: boolean): number;
}

const addon = addonAs<RegistrationNative>();

/** A mesh of flat lists (f64). Errors: invalid_argument for lengths, indices and vertices that make no mesh. */
export const meshOfLists: RegistrationNative["meshOfLists"] = (vertices, indices) =>
  addon.meshOfLists(vertices, indices);
/** Points of a flat list (f64). Errors: invalid_argument for a length that is no multiple of 3. */
export const pointsOfList: RegistrationNative["pointsOfList"] = (coordinates) => addon.pointsOfList(coordinates);
/** Distance of each point to the closest place of the mesh. */
export const pointToMeshDistance: RegistrationNative["pointToMeshDistance"] = (
  positions,
  skip,
  mesh,
  params,
  options,
) => addon.pointToMeshDistance(positions, skip, mesh, params, options);
/** Memory that the distances need besides points and mesh, bytes. */
export const pointToMeshBytes: RegistrationNative["pointToMeshBytes"] = (points, vertices, triangles, withSides) =>
  addon.pointToMeshBytes(points, vertices, triangles, withSides);
