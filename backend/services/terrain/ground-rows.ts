import type { Job } from "../../jobs/job.ts";
import { clothSimulation } from "../../native/classify/ground.ts";
import * as cloud from "../../native/cloud/cloud.ts";
import * as edit from "../../native/cloud/edit.ts";
import * as masks from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { Bounds } from "../../native/files/readers.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";

/** The rows that a surface is computed from. */
export interface ChosenRows {
  /** u8 per row, non-zero = leave out. */
  readonly skip: NativeColumn | null;
  readonly count: number;
}

/** The hits whose value in `column` is one of `values`. */
export async function rowsWith(
  cloud_: DemCloud,
  column: NativeColumn,
  values: readonly number[],
  job: Job,
): Promise<ChosenRows> {
  const filter = { column, min: -Infinity, max: Infinity, values };
  const selected = await job.track(() =>
    edit.selectRows({ positions: cloud_.positions, regions: [], filters: [filter] }),
  );
  const mask = job.adopt(new ColumnRef(selected)).native;
  const others = [{ mask, invert: true }, ...(cloud_.skip ? [{ mask: cloud_.skip, invert: false }] : [])];
  const left = await job.track(() => masks.combineMasks(others, "or"));
  return { skip: job.adopt(new ColumnRef(left.mask)).native, count: cloud_.positions.length - left.count };
}

/** With fewer rows there is no surface. */
export const FEWEST = 3;

export interface GroundRows extends ChosenRows {
  readonly ground_source: "column" | "csf_auto" | "all_points";
  readonly warning?: string;
}

/** The ground points: from the labels, else from cloth simulation, else all hits. */
export async function groundRows(cloud_: DemCloud, segment: boolean, job: Job): Promise<GroundRows> {
  const { ground } = cloud_;
  const labelled = ground ? await rowsWith(cloud_, ground, [1], job) : null;
  if (labelled && labelled.count >= FEWEST) return { ...labelled, ground_source: "column" };
  const all = (why: string): GroundRows => ({
    skip: cloud_.skip,
    count: cloud_.hit_count,
    ground_source: "all_points",
    warning: `The terrain is computed from all points: ${why}.`,
  });
  if (labelled && cloud_.ground_is_given) return all(`the labels mark ${labelled.count} ground points, fewer than 3`);
  if (!segment) return all(labelled ? "fewer than 3 are labelled as ground" : "there is no ground class");
  const bounds = await boundsOf(cloud_, cloud_.skip, job);
  if (!bounds) return all("there are no hits to segment");
  try {
    const found = await job.track(() => clothSimulation(cloud_.positions, cloud_.skip, scaledCloth(bounds)));
    const column = job.adopt(new ColumnRef(found.ground_class)).native;
    if (found.num_ground < FEWEST)
      return all(`the ground filter found ${found.num_ground} ground points, fewer than 3`);
    return { ...(await rowsWith(cloud_, column, [1], job)), ground_source: "csf_auto" };
  } catch (error) {
    job.checkpoint();
    if ((error as { code?: string }).code !== "invalid_argument") throw error;
    return all(`the ground filter cannot run (${(error as Error).message})`);
  }
}

export async function boundsOf({ positions }: DemCloud, skip: NativeColumn | null, job: Job): Promise<Bounds | null> {
  return (await job.track(() => cloud.cloudStats(positions, skip))).bounds;
}

const clip = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));

/** Cloth parameters from the size of the cloud: contract terrain section 1.5. */
export function scaledCloth({ min, max }: Bounds): Parameters<typeof clothSimulation>[2] {
  const extent = Math.max(max[0] - min[0], max[1] - min[1]) || 1.5;
  const steep = (max[2] - min[2]) / extent >= 0.2;
  const cloth = steep ? clip(Math.min(extent / 200, 1), 0.05, 2) : clip(extent / 100, 0.05, 2);
  return {
    cloth_resolution: Math.max(cloth, extent / 600),
    rigidness: steep ? 1 : 3,
    class_threshold: steep ? 0.5 : clip(extent / 100, 0.02, 1),
    iterations: 500,
    slope_smooth: steep,
    auto_class_threshold: false,
    ignore_low_outliers: true,
    want_heights: false,
    tile_min_points: 4_000_000,
    tile_target_points: 3_000_000,
  };
}
