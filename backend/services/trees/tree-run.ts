import type { TreesReport, TreeTiling } from "../../../shared/contract/segment-trees.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { flatTrees } from "../../native/flat-trees.ts";
import * as native from "../../native/trees.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { loneTopWarnings } from "./lone-tops.ts";
import { flatWarnings, wireWarnings } from "./no-trees.ts";
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
    const report = await withNoTrees(chmReport(plan, found), labels, plan, job);
    return { labels, report: { ...report, elapsed_s: elapsed(start) }, tiling: null };
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
  const { report: made, tiling } = graphReport(plan, found, fusion);
  const report = await withNoTrees(made, labels, plan, job);
  return { labels, report: { ...report, elapsed_s: elapsed(start) }, tiling };
}

const LEFT_OUT =
  "They are counted in num_trees; tree_inventory leaves them out of the stand. Delete such points first.";

/** A report that tells of trees that are walls, roofs, vehicles, wires, birds and noise. */
async function withNoTrees<Report extends Pick<TreesReport, "num_trees" | "warnings">>(
  report: Report,
  labels: ColumnRef,
  { input }: TreesPlan,
  job: Job,
): Promise<Report> {
  const { positions, not_vegetation } = input;
  const { flat, wires } = await job.quiet().track(() => flatTrees(positions, not_vegetation, labels.native));
  const lone = await loneTopWarnings(input, labels.native, report.num_trees, job.quiet());
  return {
    ...report,
    warnings: [
      ...report.warnings,
      ...flatWarnings(flat, report.num_trees, LEFT_OUT),
      ...wireWarnings(wires, report.num_trees, LEFT_OUT),
      ...lone,
    ],
  };
}

const elapsed = (start: number) => (performance.now() - start) / 1000;
