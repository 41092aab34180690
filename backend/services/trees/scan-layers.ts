import type { ScanLayers } from "../../../shared/contract/cloud-session/scan-fit.ts";
import type { TreeInventory } from "../../native/inventory.ts";
import { namedTrees } from "./named-trees.ts";
import type { RepeatedTree } from "./repeated-trees.ts";

/** What answers tell of scans that lie beside the others. */
export function scanLayersOf(found: TreeInventory["scan_layers"]): ScanLayers | null {
  if (!found) return null;
  const { n_stems, n_seen_twice, x_m, y_m, turn_rad, joins, n_joined } = found;
  return { n_stems, n_seen_twice, x_m, y_m, turn_deg: (180 / Math.PI) * turn_rad, joined: joins, n_joined };
}

const centimetres = (metres: number) => (100 * metres).toFixed(1);
const REGISTER =
  "Register the scans again, or import them with their numbers (column scan_index), by which POST align_scans moves them.";

/** Warns of stems that are seen twice, and tells what was done about it; `parts`: trees that stand in the stem of another. */
export function scanLayerWarnings(
  layers: ScanLayers | null,
  parts: readonly RepeatedTree[],
  align_scans: boolean,
): string[] {
  if (!layers) return [];
  const { n_stems, n_seen_twice, x_m, y_m, turn_deg, joined, n_joined } = layers;
  const turned = Math.abs(turn_deg) >= 0.005 ? `, turned by ${turn_deg.toFixed(2)} degrees` : "";
  const told = `Scans do not fit each other: ${n_stems} stems are seen twice, ${centimetres(Math.hypot(x_m, y_m))} cm apart in one direction (x ${centimetres(x_m)}, y ${centimetres(y_m)} cm${turned}; scan_layers).`;
  const divided =
    parts.length > 0
      ? ` ${parts.length === 1 ? "1 tree of the cloud is a part" : `${parts.length} trees of the cloud are parts`} of them, and measured with them (flags: repeated; ${namedTrees(parts.map(({ tree_id, of }) => `${tree_id} of ${of}`))}).`
      : "";
  if (joined)
    return [
      `${told} ${n_joined} trees were measured with both moved together (align_scans).${divided} The cloud stays as it is, and so do models, crowns and leaf area made of it. ${REGISTER}`,
    ];
  const others = n_seen_twice - n_stems;
  return [
    align_scans
      ? `${told} ${others} more are seen twice in other ways, as by three scans that do not fit, and diameters are wrong by up to as much. ${REGISTER}`
      : `${told} Diameters are wrong by up to as much: measure with align_scans true. ${REGISTER}`,
  ];
}
