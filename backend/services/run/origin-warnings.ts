import type { Job } from "../../jobs/job.ts";
import type { FittedTrajectory } from "../../native/beam-origins.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { type BeamRows, beamOriginWarnings } from "./beam-origins.ts";
import { farOriginsWarnings, farOriginWarnings } from "./far-origin.ts";
import { pointsColumn } from "./points.ts";

interface StillScan extends Omit<BeamRows, "origins"> {
  /** Stored frame. */
  readonly origin: Triple;
  /** As it was sent. */
  readonly given: Triple;
}

/** Warns of an origin of a scanner that stood still: one far from its hits, and one that the beams do not come from. */
export async function originWarnings(scan: StillScan, job: Job): Promise<string[]> {
  const far = await farOriginWarnings(scan, job);
  if (far.length > 0) return far;
  const origins = job.adopt(pointsColumn([[...scan.origin]])).native;
  return beamOriginWarnings({ ...scan, origins }, { origin: scan.origin }, job);
}

/** The same of beam origins of the rows, which come from a trajectory or not. */
export async function rowOriginWarnings(
  rows: BeamRows,
  trajectory: FittedTrajectory | null,
  job: Job,
): Promise<string[]> {
  const far = await farOriginsWarnings(rows, rows.origins, job);
  return far.length > 0 ? far : beamOriginWarnings(rows, trajectory ? { trajectory } : {}, job);
}
