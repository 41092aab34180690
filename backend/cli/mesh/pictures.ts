import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { frameCamera, obliqueCamera } from "../drawing/camera.ts";
import { captionedPicture, framedPicture } from "../drawing/framed-picture.ts";
import { type DrawnMesh, drawMesh } from "../drawing/mesh-picture.ts";
import { VIEWS, viewFrame } from "../drawing/view-frame.ts";
import { meshBox, type WorldMesh } from "../meshes/mesh.ts";
import type { PageFigure } from "../report/page.ts";
import type { FolderRun } from "../run/folder-run.ts";

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

/** Directions to the viewer of the pictures that no axis is parallel to. */
const OBLIQUE: readonly { readonly name: string; readonly title: string; readonly from: Triple }[] = [
  { name: "southeast", title: "From the south-east, above", from: [0.7, -0.9, 0.75] },
  { name: "northwest", title: "From the north-west, above", from: [-0.7, 0.9, 0.75] },
];

/** The colour of a surface without one: light, so that shades are seen. */
const SURFACE = [0.86, 0.84, 0.8] as const;

/** The mesh from above, from two sides, and obliquely from two corners. */
export async function meshFigures(
  mesh: WorldMesh,
  longestPx: number,
  { progress, signal }: FolderRun,
): Promise<NamedFigure[]> {
  const box = meshBox(mesh);
  if (!box) return [];
  const drawn = painted(mesh);
  const figures: NamedFigure[] = [];
  const add = (figure: NamedFigure) => {
    figures.push(figure);
    progress.update(figures.length / (VIEWS.length + OBLIQUE.length));
  };
  for (const { name, title, from } of OBLIQUE) {
    const camera = obliqueCamera(from, mesh.vertices, longestPx);
    const raster = await drawMesh(drawn, camera, signal);
    add({ name, title, png: await captionedPicture(raster, { title, frame: camera }) });
  }
  for (const view of VIEWS) {
    const frame = viewFrame(view, box, longestPx);
    const raster = await drawMesh(drawn, frameCamera(frame), signal);
    const furniture = { title: view.title, frame, world_shift: mesh.origin, bar: null };
    add({ name: view.name, title: view.title, png: await framedPicture(raster, furniture) });
  }
  return figures;
}

function painted({ vertices, indices, normals, colors }: WorldMesh): DrawnMesh {
  return { vertices, indices, normals, colors: colors ?? vertices.map((_, i) => SURFACE[(i % 3) as 0 | 1 | 2]) };
}
