import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { cloudStats } from "../../native/cloud/cloud.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { LONE_RETURNS_CELL_BYTES, loneReturns } from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { SortedTreeInput, TreeInput } from "./tree-input.ts";
import { numberedRows } from "./tree-noise.ts";

/** Of each cell the highest hits are looked at; wider ones where the extent would have too many, metres. */
const CELL_M = 1;

function cellsOver([width, depth]: readonly [number, number]) {
  const widest = (4 * Math.max(width, depth)) / MAX_DEM_CELLS; // so many along one side, and as many in all
  const cell = Math.max(CELL_M, widest, Math.sqrt((4 * width * depth) / MAX_DEM_CELLS));
  const cells = (length: number) => Math.max(1, Math.ceil(length / cell));
  return { cell, nx: cells(width), ny: cells(depth) };
}

/** Most bytes that loneTopWarnings needs beside its points. */
export function loneTopBytes({ extent, hit_count }: Pick<SortedTreeInput, "extent" | "hit_count">): number {
  const { nx, ny } = cellsOver(extent);
  return LONE_RETURNS_CELL_BYTES * nx * ny + 3 * hit_count;
}

/** Warns of trees whose tops, or all, are birds and noise; `labels`: tree numbers of the rows. */
export async function loneTopWarnings(
  { positions, skip }: TreeInput,
  labels: NativeColumn,
  num_trees: number,
  job: Job,
): Promise<string[]> {
  if (num_trees === 0) return [];
  const { bounds } = await job.track(() => cloudStats(positions, skip));
  if (!bounds) return [];
  const { min, max } = bounds;
  const frame = { min_x: min[0], min_y: min[1], ...cellsOver([max[0] - min[0], max[1] - min[1]]) };
  const found = await job.track(() => loneReturns(positions, skip, null, frame, "highest"));
  const alone = job.adopt(new ColumnRef(found.skip)).native;
  if (found.count === 0) return [];
  const numbered = await numberedRows(positions, labels, job);
  const terms = [
    { mask: numbered, invert: false },
    { mask: alone, invert: false },
  ];
  const both = await job.track(() => combineMasks(terms, "and"));
  job.adopt(new ColumnRef(both.mask));
  if (both.count === 0) return [];
  const [returns, stand] = both.count === 1 ? ["return", "stands"] : ["returns", "stand"];
  return [
    `${both.count} ${returns} with a tree number ${stand} alone, more than 2 m from all but one other: birds, insects, clouds, drops and noise, or thin leaders. Trees below them are too high, and those that have few other points are no trees, but counted in num_trees. Label noise first (denoise), then the ground and the trees.`,
  ];
}
