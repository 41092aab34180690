import type { ViewFit } from "../../../shared/contract/cloud-session/scan-fit.ts";
import type { TreeInventory } from "../../native/inventory.ts";

/** What answers tell of how well views of stems fit. */
export function viewFitOf(found: TreeInventory["view_fit"]): ViewFit | null {
  if (!found) return null;
  const { drifts: _, ...fit } = found;
  return fit;
}
