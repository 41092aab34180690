import type { Job } from "../../jobs/job.ts";
import { coordinateStep } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Steps from which a circle of the points of a stem is too wide: 2 % of a diameter of 0.2 m, metres. */
const COARSE_M = 0.05;

/** Warns of coordinates that are rounded so much that diameters of stems are wrong. */
export async function coarseWarnings(positions: NativeColumn, skip: NativeColumn | null, job: Job): Promise<string[]> {
  const step = await job.quiet().track(() => coordinateStep(positions, skip));
  if (step < COARSE_M * (1 - 1e-3)) return [];
  return [
    `x and y come in steps of ${Number(step.toPrecision(3))} m: diameters are wrong by up to half a step and more. Use a file that keeps millimetres.`,
  ];
}
