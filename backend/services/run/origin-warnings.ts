import type { Job } from "../../jobs/job.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { type BeamRows, beamOriginWarnings } from "./beam-origins.ts";
import { farOriginWarnings } from "./far-origin.ts";
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
