import type { DType, NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/** Index of a triangle without a texture, and of a pixel without a triangle. */
export const NO_TRIANGLE = 0xffffffff;

export interface RasterTexture {
  readonly width: number;
  readonly height: number;
  /** u8 (4 width height), sRGB, rows downwards; alpha below 128 is a hole. */
  readonly rgba: NativeColumn;
}

export interface PaintedMesh {
  /** f32 (3 V), metres. */
  readonly vertices: NativeColumn;
  /** u32 (3 T). */
  readonly indices: NativeColumn;
  /** f32 (3 V). */
  readonly normals?: NativeColumn | null;
  /** f32 (3 V), 0..1 sRGB; NaN = grey. */
  readonly colors?: NativeColumn | null;
  /** f32 (2 V), v downwards. */
  readonly uvs?: NativeColumn | null;
  /** u32 (T), index in textures or NO_TRIANGLE. */
  readonly triangle_image?: NativeColumn | null;
  readonly textures: readonly RasterTexture[];
}

/** The camera frame has x to the right, y downwards and z away from the camera, metres. */
export interface RasterCamera {
  /** 3 x 4, row by row, from the frame of the mesh to that of the camera. */
  readonly view: readonly number[];
  readonly perspective: boolean;
  /** Pixels per metre; with perspective at a distance of 1 m. */
  readonly scale: number;
  /** Least depth that is drawn, metres; above 0 with perspective. */
  readonly near_m: number;
  /** Pixels, at most 32,768. */
  readonly width: number;
  readonly height: number;
}

export interface RasterLight {
  /** Direction to the light, camera frame. */
  readonly toward: readonly [number, number, number];
  /** 0..1, share of the light that comes from everywhere. */
  readonly ambient: number;
  /** With the normals of the vertices, where there are any. */
  readonly is_smooth: boolean;
  /** Red, green, blue, alpha: whole numbers 0..255. */
  readonly background: readonly [number, number, number, number];
}

/** The caller owns all columns. */
export interface MeshPicture {
  /** u8 (4 width height), sRGB, rows downwards. */
  readonly rgba: NativeColumn;
  /** f32 (width height), metres from the camera along its axis; infinite = nothing there. */
  readonly depth: NativeColumn;
  /** u32 (width height), the nearest triangle or NO_TRIANGLE. */
  readonly triangles: NativeColumn;
}

export interface MeshPictureNative {
  rasterizeMesh(mesh: PaintedMesh, camera: RasterCamera, light: RasterLight, samples: number): NativeJob<MeshPicture>;
}

const addon = addonAs<MeshPictureNative & { readonly Column: new (dtype: DType, bytes: Uint8Array) => NativeColumn }>();

/** Draws a mesh with hidden surfaces removed, `samples` x `samples` samples per pixel (1 to 4). */
export const rasterizeMesh: MeshPictureNative["rasterizeMesh"] = (mesh, camera, light, samples) =>
  addon.rasterizeMesh(mesh, camera, light, samples);

/** A column of the mesh or of a texture; the caller owns it. */
export function pictureColumn(values: Float32Array | Uint32Array | Uint8Array): NativeColumn {
  const dtype = values instanceof Float32Array ? "f32" : values instanceof Uint32Array ? "u32" : "u8";
  return new addon.Column(dtype, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
}
