import { isKnown } from "../../../shared/client/lad-profile.ts";
import type { LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { MeshInput } from "../view/cloud-view.ts";

/** More would fill the memory of the graphics card for no better picture. */
const MOST_SHOWN = 20_000;
const SHRINK = 0.8;
/** The corners of the twelve triangles of a cube of edge 1 about its centre, x, y, z in turn. */
const CUBE = [
  0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5,
].flatMap((corner) => [corner & 1, (corner >> 1) & 1, (corner >> 2) & 1].map((bit) => bit - 0.5));

/** Voxels with leaves as cubes, the darker the denser; those with the least area are left out where there are too many. */
export function voxelMesh(
  name: string,
  { cells, grid_center }: LadSuccess,
): { mesh: MeshInput | null; left_out: number } {
  const leafy = cells
    .filter((cell) => isKnown(cell) && cell.lad > 0)
    .sort((a, b) => b.lad - a.lad || a.index - b.index);
  const shown = leafy.slice(0, MOST_SHOWN);
  if (shown.length === 0) return { mesh: null, left_out: 0 };
  const dense = shown[Math.floor(shown.length / 20)]?.lad ?? 1; // the 95th percentile has the full colour
  const vertices = new Float32Array(shown.length * CUBE.length);
  const colours = new Float32Array(shown.length * CUBE.length);
  shown.forEach(({ center, size, lad }, i) => {
    const strength = Math.min(1, lad / dense);
    const colour = [0.85 - 0.8 * strength, 0.95 - 0.5 * strength, 0.65 - 0.55 * strength];
    CUBE.forEach((corner, k) => {
      const axis = k % 3;
      const middle = (center[axis] ?? 0) - (grid_center[axis] ?? 0);
      vertices[i * CUBE.length + k] = middle + SHRINK * corner * (size[axis] ?? 0);
      colours[i * CUBE.length + k] = colour[axis] ?? 0;
    });
  });
  return { mesh: { name, origin: grid_center, vertices, colours }, left_out: leafy.length - shown.length };
}
