import type { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import type { TreeMethod } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import type { FolderRun } from "../run/folder-run.ts";
import type { InventoryOptions } from "./options.ts";

/** Where stems can be seen. */
const METHOD_FOR_STEMS: TreeMethod = "auto";
/** Of a warning that the inventory gives again, with the trees of its list. */
const TOLD_BY_INVENTORY = "tree_inventory leaves them out of the stand";

const noTree = (method: TreeMethod) =>
  `method ${method} found no tree in this cloud; ${method === "chm" ? "for scans from the ground take --method auto" : "for clouds seen from the air take --method chm"}`;

export interface SegmentedPlot {
  readonly method: TreeMethod;
  readonly segmented: SessionTreesResponse;
  readonly warnings: readonly string[];
}

/** Divides a plot into trees. Errors: invalid_argument where there is none, or where a width of crowns has no use. */
export async function segmentPlot(
  session_id: string,
  { method: asked, crownWidth }: InventoryOptions,
  { is_airborne, skip_noise }: { readonly is_airborne: boolean; readonly skip_noise: boolean },
  { client, signal }: FolderRun,
): Promise<SegmentedPlot> {
  const method = asked ?? (is_airborne ? "chm" : METHOD_FOR_STEMS);
  if (crownWidth !== undefined && method !== "chm")
    throw new AppError(
      "invalid_argument",
      `--crown-width belongs to method chm, and this cloud is not taken for one seen from the air, so method ${method} divides it by stems: give --method chm, or leave --crown-width out`,
    );
  const scale = crownWidth === undefined ? {} : { chm_crown_scale: crownWidth };
  const wanted = { method, skip_noise, acknowledge_cost: true, ...scale };
  const segmented = await client.segmentTreesSession(session_id, wanted, { signal });
  if (segmented.num_trees === 0) throw new AppError("invalid_argument", noTree(method));
  const told = segmented.warnings.filter((text) => !text.includes(TOLD_BY_INVENTORY));
  return {
    method,
    segmented,
    warnings: [...told, ...(segmented.fusion_warning ? [segmented.fusion_warning] : [])],
  };
}
