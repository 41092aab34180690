import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

type Triple = readonly [number, number, number];

/** Triangles of shared vertices. */
export interface SurfaceMesh {
  /** vec3d, metres. */
  readonly vertices: NativeColumn;
  /** u32, three per triangle. */
  readonly indices: NativeColumn;
}

/** A box, rotated about the vertical axis through its centre; metres, degrees counter-clockwise. */
export interface CropBox {
  readonly min: Triple;
  readonly max: Triple;
  readonly rotation_deg: number;
}

export interface MeshPointsParams {
  /** Added to every point before the crop. */
  readonly shift: Triple;
  readonly crop: CropBox | null;
  /** Places of the scanner, vec3d, one or one per position, moved like them; null = not known. */
  readonly origins: NativeColumn | null;
}

export interface AlphaShape {
  readonly indices: NativeColumn;
  /** solid: boundary of the solid part, outward; sheet: together with the faces that bound no solid. */
  readonly faces: "solid" | "sheet";
  readonly alpha_m: number;
  readonly mean_spacing_m: number;
  readonly volume_m3: number;
  /** Points at the place of another one. */
  readonly repeated_count: number;
  /** Faces of the alpha complex that bound no solid. */
  readonly sheet_count: number;
}

export interface CleanMesh extends SurfaceMesh {
  readonly merged_vertex_count: number;
  /** Triangles without area. */
  readonly flat_count: number;
  readonly repeated_count: number;
  /** Edges of more than two triangles, at which the mesh was cut. */
  readonly crowded_edge_count: number;
  /** Vertices added where it was cut. */
  readonly copied_vertex_count: number;
  /** Triangles turned to the sense of rotation of their component. */
  readonly turned_count: number;
}

/** A box of voxels, as in the contract; `offsets` f64 and `kept` u8 have one entry per column. */
export interface VoxelBox {
  readonly center: Triple;
  readonly size: Triple;
  readonly nx: number;
  readonly ny: number;
  readonly nz: number;
  readonly rotation_deg: number;
  readonly offsets: NativeColumn | null;
  readonly kept: NativeColumn | null;
}

/** cpp/ops/mesh/mesh_relief.h */
export interface MeshRelief {
  readonly flat_share: number;
  readonly area_ratio: number;
  readonly two_faced_share: number;
  readonly scatter_m: number;
  readonly spacing_m: number;
}

/** cpp/ops/mesh/far_area.h */
export interface FarArea {
  readonly share: number;
  /** NaN: too few points to tell. */
  readonly reach_m: number;
}

export interface SurfacesNative {
  meshPoints(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: MeshPointsParams,
  ): NativeJob<{
    readonly points: NativeColumn;
    readonly origins: NativeColumn | null;
    readonly unusable_count: number;
  }>;
  stridePoints(parts: readonly NativeColumn[], stride: number): NativeJob<NativeColumn>;
  delaunay(points: NativeColumn): NativeJob<{ readonly indices: NativeColumn; readonly repeated_count: number }>;
  alphaShape(points: NativeColumn, alpha_m: number | null): NativeJob<AlphaShape>;
  cleanMesh(mesh: SurfaceMesh): NativeJob<CleanMesh>;
  meshArea(mesh: SurfaceMesh): NativeJob<number>;
  meshRelief(mesh: SurfaceMesh): NativeJob<MeshRelief>;
  meshReliefBytes(vertices: number, triangles: number): number;
  farArea(mesh: SurfaceMesh, points: NativeColumn): NativeJob<FarArea>;
  farAreaBytes(points: number): number;
  meshNormals(mesh: SurfaceMesh): NativeJob<NativeColumn>;
  narrowVertices(
    vertices: NativeColumn,
    shift: Triple,
  ): NativeJob<{ readonly vertices: NativeColumn; readonly largest: number }>;
  binTriangles(
    mesh: SurfaceMesh,
    grid: VoxelBox,
  ): NativeJob<{ readonly indices: NativeColumn; readonly cell_ids: NativeColumn }>;
  delaunayBytes(points: number): number;
  alphaShapeBytes(points: number): number;
  cleanMeshBytes(vertices: number, triangles: number): number;
}

const addon = addonAs<SurfacesNative>();

/** The points that a mesh is made of: without `skip`, shifted, inside the crop box, finite. */
export const meshPoints: SurfacesNative["meshPoints"] = (positions, skip, params) =>
  addon.meshPoints(positions, skip, params);
/** Every stride-th point of all parts (vec3d), counted through them. */
export const stridePoints: SurfacesNative["stridePoints"] = (parts, stride) => addon.stridePoints(parts, stride);
/** Delaunay triangulation in x and y, upwards; indices are rows of the points. */
export const delaunay: SurfacesNative["delaunay"] = (points) => addon.delaunay(points);
/** Alpha shape; `alpha_m` null = automatic. Indices are rows of the points. */
export const alphaShape: SurfacesNative["alphaShape"] = (points, alpha_m) => addon.alphaShape(points, alpha_m);
/** Merges vertices at one place, removes degenerate, repeated and non-manifold triangles and unused vertices. */
export const cleanMesh: SurfacesNative["cleanMesh"] = (mesh) => addon.cleanMesh(mesh);
/** Area of all triangles, square metres. */
export const meshArea: SurfacesNative["meshArea"] = (mesh) => addon.meshArea(mesh);
/** How rough the triangles are, and how much of them lies on both faces of something thin. */
export const meshRelief: SurfacesNative["meshRelief"] = (mesh) => addon.meshRelief(mesh);
/** Share of the area of a mesh that is far from all points. */
export const farArea: SurfacesNative["farArea"] = (mesh, points) => addon.farArea(mesh, points);
/** Memory that farArea needs besides mesh and points, bytes. */
export const farAreaBytes: SurfacesNative["farAreaBytes"] = (points) => addon.farAreaBytes(points);
/** Memory that meshRelief needs besides the mesh, bytes. */
export const meshReliefBytes: SurfacesNative["meshReliefBytes"] = (vertices, triangles) =>
  addon.meshReliefBytes(vertices, triangles);
/** Unit normal per vertex (f32, three each), the mean of its triangles weighted by area. */
export const meshNormals: SurfacesNative["meshNormals"] = (mesh) => addon.meshNormals(mesh);
/** Vertices minus `shift` as f32, three each, and their largest absolute coordinate. */
export const narrowVertices: SurfacesNative["narrowVertices"] = (vertices, shift) =>
  addon.narrowVertices(vertices, shift);
/** The triangles whose centroid lies in a cell, and the cell of each: i + nx (j + ny k). */
export const binTriangles: SurfacesNative["binTriangles"] = (mesh, grid) => addon.binTriangles(mesh, grid);
/** Memory that delaunay needs besides the points, bytes. */
export const delaunayBytes: SurfacesNative["delaunayBytes"] = (points) => addon.delaunayBytes(points);
/** Memory that alphaShape needs besides the points, bytes. */
export const alphaShapeBytes: SurfacesNative["alphaShapeBytes"] = (points) => addon.alphaShapeBytes(points);
/** Memory that cleanMesh needs besides its input, bytes. */
export const cleanMeshBytes: SurfacesNative["cleanMeshBytes"] = (vertices, triangles) =>
  addon.cleanMeshBytes(vertices, triangles);
