import type { Job } from "../../jobs/job.ts";
import { belowCanopy, type Mask } from "../../native/terrain.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { isSurface, seenText } from "../terrain/below-canopy.ts";
import { HEIGHT_SLUG } from "../terrain/dem.ts";

/** Warns of trees in a cloud with heights above ground that saw nothing below its canopy. */
export async function surfaceWarnings(base: CloudState, skip: Mask, job: Job): Promise<string[]> {
  const heights = optionalExtra(base, HEIGHT_SLUG);
  if (!heights) return [];
  const found = await job.track(() => belowCanopy(positionsColumn(base), skip, heights));
  if (!isSurface(found)) return [];
  return [
    `${seenText(found)}. Such surfaces round off treetops and fill the gaps between crowns, and the terrain below is a guess: trees of generated forests were 0.5 to 1.4 m too low, their crowns 1.1 to 1.4 times too large; trees under others are missing.`,
  ];
}
