import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import type { CaptureRecaptureArea } from "../../../shared/contract/lad-views.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/capture-recapture.ts";
import { numbersColumn } from "../run/points.ts";
import type { LadGrid } from "./grid.ts";
import type { VoxelG } from "./projection.ts";
import type { ReadScan } from "./scans/scans.ts";
import { staticOrigin } from "./triangulation.ts";

const refused = (message: string) => new AppError("invalid_argument", `capture_recapture ${message}`);

/** Errors: invalid_argument for scans that do not show which of them see a place. */
export function checkViews({ capture_recapture, scans }: LadRequest): void {
  if (!capture_recapture) return;
  if (scans.length < 2) throw refused("needs at least two scans: one does not tell what others would see.");
  const named = (scan: LadRequest["scans"][number]) => scan.label ?? `scan ${scans.indexOf(scan) + 1}`;
  const multi = scans.find(({ return_type }) => return_type === "multi");
  if (multi)
    throw refused(`needs return_type single, and ${named(multi)} is multi: parts of a beam see different places.`);
  const moving = scans.find(({ trajectory }) => trajectory);
  if (moving) throw refused(`needs scanners that stand still, and ${named(moving)} has a trajectory.`);
}

/**
 * Leaf area in the grid by the scanners that see it. Errors: invalid_argument for a scan with several beam origins, and for
 * noise that leaves no G in triangles.
 */
export async function leafAreaByViews(
  { capture_recapture, element_width }: LadRequest,
  scans: readonly ReadScan[],
  g: VoxelG & { readonly common_error: number },
  { box }: LadGrid,
  job: Job,
): Promise<{ readonly area: CaptureRecaptureArea | null; readonly warnings: readonly string[] }> {
  if (!capture_recapture) return { area: null, warnings: [] };
  const { range_noise_m } = capture_recapture;
  job.stage("Comparing what the scanners see", 0.9, 0.92);
  const viewed: native.ViewedScan[] = [];
  for (const scan of scans) {
    const origin = await staticOrigin(scan, job.quiet());
    if (!origin) throw refused(`needs scanners that stand still, and ${scan.notes.name} has several beam origins.`);
    const { beams, misses, labels } = scan;
    const rows = [{ ...rowsOf(beams), is_leaf: labels?.leaf ?? null }, ...(misses ? [rowsOf(misses)] : [])];
    viewed.push({ origin, rows });
  }
  const column = job.adopt(numbersColumn([...g.overall])).native;
  const leaf_width_m = Math.max(0, element_width);
  const found = await job.track(() => native.captureRecapture(viewed, box, { g: column, range_noise_m, leaf_width_m }));
  if (g.profile === null && range_noise_m > found.spacing_m && found.hit_count > 0)
    throw noisyTriangles(range_noise_m, found.spacing_m);
  const area = {
    leaf_area: found.leaf_area_m2,
    ...NO_INTERVAL,
    seen_leaf_area: found.seen_m2,
    seen_by: [...found.seen_by_m2],
    agreement: found.agreement,
    hit_count: found.hit_count,
    spacing: found.spacing_m,
    gtheta: [...g.overall],
  };
  const warnings = viewWarnings(area, element_width, scans.length);
  return { area: warnings.length > 0 ? area : { ...area, ...viewInterval(found, g.common_error) }, warnings };
}

/**
 * Of the width of a leaf: what a beam meets beside a place tells less of it the farther beams are apart. Simulated trees with leaves of
 * 5 cm, true G: .99 to 1.06 of the leaf area with beams 5 mm apart, .97 to 1.03 with 1 cm, .93 to .98 with 2 cm, .89 to .95 with 4 cm.
 */
const WIDEST_SPACING = 0.5;
/**
 * Chao's estimate of what no scanner sees is a lower bound, near the truth where little is hidden. Simulated trees: up to .05 of the
 * leaf area with four scanners; stands, four scanners: .13 to .23, and .82 of the leaf area.
 */
