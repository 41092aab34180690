import { ApiError } from "../../../shared/client/index.ts";
import type { ScanMove } from "../../../shared/contract/cloud-session/align-scans.ts";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { OctreeBlock } from "../../../shared/contract/octree.ts";
import { lengthText } from "../../../shared/length-text.ts";
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
  const apart = list.view_fit?.aligned || plot.has_lifted_scans;
  if (!options.align || !apart || plot.method === "one_tree" || plot.is_airborne) return asItIs;
  run.progress.stage("5/6 Moving scans onto each other");
  const { session_id } = plot.tail;
  const moved = await run.client
    .alignScans(session_id, { skip_noise: plot.skip_noise, scan_column: options.scanColumn }, shown(run))
    .catch((error: unknown) => notMoved(error));
  if (typeof moved === "string") return { ...asItIs, plot: { ...plot, warnings: [...plot.warnings, moved] } };
  if (!moved.aligned) return asItIs;
  const tail = { ...cloud.tail, ...OctreeBlock.parse(moved) };
  const again = await labelPlot({ ...cloud, tail }, options, run);
  const found = await measurePlot(again, options, run);
  lap("align");
  return {
    plot: { ...again, warnings: [toldMoves(moved.scans, moved.view_fit), ...again.warnings] },
    list: found,
    scans_moved: moved.scans,
  };
}

/** Flight lines have heights of their own, but no scans that could be moved. Errors: the given one, if it is another. */
function notMoved(error: unknown): string {
  if (!(error instanceof ApiError && error.code === "invalid_argument")) throw error;
  return `Scans were not moved onto each other: ${error.message}`;
}

function toldMoves(scans: readonly ScanMove[], fit: TreeInventoryTail["view_fit"]): string {
  const level = Math.max(...scans.map(({ most_m }) => most_m));
  const upwards = Math.max(...scans.map(({ z_m }) => Math.abs(z_m)));
  const by = [
    ...(level > 0 ? [`up to ${(100 * level).toFixed(1)} cm, level, by ${fit?.n_stems} stems`] : []),
    ...(upwards > 0 ? [`up to ${lengthText(upwards)} in height, by their ground`] : []),
  ].join(" and ");
  return `Scans, or visits of a scanner that drifted, did not fit each other: they were moved by ${by}, before trees were divided and measured (scans_moved of the summary). The labelled cloud has the moved points; --no-align leaves them.`;
}
