import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

export interface NormalsParams {
  /** Neighbours are at most this far away, metres; null = no limit. */
  readonly radius: number | null;
  /** The nearest so many, the point itself counted: 3 to 1000. */
  readonly max_nn: number;
  /**
   * `consistent`: along a minimum spanning tree of neighbours, then each component outward. `agreeing`: `from_centroid`,
   * or `consistent` where far fewer neighbours then face apart.
   */
  readonly orientation: "from_centroid" | "consistent" | "toward_origins" | "agreeing";
  /** `consistent`, `agreeing`: neighbours that a point is linked with, 1 to 100. */
  readonly graph_neighbors: number;
}

export interface EstimatedNormals {
  /** vec3d: unit vectors; (0, 0, 0) = not estimated. */
  readonly normals: NativeColumn;
  readonly unestimated_count: number;
  /** Parts that were oriented on their own as `consistent`; 0 if another rule decided. */
  readonly component_count: number;
}

export interface PoissonParams {
  /** Deepest level of the octree, 1 to 12. */
  readonly depth: number;
  /** Side of the cube over the longest side of the points' box. */
  readonly scale: number;
  /** Samples in a cell of the level at which normals are spread; 0.6 was measured as best. */
  readonly samples_per_node: number;
  /** Weight of the points against the normals; 2 was measured as best. */
  readonly point_weight: number;
  /** Drop vertices that no point supports, and specks. */
  readonly trim: boolean;
  /** What the octree and its solution may take. */
  readonly memory_bytes: number;
}

export interface PoissonSurface {
  /** vec3d, metres. */
  readonly vertices: NativeColumn;
  /** u32, three per triangle. */
  readonly indices: NativeColumn;
  /** Points that are not finite or have no normal. */
  readonly ignored_count: number;
  /** Vertices dropped because no point supports them. */
  readonly trimmed_count: number;
  /** Vertices of components dropped as too small to be told from noise. */
  readonly speck_count: number;
  /** Deepest level in use. */
  readonly depth: number;
}

export interface BallPivotingParams {
  /** Metres, ascending; empty = automatic. */
  readonly radii: readonly number[];
  /** Points that a tile of an uneven cloud holds. */
  readonly tile_points: number;
  /** The normals point to where each point was seen from: the two faces of a thin wall are two surfaces. */
  readonly sides_are_known: boolean;
}

export interface PivotedSurface {
  /** u32, three rows of the points per triangle. */
  readonly indices: NativeColumn;
  /** Metres; empty if the cloud was cut into tiles with their own. */
  readonly radii: readonly number[];
  readonly tile_count: number;
  /** Points that are not finite, have no normal, or lie at the place of an earlier row. */
  readonly ignored_count: number;
  /** Automatic radii: holes closed after the balls have rolled. */
  readonly filled_hole_count: number;
}

export interface ReconstructionNative {
  estimateNormals(
    positions: NativeColumn,
    origins: NativeColumn | null,
    params: NormalsParams,
    options?: OpOptions,
  ): NativeJob<EstimatedNormals>;
  poissonSurface(
    positions: NativeColumn,
    normals: NativeColumn,
    params: PoissonParams,
    options?: OpOptions,
  ): NativeJob<PoissonSurface>;
  ballPivoting(
    positions: NativeColumn,
    normals: NativeColumn,
    params: BallPivotingParams,
    options?: OpOptions,
  ): NativeJob<PivotedSurface>;
  normalsBytes(points: number, params: NormalsParams): number;
  poissonBytes(points: number): number;
  ballPivotingBytes(points: number): number;
}

const addon = addonAs<ReconstructionNative>();

/** Normals of hits. `origins`: vec3d, one or one per point, for `toward_origins` alone. */
export const estimateNormals: ReconstructionNative["estimateNormals"] = (positions, origins, params, options) =>
  addon.estimateNormals(positions, origins, params, options);
/** Screened Poisson surface of hits. Errors: out_of_memory names the depth and the bytes. */
export const poissonSurface: ReconstructionNative["poissonSurface"] = (positions, normals, params, options) =>
  addon.poissonSurface(positions, normals, params, options);
/** Ball pivoting over hits. */
export const ballPivoting: ReconstructionNative["ballPivoting"] = (positions, normals, params, options) =>
  addon.ballPivoting(positions, normals, params, options);
/** Memory that the normals need besides the points, bytes. */
export const normalsBytes: ReconstructionNative["normalsBytes"] = (points, params) =>
  addon.normalsBytes(points, params);
/** Memory that Poisson needs besides points, normals and memory_bytes, bytes. */
export const poissonBytes: ReconstructionNative["poissonBytes"] = (points) => addon.poissonBytes(points);
/** Memory that ball pivoting needs besides points and normals, bytes. */
export const ballPivotingBytes: ReconstructionNative["ballPivotingBytes"] = (points) => addon.ballPivotingBytes(points);
