import type { Raster } from "../drawing/render.ts";
import type { WorldMesh } from "./mesh.ts";

/** Texture index of a triangle without one. */
export const NO_TEXTURE = 0xffffffff;
/** A texel with less alpha is a hole. */
const OPAQUE = 128;

export interface MeshTexture {
  /** File name without extension. */
  readonly name: string;
  readonly png: Uint8Array;
  readonly picture: Raster;
}

/** A mesh of which every triangle has corners of its own: triangle t has the vertices 3 t, 3 t + 1, 3 t + 2. */
export interface TexturedMesh extends WorldMesh {
  readonly normals: Float32Array;
  readonly colors: Float32Array;
  /** (2 V), v downwards; null without textures. */
  readonly uvs: Float32Array | null;
  /** (T) index in textures or NO_TEXTURE; null without textures. */
  readonly triangle_texture: Uint32Array | null;
  readonly textures: readonly MeshTexture[];
  /** (T). */
  readonly organ_codes: Uint32Array;
}

/** The triangles with one texture, or those without any. */
export interface TexturePart {
  readonly texture: MeshTexture | null;
  readonly triangles: Uint32Array;
}

/** The triangles by texture, those without one first; no part is empty. */
export function textureParts({ indices, triangle_texture, textures }: TexturedMesh): TexturePart[] {
  const all = Uint32Array.from({ length: indices.length / 3 }, (_, t) => t);
  if (!triangle_texture) return all.length > 0 ? [{ texture: null, triangles: all }] : [];
  const part = (texture: MeshTexture | null, index: number): TexturePart => ({
    texture,
    triangles: all.filter((t) => triangle_texture[t] === index),
  });
  return [part(null, NO_TEXTURE), ...textures.map(part)].filter(({ triangles }) => triangles.length > 0);
}

/** The values of the corners of some triangles, `size` numbers per corner. */
export function cornerValues(values: Float32Array, triangles: Uint32Array, size: number): Float32Array<ArrayBuffer> {
  const out = new Float32Array(3 * size * triangles.length);
  for (const [i, t] of triangles.entries()) out.set(values.subarray(3 * size * t, 3 * size * (t + 1)), 3 * size * i);
  return out;
}

/** Mean colour of the texels that are no holes, 0..1 sRGB. */
export function meanColor({ data }: Raster): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    if ((data[at + 3] ?? 0) < OPAQUE) continue;
    count += 1;
    for (const k of [0, 1, 2] as const) sum[k] += data[at + k] ?? 0;
  }
  return count > 0 ? [sum[0] / count / 255, sum[1] / count / 255, sum[2] / count / 255] : [0.5, 0.5, 0.5];
}

/** Colours of the vertices in which textures are replaced by their mean colour. */
export function paintedColors(mesh: TexturedMesh): Float32Array {
  const colors = mesh.colors.slice();
  for (const { texture, triangles } of textureParts(mesh)) {
    if (!texture) continue;
    const mean = meanColor(texture.picture);
    for (const t of triangles) for (let corner = 0; corner < 3; corner += 1) colors.set(mean, 9 * t + 3 * corner);
  }
  return colors;
}