const MOST_UNSEEN = 0.1;

/**
 * Scans fit where another scanner has a hit at a place that it sees about as often as a beam beside the first one. Simulated trees:
 * 1.3 to 1.7 as scanned, 1.0 with 5 mm of noise, 1.0 to 1.4 with scans or leaves moved by 2 mm, .01 to .67 with 10 mm and more.
 * Leaves that are wide against the distance of the beams: up to 1.
 */
const LEAST_AGREEMENT = 0.9;
const NO_INTERVAL = { leaf_area_ci_lower: null, leaf_area_ci_upper: null };

/** Half width of a 95 % interval in standard deviations. */
const Z95 = 1.96;

/** The interval of the views with the standard error of G, a part of it. */
export function viewInterval(
  { leaf_area_m2, upper_m2 }: Pick<native.CaptureRecapture, "leaf_area_m2" | "upper_m2">,
  g_error: number,
) {
  if (leaf_area_m2 === null || upper_m2 === null) return NO_INTERVAL;
  const half = Math.hypot(upper_m2 - leaf_area_m2, Z95 * g_error * leaf_area_m2);
  return { leaf_area_ci_lower: Math.max(0, leaf_area_m2 - half), leaf_area_ci_upper: leaf_area_m2 + half };
}

const noisyTriangles = (noise: number, spacing: number) =>
  refused(
    `needs gtheta_override: the ranges have more noise (${noise} m) than there is between two beams (${Number(spacing.toPrecision(2))} m), which turns the triangles, so that G comes out far too low.`,
  );

function viewWarnings(
  { leaf_area, seen_leaf_area, hit_count, agreement, spacing }: CaptureRecaptureArea,
  leaf_width: number,
  scans: number,
): string[] {
  if (hit_count === 0) return ["No hit on a leaf lies in the grid: there is no leaf area by views."];
  if (leaf_area === null)
    return ["No place is seen by two scanners: what none sees, and so the leaf area by views, is unknown."];
  const told: string[] = [];
  if (agreement !== null && agreement < LEAST_AGREEMENT)
    told.push(
      `The scanners do not see the same leaves at the same places (agreement ${agreement.toFixed(2)}; 1 to 1.7 in simulated trees that stood still): scans lie beside each other, their ranges have more noise than range_noise_m says, or wind moved leaves between them. In simulated trees 5 to 20 mm of it made leaf area by views up to 28 % too large, 5 to 10 cm up to 21 % too small; it has no interval. Leaf area of voxels does not compare scanners.`,
    );
  if (leaf_width > 0 && spacing > WIDEST_SPACING * leaf_width)
    told.push(
      `Beams are ${Number(spacing.toPrecision(2))} m apart where they meet leaves, which are ${Number(leaf_width.toPrecision(2))} m wide (element_width): a beam beside a place hardly tells whether a scanner sees it, and leaf area by views reads low (in simulated trees by 2 to 7 % with 2 cm, by 5 to 11 % with 4 cm). It has no interval; scan more densely, or nearer.`,
    );
  const unseen = 1 - seen_leaf_area / leaf_area;
  if (scans > 2 && unseen > MOST_UNSEEN)
    told.push(
      `At least ${(100 * unseen).toFixed(0)} % of the leaf area by views is seen by no scanner. The estimate of such leaves is a lower bound (Chao 1987) that is near the truth where little is hidden: in simulated stands with 13 to 23 % it made up for about half of what was missing. It has no interval; more scanners show more.`,
    );
  if (scans <= 2)
    told.push(
      "Two scans give the leaf area by views no interval; they missed it by up to 12 % in simulated trees, 27 % in dense cubes of leaves (LAD 2).",
    );
  return told;
}

/** Hits and misses of a scan, of which every hit may be a leaf. */
export const rowsOf = ({ positions, shift, is_miss, deleted }: ReadScan["beams"]): native.ViewRows => ({
  positions,
  shift,
  is_miss,
  deleted,
  is_leaf: null,
});
