import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import type { DemPlan } from "./grid.ts";
import type { DemSurface } from "./surface.ts";

/** Fewer cells of closed canopy, or a smaller part of all, say nothing. */
const FEWEST_CELLS = 100;
const LEAST_PART = 0.05;
/** Laser scans see below the canopy in more of its cells, photos in hardly any (docs/accuracy.md, "Clouds made of photos"). */
const LEAST_SEEN = 0.2;

/** The part of the closed canopy below which something was seen, 0..1; null = there is hardly any closed canopy. */
export const seenShare = ({ cells, closed, seen }: native.BelowCanopy): number | null =>
  closed >= FEWEST_CELLS && closed >= LEAST_PART * cells ? seen / closed : null;

/** Whether a cloud with closed canopy is a surface without anything below it. */
export const isSurface = (found: native.BelowCanopy): boolean => (seenShare(found) ?? 1) < LEAST_SEEN;

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

/** What was seen, and where canopy is closed. */
export const seenText = (found: native.BelowCanopy): string =>
  `Closed canopy covers ${percent(found.closed / found.cells)} of the area, and in ${percent(found.seen / found.closed)} of it a point lies below it: the cloud is a surface, as photos give`;

/** How far a scan saw below the canopy, by the terrain of a DTM or CHM; null for another surface. */
export async function belowCanopy(
  { positions, skip }: DemCloud,
  { frame, grid, under, sources }: DemSurface,
  { surface }: DemPlan,
  job: Job,
): Promise<native.BelowCanopy | null> {
  if (surface === "dsm" || sources.ground_source === "all_points") return null;
  const terrain: NativeColumn = under?.z ?? grid;
  const above = await job.track(() => native.heightAboveGround(positions, skip, frame, terrain));
  const heights = job.adopt(new ColumnRef(above)).native;
  return await job.track(() => native.belowCanopy(positions, skip, heights));
}

/** Warns of a terrain, or of heights above it, where nothing was seen below the canopy. */
export function belowCanopyWarnings(found: native.BelowCanopy | null): string[] {
  if (!found || !isSurface(found)) return [];
  return [
    `${seenText(found)} (seen_below_canopy). The terrain below it is drawn between its gaps, and may be metres too high; heights above it are too low by as much. Merge ground points of a laser scan of the place, label them, and compute the terrain from them.`,
  ];
}
