import type { QsmCylinder } from "../../../shared/contract/qsm-records.ts";

/** How far cylinders run along x, y and z, as shares of their length, weighed by their volume. */
export type Runs = readonly [number, number, number];

/** Wood of standing trees and plants rises by 0.71 to 0.96 of its length. */
const LYING_RISE = 0.45;
const ALONG = 0.65;

/** NaN for a model without volume. */
export function runsOf(
  count: number,
  cylinder: (index: number) => Pick<QsmCylinder, "start" | "end" | "radius">,
): Runs {
  const along = [0, 0, 0];
  let weight = 0;
  for (let i = 0; i < count; i += 1) {
    const { start, end, radius } = cylinder(i);
    const run = [0, 1, 2].map((k) => Math.abs((end[k] ?? 0) - (start[k] ?? 0)));
    for (const k of [0, 1, 2]) along[k] = (along[k] ?? 0) + radius ** 2 * (run[k] ?? 0);
    weight += radius ** 2 * Math.hypot(...run);
  }
  return along.map((sum) => sum / weight) as unknown as Runs;
}

/** Warns of a tree whose wood lies: its base is the end of a limb, unless z does not point upwards. */
export function lyingWoodWarnings(runs: Runs): string[] {
  const [x, y, z] = runs;
  const most = Math.max(x, y);
  if (!(z < LYING_RISE && most > ALONG)) return [];
  const axis = x === most ? "x" : "y";
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  return [
    `The wood lies along ${axis}: weighed by volume, its cylinders run along ${axis} by ${percent(most)} of their length and rise by ${percent(z)}. The lowest point of a lying tree is no base: ranks, angles, radii and volumes are wrong. If it stood, ${axis} or -${axis} points upwards in the file, not z: turn the cloud (POST transform) and build the model again.`,
  ];
}
