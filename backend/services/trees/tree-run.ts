import type { TreesReport, TreeTiling } from "../../../shared/contract/segment-trees.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/trees.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { heightsOf } from "./tree-heights.ts";
import type { TreesPlan } from "./tree-plan.ts";
import { chmReport, graphReport } from "./tree-report.ts";

export interface TreesOutcome {
  /** u32 per row. The run owns the column. */
  readonly labels: ColumnRef;
  readonly report: TreesReport;
  /** Null: method chm. */
  readonly tiling: TreeTiling | null;
}

/** Runs a plan. */
export async function labelTrees(plan: TreesPlan, job: Job): Promise<TreesOutcome> {
  const start = performance.now();
  const { positions, not_vegetation, not_ground, seeds } = plan.input;
  if ("chm" in plan) {
    const found = await job.track(() =>
      native.canopyCrowns(positions, not_vegetation, not_ground, seeds, plan.chm.params),
    );
    const labels = job.adopt(new ColumnRef(found.tree_instance));
    return { labels, report: { ...chmReport(plan, found), elapsed_s: elapsed(start) }, tiling: null };
  }
  const { tiles } = plan;
  const before = "params" in plan ? null : await heightsOf(plan.input, plan.terrain, job);
  const found = await job.track(() =>
    "params" in plan
      ? native.cutPursuitTrees(positions, not_vegetation, seeds, plan.params, tiles)
      : native.pathTrees(positions, not_vegetation, before as NativeColumn, seeds, tiles),
  );
  const labels = job.adopt(new ColumnRef(found.tree_instance));
  const heights = before ?? (plan.terrain ? await heightsOf(plan.input, plan.terrain, job) : null);
  const fusion = await job.track(() =>
    native.fusionWarning(positions, not_vegetation, labels.native, found.num_trees, heights),
  );
  const { report, tiling } = graphReport(plan, found, fusion);
  return { labels, report: { ...report, elapsed_s: elapsed(start) }, tiling };
}

const elapsed = (start: number) => (performance.now() - start) / 1000;
