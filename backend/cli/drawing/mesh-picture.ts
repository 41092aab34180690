import { pictureColumn, type RasterLight, rasterizeMesh } from "../../native/mesh-picture.ts";
import { type Camera, dot } from "./camera.ts";
import type { Raster } from "./render.ts";

/** Triangles to draw, in the frame of the camera's `center`. */
export interface DrawnMesh {
  /** (3 V) metres. */
  readonly vertices: Float32Array;
  /** (3 T). */
  readonly indices: Uint32Array;
  /** (3 V); without them every triangle is flat. */
  readonly normals?: Float32Array | null;
  /** (3 V) 0..1 sRGB, NaN = grey. */
  readonly colors?: Float32Array | null;
  /** (2 V), v downwards. */
  readonly uvs?: Float32Array | null;
  /** (T) index in textures, 0xffffffff = none. */
  readonly triangle_image?: Uint32Array | null;
  /** Pixels r g b a; those with an alpha below 128 are holes. */
  readonly textures?: readonly Raster[];
}

/** Samples per pixel and axis. */
const SAMPLES = 3;
/** x to the right, y downwards, z away from the viewer. */
export type PictureLight = Pick<RasterLight, "toward" | "ambient" | "is_smooth">;

/** From the upper left, behind the viewer. */
const LIGHT: PictureLight = {
  toward: [-0.45, -0.6, -0.75],
  ambient: 0.2,
  is_smooth: true,
};
/** For blades: leaves in the shade of the light keep their colour. */
export const SOFT_LIGHT: PictureLight = { toward: [-0.5, -0.9, -0.6], ambient: 0.35, is_smooth: false };
const WHITE = [255, 255, 255, 255] as const;

/** Draws a mesh in a parallel projection on white. Errors: the reason of an aborted signal. */
export async function drawMesh(
  mesh: DrawnMesh,
  camera: Camera,
  signal?: AbortSignal,
  light: PictureLight = LIGHT,
): Promise<Raster> {
  signal?.throwIfAborted();
  const columns: { release(): void }[] = [];
  const held = <T extends Float32Array | Uint32Array | Uint8Array>(values: T) => {
    const column = pictureColumn(values);
    columns.push(column);
    return column;
  };
  const optional = (values: Float32Array | Uint32Array | null | undefined) => (values ? held(values) : null);
  try {
    const painted = {
      vertices: held(mesh.vertices),
      indices: held(mesh.indices),
      normals: optional(mesh.normals),
      colors: optional(mesh.colors),
      uvs: optional(mesh.uvs),
      triangle_image: optional(mesh.triangle_image),
      textures: (mesh.textures ?? []).map(({ width, height, data }) => ({ width, height, rgba: held(data) })),
    };
    const job = rasterizeMesh(painted, rasterCamera(mesh, camera), { ...light, background: WHITE }, SAMPLES);
    const cancel = () => job.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const picture = await job.promise.finally(() => signal?.removeEventListener("abort", cancel));
    columns.push(picture.rgba, picture.depth, picture.triangles);
    const data = new Uint8Array(picture.rgba.bytes);
    picture.rgba.readInto(data, 0);
    return { width: camera.width_px, height: camera.height_px, data };
  } finally {
    for (const column of columns) column.release();
  }
}

function rasterCamera({ vertices }: DrawnMesh, { right, up, toward, center, ...camera }: Camera) {
  // Depths count from the nearest vertex, so that nothing lies behind the viewer.
  let nearest = -Infinity;
  for (let i = 0; i < vertices.length; i += 3) {
    const depth =
      toward[0] * (vertices[i] ?? 0) + toward[1] * (vertices[i + 1] ?? 0) + toward[2] * (vertices[i + 2] ?? 0);
    if (depth > nearest) nearest = depth;
  }
  const away = Number.isFinite(nearest) ? nearest : 0;
  return {
    view: [
      ...[...right, -dot(right, center)],
      ...[...up.map((value) => -value), dot(up, center)],
      ...[...toward.map((value) => -value), away],
    ],
    perspective: false,
    scale: 1 / camera.metres_per_px,
    near_m: -1e-3 * camera.width_px * camera.metres_per_px,
    width: camera.width_px,
    height: camera.height_px,
  };
}
