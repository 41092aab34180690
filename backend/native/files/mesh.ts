import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import type { Bounds } from "./readers.ts";

type Triple = readonly [number, number, number];

/** Triangles of a mesh file. The caller owns all columns. */
export interface NativeMeshFile {
  /** f32 (3 V), metres, file frame minus the shift. */
  readonly vertices: NativeColumn;
  /** u32 (3 T). */
  readonly indices: NativeColumn;
  /** f32 (3 V). */
  readonly normals: NativeColumn;
  /** f32 (3 V), 0..1; NaN = none; null = the file has none. */
  readonly colors: NativeColumn | null;
  /** f32 (2 V), v downwards; null = the file has none. */
  readonly uvs: NativeColumn | null;
  /** u32 (T), index in material_names, 0xffffffff = none; null for PLY and STL. */
  readonly triangle_material: NativeColumn | null;
  readonly material_names: readonly string[];
  /** OBJ: the rest of each mtllib line. */
  readonly libraries: readonly string[];
  readonly warnings: readonly string[];
  /** null without triangles. */
  readonly bounds: Bounds | null;
  /** Triangles left out for a vertex that is missing or not finite. */
  readonly skipped_count: number;
  /** Faces of more than three corners that enclose no area. */
  readonly flat_face_count: number;
  /** Faces that cross themselves. */
  readonly crossing_face_count: number;
  /** Triangles without area. */
  readonly flat_count: number;
}

export interface MtlMaterial {
  readonly name: string;
  readonly color: Triple | null;
  /** File name of the texture as written, "" = none. */
  readonly texture: string;
  /** Its last word. */
  readonly last_token: string;
}

export interface MtlFile {
  readonly materials: readonly MtlMaterial[];
  readonly warnings: readonly string[];
}

export interface MeshReadersNative {
  readObj(path: string, shift: Triple): NativeJob<NativeMeshFile>;
  readPlyMesh(path: string, shift: Triple): NativeJob<NativeMeshFile>;
  readStl(path: string, shift: Triple): NativeJob<NativeMeshFile>;
  readMtl(path: string): NativeJob<MtlFile>;
  paintTriangles(
    triangleMaterial: NativeColumn,
    materialColors: readonly number[],
    vertexColors: NativeColumn | null,
  ): NativeJob<NativeColumn>;
  groupTriangles(
    triangleMaterial: NativeColumn,
    materialCount: number,
  ): NativeJob<{ readonly triangles: NativeColumn; readonly firsts: readonly number[] }>;
}

const addon = addonAs<MeshReadersNative>();

/** Triangles of an OBJ file, with three vertices each. */
export const readObj: MeshReadersNative["readObj"] = (path, shift) => addon.readObj(path, shift);
/** Triangles of a PLY file, with shared vertices. */
export const readPlyMesh: MeshReadersNative["readPlyMesh"] = (path, shift) => addon.readPlyMesh(path, shift);
/** Triangles of an STL file, binary or ASCII, with three vertices each. */
export const readStl: MeshReadersNative["readStl"] = (path, shift) => addon.readStl(path, shift);
/** Materials of a Wavefront library. */
export const readMtl: MeshReadersNative["readMtl"] = (path) => addon.readMtl(path);
/** Colours (f32, nine per triangle) of the materials, else of the vertices, else grey. NaN in a colour: none. */
export const paintTriangles: MeshReadersNative["paintTriangles"] = (triangleMaterial, materialColors, vertexColors) =>
  addon.paintTriangles(triangleMaterial, materialColors, vertexColors);
/** Triangles of each material: those of material m are triangles[firsts[m] .. firsts[m + 1]). */
export const groupTriangles: MeshReadersNative["groupTriangles"] = (triangleMaterial, materialCount) =>
  addon.groupTriangles(triangleMaterial, materialCount);
