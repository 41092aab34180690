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
  /** Further thresholds of bands, metres. */
  readonly bands_m: readonly number[];
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
  /** Of bands_m. */
  readonly asked_percent: readonly number[];
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
  /** f32 per row; NaN = not measured; negative = inside, if `sides` are defined. */
  readonly distances: NativeColumn;
  readonly point_count: number;
  /** Points that are not finite. */
  readonly unmeasured_count: number;
  /** null = no point was measured. */
  readonly spread: DistanceSpread | null;
  /** null = not asked for. */
  readonly sides: SidedSpread | null;
  /** Of the box of the triangles. */
  readonly mesh_diagonal_m: number;
  /** Why the CPU computed what the GPU was asked for. */
  readonly warnings: readonly string[];
}

/** A registration between its batches; icpRelease frees its memory. */
export interface NativeRegistration {
  readonly brand?: "IcpRegistration";
}

/** Every stride-th of the rows that `skip` (u8) does not mark. */
export interface IcpSide {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  /** Added to the positions: from their frame to the common one. */
  readonly shift: Triple;
  readonly stride: number;
}

export type IcpMethod = "point_to_point" | "point_to_plane" | "gicp";

export type IcpInitial = "centroid" | "auto";

export interface IcpParams {
  readonly method: IcpMethod;
  /** How the start is found if none is given. */
  readonly initial: IcpInitial;
  /** 4 x 4 row-major, metres; null = found as `initial` says. */
  readonly start: readonly number[] | null;
  /** Metres; null = 5 % of the robust diagonal of the fixed side. */
  readonly max_correspondence_distance: number | null;
  readonly rmse_threshold: number;
  readonly max_iterations: number;
}

export interface IcpProgress {
  readonly iterations: number;
  /** Metres, of the last iteration. */
  readonly rmse: number;
  readonly finished: boolean;
}

export interface NativeGlobalAlignment {
  readonly outcome: "found" | "ambiguous" | "none";
  readonly voxel_m: number;
  readonly agreement: number;
  readonly rival_agreement: number;
  readonly rival_turn_rad: number;
  readonly rival_shift_m: number;
  readonly match_count: number;
  readonly consensus_count: number;
}

/** What a search among all poses says of the pose that was reached. */
export interface IcpCheck {
  readonly verdict: "confirmed" | "contradicted" | "undecided";
  readonly found: NativeGlobalAlignment;
  /** From the reached pose to the one that was found; shift of the middle of the moving side, metres. */
  readonly turn_rad: number;
  readonly shift_m: number;
  /** The pose that was found lies where the sides were sent, and the iterations began with the centroids on each other. */
  readonly is_as_placed: boolean;
}

/** Metres; names as in cpp/ops/registration/icp.h. */
export interface IcpPose {
  readonly matrix: readonly number[];
  readonly start: "centroid" | "as_placed" | "init_transform" | "global";
  /** With `initial` auto; names as in cpp/ops/registration/global_alignment.h. */
  readonly global_alignment: NativeGlobalAlignment | null;
  /** Size of the fixed and of the moving side. */
  readonly robust_diagonal: number;
  readonly moving_diagonal: number;
  readonly max_correspondence_distance: number;
  readonly fitness: number;
  readonly rmse: number;
  readonly final_limit_m: number;
  readonly final_fitness: number;
  readonly final_rmse: number;
  readonly spacing_m: number;
  readonly converged: boolean;
  readonly kept_start: boolean;
  readonly conditioning: number;
  readonly free_turn: Triple;
  readonly free_shift: Triple;
  /** Names as in cpp/ops/registration/surface_agreement.h. */
  readonly surface_covered: number;
  readonly surface_agreement: number;
  readonly surface_places: number;
  readonly surface_flats: number;
  readonly history: readonly {
    readonly voxel_m: number;
    readonly limit_m: number;
    readonly rmse: number;
    readonly pair_count: number;
  }[];
  readonly fixed_count: number;
  readonly moving_count: number;
  readonly fixed_unusable: number;
  readonly moving_unusable: number;
  readonly fixed_finest_count: number;
  readonly moving_finest_count: number;
  /** Why the CPU computed what the GPU was asked for. */
  readonly warnings: readonly string[];
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
  meshSamples(mesh: NativeMesh, count: number, seed: number): NativeJob<NativeColumn>;
  icpPrepare(fixed: IcpSide, moving: IcpSide, params: IcpParams, options?: OpOptions): NativeJob<NativeRegistration>;
  icpAdvance(registration: NativeRegistration, iterations: number, options?: OpOptions): NativeJob<IcpProgress>;
  icpResult(registration: NativeRegistration, options?: OpOptions): NativeJob<IcpPose>;
  icpCheck(registration: NativeRegistration, options?: OpOptions): NativeJob<IcpCheck>;
  icpTakeFound(registration: NativeRegistration, options?: OpOptions): NativeJob<void>;
  icpRelease(registration: NativeRegistration): void;
  icpBytes(fixedPoints: number, movingPoints: number, initial: IcpInitial): number;
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
/** Points (vec3d) spread evenly over the area of a mesh. Errors: invalid_argument for a mesh without area. */
export const meshSamples: RegistrationNative["meshSamples"] = (mesh, count, seed) =>
  addon.meshSamples(mesh, count, seed);
/** Prepares a registration of the moving onto the fixed side. Errors: invalid_argument for sides that cannot be used. */
export const icpPrepare: RegistrationNative["icpPrepare"] = (fixed, moving, params, options) =>
  addon.icpPrepare(fixed, moving, params, options);
/** Runs a batch of iterations. */
export const icpAdvance: RegistrationNative["icpAdvance"] = (registration, iterations, options) =>
  addon.icpAdvance(registration, iterations, options);
/** The pose reached and how well it fits. */
export const icpResult: RegistrationNative["icpResult"] = (registration, options) =>
  addon.icpResult(registration, options);
/** Searches for a pose that fits better than the one reached, which stays; after icpResult. */
export const icpCheck: RegistrationNative["icpCheck"] = (registration, options) =>
  addon.icpCheck(registration, options);
/** Goes on from the pose that icpCheck found. */
export const icpTakeFound: RegistrationNative["icpTakeFound"] = (registration, options) =>
  addon.icpTakeFound(registration, options);
export const icpRelease: RegistrationNative["icpRelease"] = (registration) => addon.icpRelease(registration);
/** Memory that a registration needs besides its points, bytes. */
export const icpBytes: RegistrationNative["icpBytes"] = (fixedPoints, movingPoints, initial) =>
  addon.icpBytes(fixedPoints, movingPoints, initial);
