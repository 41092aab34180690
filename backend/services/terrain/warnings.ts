import type { DemRequest } from "../../../shared/contract/dem.ts";
import type { RasterFrame } from "../../native/terrain.ts";
import { unitDoubt } from "../run/unstated-units.ts";
import type { SurfaceType } from "./grid.ts";

/** Rounding moves a vertex by at most half a step; steps up to a hundredth of a cell are invisible. */
const COARSEST_STEP_CELLS = 0.01;

/** Warns of coordinates too large for the float32 vertices of the mesh. */
export function vertexWarnings({ min_x, min_y, cell, nx, ny }: RasterFrame): string[] {
  const largest = Math.max(...[min_x, min_x + nx * cell, min_y, min_y + ny * cell].map(Math.abs));
  const step = 2 ** (Math.floor(Math.log2(largest)) - 23);
  if (!(step > COARSEST_STEP_CELLS * cell)) return [];
  return [
    `At coordinates up to ${largest.toFixed(0)} m, the 32-bit vertices of the mesh have steps of ${Number(step.toPrecision(3))} m, with cells of ${Number(cell.toPrecision(4))} m. grid_z with grid_origin is not affected; for an exact mesh, work nearer to the origin (world_shift of a session).`,
  ];
}

/** Warns of labels that are left out because there are more or fewer of them than points. */
export function wrongLengths(request: DemRequest, points: number): string[] {
  return (["ground_labels", "first_return_labels", "intensity"] as const).flatMap((name) => {
    const count = request[name]?.length ?? points;
    return count === points ? [] : [`${name} has ${count} values for ${points} points; it was ignored.`];
  });
}

/** Warns of an option of the DTM in a request for another surface. */
export function dtmOnly(option: string, asked: boolean, surface: SurfaceType): string[] {
  return asked && surface !== "dtm" ? [`${option} belongs to surface_type dtm; it was ignored for ${surface}.`] : [];
}

/** Half of the ground's returns this far above a terrain are told, metres. */
const MOST_ABOVE_M = 0.03;

export function lowTerrainWarnings(above_m: number, percentile: number): string[] {
  if (!(above_m > MOST_ABOVE_M && percentile < 50)) return [];
  return [
    `Half of the ground's returns lie more than ${(100 * above_m).toFixed(1)} cm above the terrain, whose cells have percentile ${percentile} of their heights (ground_percentile). If that is noise of the ranges and not low plants, the terrain is that much too low; 50 takes the middle.`,
  ];
}

/** No building is as high (Burj Khalifa: 828 m), and no tree. */
const HIGHEST_M = 1000;
/** Few trees are as high, and few buildings. */
const TALL_M = 100;

/** Warns of a canopy that cannot be: strays, or a unit that is not the metre. */
export function canopyWarnings(surface: SurfaceType, highest: number, unit_is_stated: boolean): string[] {
  if (surface !== "chm" || !(highest > TALL_M)) return [];
  if (highest <= HIGHEST_M)
    return unit_is_stated
      ? []
      : [`The canopy is up to ${highest.toFixed(0)} m high, as few trees and buildings are.${unitDoubt(false)}`];
  return [
    `The canopy is up to ${highest.toFixed(0)} m high, higher than any tree or building: there are stray points (label noise first), or the coordinates are not metres. Import with source_units to convert them.`,
  ];
}
