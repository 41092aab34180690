import type { Job } from "../../jobs/job.ts";
import type { Mirror } from "../../native/classify/ground.ts";
import * as native from "../../native/classify/ground.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { CheckedGround } from "./ground-filter.ts";

interface Rows {
  readonly positions: NativeColumn;
  /** Rows that take no part. */
  readonly skip: NativeColumn | null;
}

/** What level surfaces mirror among points. */
export interface FoundImages {
  /** Rows that take no part, images among them. */
  readonly skip: NativeColumn | null;
  /** Images that `skip` leaves out. */
  readonly left_out: number;
  readonly mirrors: readonly Mirror[];
  readonly warnings: readonly string[];
}

const metres = (value: number) => value.toFixed(1);
const range = (name: string, [from, to]: readonly [number, number]) => `${name} ${metres(from)} to ${metres(to)}`;

const LEFT_OUT = "They are no ground and are labelled plant; if they are ground, send skip_images false.";
const LEFT_OUT_OF_TREES =
  "They are no ground; if they are, label the ground first (segment_ground with skip_images false).";
const KEPT = "Where the file labels them as ground, they are ground.";

function imageWarnings(mirrors: readonly Mirror[], effect: string): string[] {
  return mirrors.map(({ z, image_count, depth_m, x, y }) => {
    const where = `${image_count} points below z = ${metres(z)} m, down to ${metres(depth_m)} m below it (${range("x", x)} m, ${range("y", y)} m), are mirror images of what stands above: still water, or a wet or polished floor, turned the beams upwards.`;
    return `${where} ${effect} Delete them (delete_region or filter, z below ${metres(z)} there): other operations take them for points of the scene.`;
  });
}

async function found({ positions, skip }: Rows, effect: string, job: Job): Promise<FoundImages> {
  const { mirrors, is_image } = await job.track(() => native.mirrorImages(positions, skip));
  const warnings = imageWarnings(mirrors, effect);
  if (!is_image) return { skip, left_out: 0, mirrors, warnings };
  const images = job.adopt(new ColumnRef(is_image)).native;
  const left_out = mirrors.reduce((sum, { image_count }) => sum + image_count, 0);
  if (!skip) return { skip: images, left_out, mirrors, warnings };
  const terms = [skip, images].map((mask) => ({ mask, invert: false }));
  const { mask } = await job.track(() => combineMasks(terms, "or"));
  return { skip: job.adopt(new ColumnRef(mask)).native, left_out, mirrors, warnings };
}

/** What is left out of the ground that is found below trees. The run owns the mask. */
export const imagesBelowTrees = (rows: Rows, job: Job): Promise<FoundImages> => found(rows, LEFT_OUT_OF_TREES, job);

/** The images among the points of a ground filter, which las_classification labels as the file does. The run owns the mask. */
export async function imagesOf(rows: Rows, filter: CheckedGround, job: Job): Promise<FoundImages> {
  const none = { skip: rows.skip, left_out: 0 };
  if (!filter.skip_images) return { ...none, mirrors: [], warnings: [] };
  if (filter.method !== "las_classification") return found(rows, LEFT_OUT, job);
  return { ...(await found(rows, KEPT, job)), ...none };
}
