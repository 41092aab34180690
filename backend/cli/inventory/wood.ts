import { treeQsmWarnings, type WoodVolumes } from "../../../shared/client/index.ts";
import type { TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { WoodMethod } from "../../../shared/contract/segment-wood.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { InventoryOptions } from "./options.ts";
import type { LabelledPlot } from "./steps.ts";

export const WOOD_FILE = "tree_qsm.csv";

/** Models of the trees of a plot. */
export interface WoodOfTrees {
  readonly results: readonly TreeQsmResult[];
  readonly volumes: WoodVolumes;
  readonly warnings: readonly string[];
}

/** A model of the wood of every tree; a tree without one is named in the warnings. */
export async function modelWood(
  { tail, skip_noise }: LabelledPlot,
  { align }: Pick<InventoryOptions, "align">,
  run: FolderRun,
): Promise<WoodOfTrees> {
  run.progress.stage("5/6 Modelling the wood");
  const request = { include_models: false, radius_model: "tapered", skip_noise, align_scans: align } as const;
  const { results, warnings } = await run.client.treeQsm(tail.session_id, request, shown(run));
  const volumes: Record<number, number> = {};
  for (const { tree_id, metrics } of results) if (metrics) volumes[tree_id] = metrics.total_woody_volume_m3;
  return { results, volumes, warnings: [...warnings, ...modelWarnings(results)] };
}

/** The plot with its wood told from leaves. */
export async function labelWood(plot: LabelledPlot, method: WoodMethod, run: FolderRun): Promise<LabelledPlot> {
  run.progress.stage("5/6 Telling wood from leaves");
  const request = { method, skip_ground: plot.ground !== null, acknowledge_cost: true };
  const found = await run.client.segmentWoodSession(plot.tail.session_id, request, { signal: run.signal });
  return {
    ...plot,
    tail: { ...plot.tail, ...OctreeBlock.parse(found) },
    warnings: [...plot.warnings, ...found.warnings],
  };
}

/** What is doubtful in the models of trees, and the trees without one. */
export function modelWarnings(results: readonly TreeQsmResult[]): string[] {
  const failed = results.filter(({ success }) => !success);
  const [first] = failed;
  const lost = first
    ? [
        `${failed.length} of ${results.length} trees have no model of their wood; tree ${first.tree_id}: ${first.error}.`,
      ]
    : [];
  return [...treeQsmWarnings(results), ...lost];
}
