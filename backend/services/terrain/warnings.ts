import type { RasterFrame } from "../../native/terrain.ts";
import type { SurfaceType } from "./grid.ts";

/** Vertices are moved by at most half a step; a hundredth of a cell cannot be seen. */
const COARSEST_STEP_CELLS = 0.01;

/** What an answer says about a mesh whose coordinates are too large for the float32 of its vertices. */
export function vertexWarnings({ min_x, min_y, cell, nx, ny }: RasterFrame): string[] {
  const largest = Math.max(...[min_x, min_x + nx * cell, min_y, min_y + ny * cell].map(Math.abs));
  const step = 2 ** (Math.floor(Math.log2(largest)) - 23);
  if (!(step > COARSEST_STEP_CELLS * cell)) return [];
  return [
    `Coordinates up to ${largest.toFixed(0)} m leave the 32-bit vertices of the mesh steps of ${Number(step.toPrecision(3))} m, with cells of ${Number(cell.toPrecision(4))} m. grid_z with grid_origin is not affected; for an exact mesh work nearer to the origin (world_shift of a session).`,
  ];
}

/** An option of the DTM that was asked of another surface. */
export function dtmOnly(option: string, asked: boolean, surface: SurfaceType): string[] {
  return asked && surface !== "dtm" ? [`${option} belongs to surface_type dtm; it was ignored for ${surface}.`] : [];
}
