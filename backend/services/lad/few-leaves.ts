import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import type { Job } from "../../jobs/job.ts";
import { voxelViews } from "../../native/lad.ts";
import type { FewLeaves } from "../../native/lad-inversion.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { LadGrid } from "./grid.ts";
import type { VoxelG } from "./projection.ts";
import { allBeams, type ReadScan } from "./scans/scans.ts";

/** What the chance of the few leaves of a voxel depends on. Leaves are counted by their width; null without one. */
export async function fewLeaves(
  { element_width }: LadRequest,
  scans: readonly ReadScan[],
  g: VoxelG,
  { box }: LadGrid,
  job: Job,
): Promise<FewLeaves | null> {
  const mean = g.overall.reduce((sum, one) => sum + one, 0) / g.overall.length;
  if (!(element_width > 0 && mean > 0)) return null;
  const { cosine } = await g.hitCosine();
  const views = await job.quiet().track(() => voxelViews(allBeams(scans), box));
  return { views: job.adopt(new ColumnRef(views)).native, spread: Math.max(0, cosine / mean - 1) };
}
