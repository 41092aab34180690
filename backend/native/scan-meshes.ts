import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";
import type { VoxelBox } from "./surfaces.ts";

type Triple = readonly [number, number, number];

export interface FirstReturns {
  /** Some row has a target_count above 1. */
  readonly is_multi_return: boolean;
  /** u8 per row, 1 = left out before, or no first return; null without several returns. */
  readonly skip: NativeColumn | null;
  /** Rows that are left out only because they are no first returns. */
  readonly dropped_count: number;
}

export interface ScanTriangles {
  /** vec3d, metres. */
  readonly points: NativeColumn;
  /** u32, three rows of the points per triangle. */
  readonly indices: NativeColumn;
  readonly origin: Triple;
  /** Only first returns of pulses with several: triangles from foreground to background are dropped. */
  readonly is_multi_return: boolean;
}

export interface TriangleDrops {
  readonly candidates: number;
  readonly kept: number;
  readonly lmax: number;
  readonly aspect: number;
  readonly degenerate: number;
  readonly separation: number;
}

/** A mesh of several scans. */
export interface ScanMesh {
  /** vec3d, metres. */
  readonly vertices: NativeColumn;
  /** u32, three per triangle. */
  readonly indices: NativeColumn;
  /** u32, scan of each triangle. */
  readonly scan_ids: NativeColumn;
  readonly drops: TriangleDrops;
  /** Suggested longest edge, metres; null below 16 positive edges. */
  readonly lmax_m: number | null;
  readonly separability: number;
  /** Median of the long edges / median of the short ones; null if a class is empty. */
  readonly median_ratio: number | null;
  /** A scan whose edges look like those of several scanner positions. */
  readonly mixed: boolean;
}

export interface ScanMeshPayload {
  readonly indices: NativeColumn;
  readonly scan_ids: NativeColumn;
  readonly cell_ids: NativeColumn;
  readonly surface_area: number;
  readonly cap_lmax_m: number;
  readonly cap_aspect: number;
  readonly outside_count: number;
  readonly capped_count: number;
}

export interface ScanMeshesNative {
  firstReturns(
    target_index: NativeColumn,
    target_count: NativeColumn,
    skip: NativeColumn | null,
  ): NativeJob<FirstReturns>;
  voxelPoints(
    positions: NativeColumn,
    skip: NativeColumn | null,
    shift: Triple,
    grid: VoxelBox,
  ): NativeJob<{ readonly points: NativeColumn; readonly unusable_count: number }>;
  triangulateScan(
    points: NativeColumn,
    origin: Triple,
  ): NativeJob<{ readonly indices: NativeColumn; readonly repeated_count: number; readonly unusable_count: number }>;
  scanMesh(
    scans: readonly ScanTriangles[],
    params: { readonly lmax_m: number; readonly max_aspect_ratio: number },
  ): NativeJob<ScanMesh>;
  scanMeshPayload(
    mesh: Pick<ScanMesh, "vertices" | "indices" | "scan_ids">,
    grid: VoxelBox,
    max_triangles: number,
  ): NativeJob<ScanMeshPayload>;
  scanTriangulationBytes(points: number): number;
  scanMeshBytes(points: number, triangles: number): number;
}

const addon = addonAs<ScanMeshesNative>();

/** Mask of the first returns, if the cloud has several per pulse. */
export const firstReturns: ScanMeshesNative["firstReturns"] = (target_index, target_count, skip) =>
  addon.firstReturns(target_index, target_count, skip);
/** The points inside the cells of a grid: without `skip`, shifted, finite. */
export const voxelPoints: ScanMeshesNative["voxelPoints"] = (positions, skip, shift, grid) =>
  addon.voxelPoints(positions, skip, shift, grid);
/** Delaunay triangulation of the directions from a scanner; indices are rows of the points. */
export const triangulateScan: ScanMeshesNative["triangulateScan"] = (points, origin) =>
  addon.triangulateScan(points, origin);
/** Filters the triangles of scans and joins the rest to one mesh. */
export const scanMesh: ScanMeshesNative["scanMesh"] = (scans, params) => addon.scanMesh(scans, params);
/** Bins the triangles into voxels and limits their number. */
export const scanMeshPayload: ScanMeshesNative["scanMeshPayload"] = (mesh, grid, max_triangles) =>
  addon.scanMeshPayload(mesh, grid, max_triangles);
/** Memory that triangulateScan needs besides the points, bytes. */
export const scanTriangulationBytes: ScanMeshesNative["scanTriangulationBytes"] = (points) =>
  addon.scanTriangulationBytes(points);
/** Memory that scanMesh needs besides its input, bytes. */
export const scanMeshBytes: ScanMeshesNative["scanMeshBytes"] = (points, triangles) =>
  addon.scanMeshBytes(points, triangles);
