import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/terrain.ts";
import { isClearMedian } from "../run/clear-median.ts";
import type { DemCloud } from "./dem-cloud.ts";
import type { DemPlan } from "./grid.ts";
import type { DemSurface } from "./surface.ts";

/** Medians of scans that fit each other differ by 0.1 mm on slopes of 20 degrees (docs/accuracy.md); coarse coordinates and grass add to it. */
const MOST_HEIGHT_M = 0.01;
const MOST_NAMED = 3;

/** Whether a surface is that of ground points, and not of all, plants among them. */
export const isOfGround = ({ sources }: DemSurface, { surface }: DemPlan): boolean =>
  surface === "dtm" && sources.ground_source !== "all_points";

/** How high the ground of a DTM lies in one scan, or flight line, above another; empty for other surfaces. */
export async function groundOfScans(
  { positions, scans }: DemCloud,
  surface: DemSurface,
  plan: DemPlan,
  job: Job,
): Promise<readonly native.ScanHeight[]> {
  if (!isOfGround(surface, plan) || !scans) return [];
  const { frame, ground_skip } = surface;
  return job.quiet().track(() => native.scanHeights(positions, ground_skip, scans.values, frame));
}

const isClear = ({ z_m, spread_m, n_cells }: native.ScanHeight) =>
  isClearMedian(Math.abs(z_m), spread_m, n_cells, MOST_HEIGHT_M);

/** Warns of scans whose ground lies at another height. */
export function scanHeightWarnings(
  heights: readonly native.ScanHeight[],
  { scans }: Pick<DemCloud, "scans">,
): string[] {
  const clear = heights.filter(isClear).sort((a, b) => Math.abs(b.z_m) - Math.abs(a.z_m));
  if (clear.length === 0 || !scans) return [];
  const what = scans.is_flight_lines ? "flight lines" : "scans";
  const named = clear
    .slice(0, MOST_NAMED)
    .map(
      ({ scan_a, scan_b, z_m, n_cells }) =>
        `${scan_b} lies ${(100 * Math.abs(z_m)).toFixed(1)} cm ${z_m > 0 ? "above" : "below"} ${scan_a} (${n_cells} places)`,
    );
  const more = clear.length > MOST_NAMED ? `, and ${clear.length - MOST_NAMED} more` : "";
  return [
    `The ground has different heights in different ${what} (${scans.slug}): that of ${named.join(", ")}${more}; scan_heights has all. They do not fit each other, and the terrain follows the lower ones: move them onto each other first${scans.is_flight_lines ? "" : " (POST align_scans of a session with trees)"}.`,
  ];
}
