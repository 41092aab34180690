import type { TreesReport } from "../../../shared/contract/segment-trees.ts";
import type { CanopyCrowns } from "../../native/trees.ts";
import type { CheckedChm, ChmPlan } from "./tree-filter.ts";
import type { SortedTreeInput } from "./tree-input.ts";

/** Standard deviation of the smoothing of cpp/ops/trees/canopy_model.h, cells. */
const SMOOTH_SIGMA = 1;

const NAMED = 10;

/** The report on crowns found in a canopy height model. */
export function chmReport(
  filter: CheckedChm,
  { params, warnings }: ChmPlan,
  found: CanopyCrowns,
  input: SortedTreeInput,
  elapsed_s: number,
): TreesReport {
  const { cell_m, min_height_m, crown_scale_m } = params;
  return {
    num_trees: found.num_trees,
    method: filter.method,
    ground_warning: input.ground === null,
    fusion_warning: null,
    chm: {
      method: "chm",
      cell: cell_m,
      min_height: min_height_m,
      crown_scale: crown_scale_m,
      smooth_sigma: SMOOTH_SIGMA,
      ground_source: found.ground_given ? "ground_class" : "lowest_return",
      num_trees: found.num_trees,
    },
    params: { chm_cell: cell_m, chm_min_height: min_height_m, chm_crown_scale: crown_scale_m },
    non_finite: input.non_finite_count,
    warnings: [...warnings, ...seedWarnings(found.empty_seeds)],
    elapsed_s,
  };
}

/** A sentence that names the seeds without points. */
export function seedWarnings(empty: readonly number[]): string[] {
  if (empty.length === 0) return [];
  const named = empty.slice(0, NAMED).map((index) => index + 1);
  const more = empty.length > named.length ? ` and ${empty.length - named.length} more` : "";
  const which = empty.length === 1 ? "tree of seed" : "trees of seeds";
  return [`No points belong to the ${which} ${named.join(", ")}${more} (counted from 1).`];
}
