import type { ScanMove } from "../../../shared/contract/cloud-session/align-scans.ts";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { OctreeBlock } from "../../../shared/contract/octree.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { CloudPart } from "../run/inputs.ts";
import type { InventoryOptions } from "./options.ts";
import { type LabelledPlot, labelPlot, measurePlot } from "./steps.ts";

/** A plot and its trees. */
export interface PlotTrees {
  readonly plot: LabelledPlot;
  readonly list: TreeInventoryTail;
  /** How scans were moved; empty: they were not. */
  readonly scans_moved: readonly ScanMove[];
}

/** Labels and measures a plot; once more with its scans moved, if they do not fit each other. */
export async function plotTrees(
  cloud: CloudPart,
  options: InventoryOptions,
  run: FolderRun,
  lap: (name: string) => void,
): Promise<PlotTrees> {
  const plot = await labelPlot(cloud, options, run);
  lap("label");
  const list = await measurePlot(plot, options, run);
  lap("measure");
  const asItIs = { plot, list, scans_moved: [] };
  if (!list.view_fit?.aligned || plot.method === "one_tree" || plot.is_airborne) return asItIs;
  run.progress.stage("5/6 Moving scans onto each other");
  const { session_id } = plot.tail;
  const moved = await run.client.alignScans(session_id, { skip_noise: plot.skip_noise }, shown(run));
  if (!moved.aligned) return asItIs;
  const tail = { ...cloud.tail, ...OctreeBlock.parse(moved) };
  const again = await labelPlot({ ...cloud, tail }, options, run);
  const found = await measurePlot(again, options, run);
  lap("align");
  const most = Math.max(...moved.scans.map(({ most_m }) => most_m));
  const told = `Scans, or visits of a scanner that drifted, did not fit each other by ${moved.view_fit?.n_stems} stems: they were moved by up to ${(100 * most).toFixed(1)} cm, level, before trees were divided and measured (scans_moved of the summary). The labelled cloud has the moved points; --no-align leaves them.`;
  return { plot: { ...again, warnings: [told, ...again.warnings] }, list: found, scans_moved: moved.scans };
}
