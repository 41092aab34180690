import type { TreeInventoryRequest } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeInventory } from "../../native/inventory.ts";
import { tallPlantWarnings } from "../run/unstated-units.ts";
import { breastHeightWarnings } from "./breast-height.ts";
import { coverWarnings } from "./covered-stems.ts";
import { gainWarnings } from "./crown-gains.ts";
import { type CutTrees, cutWarnings } from "./cut-trees.ts";
import { doubledStemWarnings } from "./doubled-stems.ts";
import { doubtfulWarnings } from "./doubtful-diameters.ts";
import { groundAtStemWarnings, isGroundMissing } from "./ground-at-stems.ts";
import { dropWarnings } from "./height-drops.ts";
import { impossibleWarnings } from "./impossible-trees.ts";
import type { InventoryRows } from "./inventory-rows.ts";
import { lowForkWarnings } from "./low-forks.ts";
import { lowTreeWarnings } from "./low-trees.ts";
import { mirroredTreeWarnings } from "./mirrored-trees.ts";
import { missingDiameterWarnings } from "./missing-diameters.ts";
import { noTreeWarnings } from "./no-trees.ts";
import { oddHeightWarnings } from "./odd-heights.ts";
import { plotWarnings } from "./plot-warnings.ts";
import { repeatedTreeWarnings } from "./repeated-trees.ts";
import { sameDiameterWarnings } from "./same-diameters.ts";
import { sameStemWarnings } from "./same-stems.ts";
import { scanLayersOf, scanLayerWarnings } from "./scan-layers.ts";
import { registrationWarnings } from "./scan-registration.ts";
import { sharedTopWarnings } from "./shared-tops.ts";
import { slenderWarnings } from "./slender-stems.ts";
import { stemFootWarnings } from "./stem-feet.ts";
import { scatterWarnings } from "./stem-scatter.ts";
import { stemTiltWarnings } from "./stem-tilt.ts";
import { strayTopWarnings } from "./stray-tops.ts";
import { thickTopWarnings } from "./thick-tops.ts";

const many = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

interface Asked extends TreeInventoryRequest {
  /** False if nothing says that the coordinates are metres. */
  readonly unit_is_stated: boolean;
}

/** What a person must know about the trees of an inventory. */
export function inventoryWarnings(
  found: TreeInventory,
  rows: InventoryRows,
  { min_points, tree_ids, breast_height_m, align_scans, unit_is_stated }: Asked,
  cut: CutTrees,
): string[] {
  const { small_count, failed_count, ground_sources, impossible, diameters, drops_m, crowns } = rows;
  const warnings: string[] = [];
  if (small_count > 0)
    warnings.push(`${many(small_count, "tree")} with fewer than ${min_points} points skipped (min_points).`);
  if (failed_count > 0) warnings.push(`${many(failed_count, "tree")} skipped that could not be measured; see skipped.`);
  if (found.nonfinite_count > 0)
    warnings.push(`${many(found.nonfinite_count, "point")} of trees without a finite position left out.`);
  if (tree_ids !== null)
    warnings.push(
      "Plot, competition, overlap, stems counted twice, trees of scans that do not fit, walls beside trees and images in glass need every tree; without tree_ids they are measured.",
    );
  if (ground_sources.tree_min_z > 0)
    warnings.push(
      `${many(ground_sources.tree_min_z, "tree")} without ground below: heights and breast height start at the lowest point of the tree. Segment the ground or compute heights above ground first.`,
    );
  warnings.push(
    ...groundAtStemWarnings(rows.ground_at_stems),
    ...breastHeightWarnings(breast_height_m),
    ...noTreeWarnings(rows.no_trees),
    ...mirroredTreeWarnings(rows.images),
    ...repeatedTreeWarnings(rows.repeats),
    ...doubledStemWarnings(rows.doubled),
    ...sameStemWarnings(rows.same_stems),
    ...sameDiameterWarnings(diameters),
    ...stemFootWarnings(rows.feet),
    ...stemTiltWarnings(rows.axes),
    ...impossibleWarnings(impossible),
    ...tallWarnings(rows, unit_is_stated),
    ...slenderWarnings(rows.heights),
    ...doubtfulWarnings(diameters),
    ...coverWarnings(rows.covers),
    ...scatterWarnings(rows.covers),
    ...dropWarnings(drops_m),
    ...strayTopWarnings(rows.stray_tops, rows.heights.length),
    ...thickTopWarnings(rows.thick_tops, diameters.length),
    ...sharedTopWarnings(rows.shared_tops, rows.heights.length),
    ...oddHeightWarnings(rows.heights),
    ...gainWarnings(crowns),
    ...cutTreeWarnings(rows, cut),
    ...registrationWarnings(found.scan_offsets, found.view_fit),
    ...scanLayerWarnings(scanLayersOf(found.scan_layers), rows.parts, align_scans),
  );
  if (found.stand?.overlap_known === false)
    warnings.push("Crowns overlap too often to measure how far; the column tree_instance may not hold trees.");
  if (!found.stand) return warnings;
  return [
    ...warnings,
    ...outsideWarnings(rows.outside),
    ...missingDiameterWarnings(rows.heights),
    ...lowForkWarnings(rows.heights, breast_height_m),
    ...lowTreeWarnings(rows.heights),
    ...plotWarnings(found.stand, rows.diameters.length > 0, isGroundMissing(rows.ground_at_stems)),
  ];
}

/** Trees that cannot be have a warning of their own. */
const tallWarnings = ({ heights, impossible }: InventoryRows, unit_is_stated: boolean) =>
  impossible.higher.length > 0
    ? []
    : tallPlantWarnings(
        heights.map(({ height_m }) => height_m),
        unit_is_stated,
      );

/** Trees with a diameter that stand outside the plot: a border cuts stems whose middle lies beyond. */
function outsideWarnings({ count, basal_share }: InventoryRows["outside"]): string[] {
  if (count === 0) return [];
  const stand = count === 1 ? "tree with a diameter stands" : "trees with a diameter stand";
  return [
    `${count} ${stand} outside the plot (stem_base, plot_polygon): with ${(100 * basal_share).toFixed(1)} % of the basal area of the list. Values per hectare that count them are too large by it.`,
  ];
}

function cutTreeWarnings({ ids, diameters }: InventoryRows, all: CutTrees): string[] {
  const cut = ids.flatMap((id) => all.get(id) ?? []);
  const measured = new Set(diameters.map(({ tree_id }) => tree_id));
  const stemless = cut.filter(({ tree_id }) => !measured.has(tree_id)).length;
  const has = stemless === 1 ? "1 of them has no diameter" : `${stemless} of them have no diameter`;
  const whole = ids.length - cut.length;
  const stems_are_seen = 2 * (measured.size - cut.length + stemless) > whole;
  return cutWarnings(
    cut,
    ids.length,
    `Crowns, and heights of trees whose top lies beyond, are those of the part within (cut_width_m, cut_top).${stemless > 0 && stems_are_seen ? ` ${has} and may be parts of trees outside.` : ""} A margin around the plot keeps trees whole; leave these out of means.`,
  );
}
