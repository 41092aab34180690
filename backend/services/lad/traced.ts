import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import type * as native from "../../native/lad.ts";
import type { OpticalSums } from "../../native/lad-inversion.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { beamColumns } from "./beam-projection.ts";
import type { LadGrid } from "./grid.ts";
import { meshG, type ProjectionPlan, prescribedG, type VoxelG } from "./projection.ts";
import { equalWeightWarnings, requireEnergies, sharedScans } from "./return-weights.ts";
import { RECOVER } from "./scans/scan-warnings.ts";
import { type ReadScan, tracedBeams } from "./scans/scans.ts";
import { triangulatedG } from "./triangulation.ts";

/** Errors: invalid_argument, naming the scans without misses that can be traced. */
function requireMisses(scans: readonly ReadScan[], { scans: counts }: native.TracedBeams): void {
  for (const [i, { notes }] of scans.entries()) {
    const { miss_count = 0, unusable_miss_count = 0 } = counts[i] ?? {};
    if (miss_count > 0 || unusable_miss_count === 0) continue;
    throw new AppError(
      "invalid_argument",
      `${notes.name} has ${unusable_miss_count} misses, all without a direction, as empty cells of a PTX file, so transmitted beams cannot be counted: ${RECOVER}.`,
    );
  }
  const without = scans.filter((_, i) => (counts[i]?.miss_count ?? 0) === 0).map(({ notes }) => notes.name);
  if (without.length === 0) return;
  const [names, verb] = [without.slice(0, 10).join(", "), without.length === 1 ? "has" : "have"];
  throw new AppError(
    "invalid_argument",
    `${names} ${verb} no miss points, so transmitted beams cannot be counted: run Backfill Misses first, or re-import a format that keeps misses.`,
  );
}

/** The beams with G, and how the returns were weighed. */
export interface WeighedBeams {
  readonly traced: native.TracedBeams;
  /** Those that were traced. */
  readonly scans: readonly ReadScan[];
  readonly g: VoxelG;
  /** The same beams with each their own G; null = that of the voxel for all. */
  readonly optical: OpticalSums | null;
  readonly hit_cosine: number | null;
  readonly warnings: readonly string[];
}

/** Phases of traceBeams. */
export const TRACING = [
  { name: "Tracing beams", weight: 1 },
  { name: "Summing up voxels", weight: 2 },
];

export async function tracedAlike(
  request: LadRequest,
  projection: ProjectionPlan,
  scans: readonly ReadScan[],
  grid: LadGrid,
  job: Job,
): Promise<WeighedBeams> {
  const end = projection.from !== "values" ? 0.55 : projection.per_beam ? 0.62 : 0.8;
  job.stage("Building voxel grid", 0.45, end, TRACING);
  const traced = await tracedBeams(scans, grid, job);
  requireMisses(scans, traced);
  const g = await voxelG(request, projection, { traced, scans }, grid, job);
  const optical = await opticalSums(scans, g, grid, job);
  return { traced, scans, g, optical, hit_cosine: null, warnings: equalWeightWarnings(traced) };
}

/** The shares of the returns depend on G, so the beams are traced through whole columns first, then through the voxels. */
export async function tracedByEnergy(
  request: LadRequest,
  projection: ProjectionPlan,
  scans: readonly ReadScan[],
  grid: LadGrid,
  job: Job,
): Promise<WeighedBeams> {
  requireEnergies(scans);
  const columns: LadGrid = { ...grid, box: { ...grid.box, nz: 1 } };
  const seen = await tracedBeams(scans, columns, job.quiet());
  seen.sums.release();
  requireMisses(scans, seen);
  const g = await voxelG(request, projection, { traced: seen, scans }, grid, job);
  const { cosine, warnings } = await g.hitCosine();
  const shared = await sharedScans(scans, seen, cosine, grid, job.quiet());
  const [from, to] = !g.beams ? [0.7, 0.8] : g.beams.voxels ? [0.7, 0.75] : [0.55, 0.62];
  job.stage("Building voxel grid", from, to, TRACING);
  const traced = await tracedBeams(shared.scans, grid, job);
  const optical = await opticalSums(shared.scans, g, grid, job);
  return { traced, scans: shared.scans, g, optical, hit_cosine: cosine, warnings: [...warnings, ...shared.warnings] };
}

/** Traces the beams once more if each has its own G. */
async function opticalSums(
  scans: readonly ReadScan[],
  { beams }: VoxelG,
  grid: LadGrid,
  job: Job,
): Promise<OpticalSums | null> {
  if (!beams) return null;
  const { factors, g } = beamColumns(beams, job);
  job.stage("Building voxel grid", beams.voxels ? 0.75 : 0.62, 0.8, TRACING);
  const traced = await tracedBeams(scans, grid, job, factors);
  if (traced.reach) job.adopt(new ColumnRef(traced.reach));
  return { sums: job.adopt(new ColumnRef(traced.sums)).native, g };
}

async function voxelG(
  request: LadRequest,
  projection: ProjectionPlan,
  { traced, scans }: { readonly traced: native.TracedBeams; readonly scans: readonly ReadScan[] },
  grid: LadGrid,
  job: Job,
): Promise<VoxelG> {
  if (projection.from === "values") return prescribedG(projection, traced, grid.box.nz, job);
  if (projection.from === "mesh") {
    job.stage("Reusing triangulation", 0.55, 0.8);
    return meshG(request, grid, job);
  }
  job.stage("Triangulating hit points", 0.55, 0.7);
  return triangulatedG(request, projection.per_beam, scans, grid, traced.zenith_count, job);
}
