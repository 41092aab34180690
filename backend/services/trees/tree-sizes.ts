import { availableParallelism } from "node:os";
import { AppError } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as edit from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Of class_counts: rows that are sorted at once, and the counts of a thread. */
const SORTED_BYTES = 24 * 4 * MIB;
const THREAD_BYTES = 8 * MIB;

export interface TreeSizes {
  /** Of all trees. */
  readonly rows: number;
  /** Points of the largest. */
  readonly largest: number;
}

interface Wanted {
  /** u8, non-zero = leave out; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  /** Points of trees are left out as noise. */
  readonly has_noise: boolean;
}

/** How many points the trees of a column have; counted when there is memory for it. Errors: invalid_argument without a tree. */
export async function treeSizes(
  trees: NativeColumn,
  { skip, has_noise }: Wanted,
  { admission }: Pick<Deps, "admission">,
  job: Job,
): Promise<TreeSizes> {
  const bytes = SORTED_BYTES + THREAD_BYTES * (job.threads || availableParallelism());
  const { values, counts } = await admission.run(job, "Tree sizes", bytes, () =>
    job.quiet().track(() => edit.classCounts(trees, skip)),
  );
  const sizes = counts.filter((_, i) => (values[i] ?? 0) > 0);
  if (sizes.length === 0)
    throw new AppError(
      "invalid_argument",
      has_noise
        ? "No point has a tree: all points with a tree number are labelled as noise. Send skip_noise false, or remove the labels."
        : "No point has a tree: all values of tree_instance are 0. Run Segment Trees first.",
    );
  return {
    rows: sizes.reduce((sum, count) => sum + count, 0),
    largest: sizes.reduce((most, count) => Math.max(most, count), 0),
  };
}
