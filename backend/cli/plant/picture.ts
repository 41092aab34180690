import { obliqueCamera } from "../drawing/camera.ts";
import { captionedPicture } from "../drawing/framed-picture.ts";
import { drawMesh, SOFT_LIGHT } from "../drawing/mesh-picture.ts";
import type { TexturedMesh } from "../meshes/textured.ts";

/** Direction to the viewer: from the side, 12 degrees above the ground. */
const FROM = [0.5, -0.85, 0.21] as const;

/** A side view on white, with title and scale bar. */
export async function plantPicture(
  mesh: TexturedMesh,
  title: string,
  longestPx: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const camera = obliqueCamera(FROM, mesh.vertices, longestPx);
  const drawn = {
    ...mesh,
    triangle_image: mesh.triangle_texture,
    textures: mesh.textures.map(({ picture }) => picture),
  };
  const raster = await drawMesh(drawn, camera, signal, SOFT_LIGHT);
  return captionedPicture(raster, { title, frame: camera });
}
