import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/lad-inversion.ts";
import { areLarge, edgeOf, type LadGrid } from "./grid.ts";

const metres = (value: number) => `${Number(value.toPrecision(3))} m`;

/** Density found in voxels over the true one of leaves of a width at random places; null if they are wider than a voxel. */
export async function elementGain(width: number, edges: LadGrid["edges"], job: Job): Promise<number | null> {
  if (!(width > 0)) return 1;
  if (width > Math.min(...edges)) return null;
  return job.quiet().track(() => native.elementGain({ width_m: width, voxel_size: edges }));
}

/** Beer's law takes leaves as small and placed at random. */
export function largeLeaves(width: number, grid: LadGrid, gain: number | null): string[] {
  const edge = edgeOf(grid);
  if (!areLarge(width, edge)) return [];
  const much = gain === null ? "more than a sixth" : `${(100 * (gain - 1)).toFixed(0)} %`;
  return [
    `Leaves of ${metres(width)} are large against voxels of ${metres(edge)}: no interval is valid, and at random places such leaves read too high by ${much}${gain === null ? "" : " (element_gain)"}; leaves in clumps read too low.`,
  ];
}
