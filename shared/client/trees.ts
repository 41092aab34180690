import { type DetectStemsRequest, DetectStemsResponse } from "../contract/cloud-session/detect-stems.ts";
import { type TreeInventoryRequest, TreeInventoryTail } from "../contract/cloud-session/tree-inventory.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Stems and trees. */
export const treesClient = (calls: Calls) => ({
  /** Finds the stems that cross a layer of heights above the ground; the session needs column height_above_ground. */
  detectStems: (id: string, request: Input<typeof DetectStemsRequest> = {}, call?: CallOptions) =>
    calls.post(DetectStemsResponse, sessionPath(id, "detect_stems"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Measures every tree of column tree_instance, and the stand. If no tree can be measured, throws an ApiError. */
  treeInventory: (id: string, request: Input<typeof TreeInventoryRequest> = {}, run?: RunOptions) =>
    calls.runJson(TreeInventoryTail, sessionPath(id, "tree_inventory"), request, CLIENT_TIMEOUT_MS.heavy, run),
});
