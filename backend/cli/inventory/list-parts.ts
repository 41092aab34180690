import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeFlag } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";

/** Flags of the stem and of the circle at breast height. */
const STEM_FLAGS: readonly TreeFlag[] = [
  "at_wall",
  "buttressed",
  "covered",
  "few_points",
  "high_residual",
  "no_crown",
  "partial_arc",
  "same_stem",
  "thick_top",
];

/** One tree has no competitors, no plot and no edge. */
export function withoutStand(list: TreeInventoryTail): TreeInventoryTail {
  const trees = list.trees.map(
    ({
      hegyi_index: _,
      hegyi_index_corrected: __,
      n_competitors: ___,
      crown_overlap_m2: ____,
      crown_overlap_fraction: _____,
      edge: ______,
      ...tree
    }) => tree,
  );
  return { ...list, trees, stand: null, warnings: list.warnings.filter((text) => !/\bplot\b/.test(text)) };
}

/** Few returns reach a stem from the air: circles through them are chance. */
export function withoutStems(list: TreeInventoryTail): TreeInventoryTail {
  const trees = list.trees.map(({ n_competitors: _, lean_deg: __, lean_azimuth_deg: ___, ...tree }) => ({
    ...tree,
    dbh_m: null,
    dbh: null,
    basal_area_m2: null,
    slenderness: null,
    breast_height_ref_z: null,
    hegyi_index: null,
    hegyi_index_corrected: null,
    flags: [...new Set([...tree.flags.filter((flag) => !STEM_FLAGS.includes(flag)), "no_stem" as const])].sort(),
  }));
  const warnings = [
    ...list.warnings.filter((text) => !text.includes("while the stem is thick")),
    "Diameters are absent: from the air, too few returns reach the stems. Stand values that need diameters are absent as well.",
  ];
  return { ...list, trees, stem_curve: [], warnings };
}
