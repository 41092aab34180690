import type { SpacingVerdict } from "../../../shared/contract/triangulate-lidar.ts";
import { AppError } from "../../../shared/errors.ts";
import { BRIDGING_RATIO } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { pointSpacing } from "../../native/cloud/cloud.ts";
import { stridePoints } from "../../native/surfaces.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { readScan, rowsOf, SCAN_ROW_BYTES, type ScanPoints } from "./scan-points.ts";
import { type CheckedScans, gridOf } from "./scan-triangulation.ts";

/** Points whose nearest neighbour is searched. */
const MAX_SAMPLES = 200_000;
/** Bytes per point: pooled, and the search tree. */
const SPACING_BYTES = 24 + 40;

/** Compares lmax with the spacing of the points inside the grid. A failure is an answer; a cancel is thrown. */
export async function checkSpacing(checked: CheckedScans, deps: Deps, job: Job): Promise<SpacingVerdict> {
  const { lmax } = checked.request;
  const warnings = unknownKeyWarnings(checked.unknown_keys);
  const known = { n_points: 0 };
  try {
    const bytes = (SCAN_ROW_BYTES + SPACING_BYTES) * rowsOf(checked.sources);
    const { median, notes } = await deps.admission.run(job, "Spacing check", bytes, () => spacing(checked, known, job));
    const ratio = lmax / median;
    const likely_bridging = ratio >= BRIDGING_RATIO;
    return {
      success: true,
      median_spacing: median,
      lmax,
      ratio,
      n_points: known.n_points,
      likely_bridging,
      message: message(lmax, median, likely_bridging),
      warnings: [...warnings, ...notes],
      error: null,
    };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message: error } = fromNative(raw);
    const nothing = { median_spacing: null, ratio: null, likely_bridging: false, message: null };
    return { success: false, ...nothing, lmax, n_points: known.n_points, warnings, error, code };
  }
}

function message(lmax: number, median: number, bridging: boolean): string {
  const found = `Lmax ${lmax} m is ${(lmax / median).toPrecision(3)} times the median spacing of ${median.toPrecision(3)} m`;
  return bridging
    ? `${found}: triangles probably bridge gaps between surfaces. Use a smaller Lmax, near 1 to 1.5 times the spacing.`
    : `${found}: plausible.`;
}

async function spacing(checked: CheckedScans, known: { n_points: number }, job: Job) {
  const grid = gridOf(checked.request, job);
  job.stage("Reading scans", 0.05, 0.4);
  const scans: ScanPoints[] = [];
  for (const source of checked.sources) scans.push(await readScan(source, { grid, for_directions: false }, job));
  const parts = scans.map(({ points }) => points);
  const pooled = job.adopt(new ColumnRef(await job.track(() => stridePoints(parts, 1))));
  known.n_points = pooled.length;
  if (pooled.length === 0) {
    throw new AppError("invalid_argument", grid ? "There are no points inside the grid." : "There are no points.");
  }
  if (pooled.length < 2) throw new AppError("invalid_argument", "One point has no spacing: at least 2 are needed.");
  job.stage("Measuring point spacing", 0.4, 1);
  const found = await job.track(() => pointSpacing(pooled.native, null, { max_samples: MAX_SAMPLES, seed: null }));
  const median = found.distinct_median_m;
  if (median === null) throw new AppError("invalid_argument", "All points lie at one place: all distances are zero.");
  return { median, notes: found.warnings };
}
