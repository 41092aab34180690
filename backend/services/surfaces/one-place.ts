import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { cloudStats } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Beam origins within a box of this size are one place: the scanner stood still, metres. */
export const ONE_PLACE_M = 1e-3;

/** Requires that hits were seen from one place. `origins`: vec3d, one per row. Errors: invalid_argument, naming the scan. */
export async function requireOnePlace(
  name: string,
  { origins, skip }: { readonly origins: NativeColumn; readonly skip: NativeColumn | null },
  job: Job,
): Promise<void> {
  const { bounds } = await job.track(() => cloudStats(origins, skip));
  if (!bounds) return;
  const { min, max } = bounds;
  const extents = [max[0] - min[0], max[1] - min[1], max[2] - min[2]];
  if (Math.max(...extents) <= ONE_PLACE_M) return;
  throw new AppError(
    "invalid_argument",
    `${name} has beam origins up to ${Number(Math.hypot(...extents).toPrecision(3))} m apart, and hits seen from several places have no directions from one. Extract the scans of a file by the column scan_index (extract_by_column, exclude_values []) and send each with its own origin. A moving scan cannot be triangulated: use a triangulation of other scans, or a given G.`,
  );
}
