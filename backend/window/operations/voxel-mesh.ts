import type { LadCell, LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { MeshInput } from "../view/cloud-view.ts";

/** More would fill the memory of the graphics card for no better picture. */
const MOST_SHOWN = 20_000;
const SHRINK = 0.8;
const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, (i >> 2) & 1].map((bit) => bit - 0.5));
const TRIANGLES = [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5];

/** Voxels with leaves as cubes, the darker the denser; those with the least area are left out where there are too many. */
export function voxelMesh(name: string, { cells, grid_center }: LadSuccess): { mesh: MeshInput | null; left_out: number } {
  const leafy = cells.filter(({ lad }) => lad > 0).sort((a, b) => b.lad - a.lad || a.index - b.index);
  const shown = leafy.slice(0, MOST_SHOWN);
  if (shown.length === 0) return { mesh: null, left_out: 0 };
  const dense = shown[Math.floor(shown.length / 20)]?.lad ?? 1; // the 95th percentile has the full colour
  const vertices = new Float32Array(shown.length * 24);
  const colours = new Float32Array(shown.length * 24);
  const indices = new Uint32Array(shown.length * 36);
  shown.forEach((cell, i) => {
    writeCube(vertices, i, cell, grid_center);
    const strength = Math.min(1, cell.lad / dense);
    for (let corner = 0; corner < 8; corner += 1) {
      colours.set([0.85 - 0.8 * strength, 0.95 - 0.5 * strength, 0.65 - 0.55 * strength], i * 24 + corner * 3);
    }
    for (let j = 0; j < 36; j += 1) indices[i * 36 + j] = i * 8 + (TRIANGLES[j] ?? 0);
  });
  return { mesh: { name, origin: grid_center, vertices, indices, colours }, left_out: leafy.length - shown.length };
}

function writeCube(vertices: Float32Array, i: number, { center, size }: LadCell, origin: readonly number[]): void {
  CORNERS.forEach((corner, k) => {
    for (let axis = 0; axis < 3; axis += 1) {
      const middle = (center[axis] ?? 0) - (origin[axis] ?? 0);
      vertices[i * 24 + k * 3 + axis] = middle + SHRINK * (corner[axis] ?? 0) * (size[axis] ?? 0);
    }
  });
}
