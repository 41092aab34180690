import { expect, test } from "vitest";
import { withoutStems } from "../../../../backend/cli/inventory/list-parts.ts";
import type { TreeInventoryTail } from "../../../../shared/contract/cloud-session/tree-inventory.ts";

test("from the air flags of stems go, and those of heights and of what is no tree stay", () => {
  const tree = {
    ...{ tree_id: 4, n_points: 90, dbh_m: 0.3, height_m: 14, stray_top_m: 2.4 },
    flags: ["high_residual", "no_crown", "partial_arc", "shared_top", "stray_top", "thick_top", "wire"],
  };
  const thick = "1 of 1 trees with a diameter ends while the stem is thick (tree 4)";
  const list = { trees: [tree], stem_curve: [{}], warnings: ["2 trees skipped.", thick] };
  const seen = withoutStems(list as unknown as TreeInventoryTail);
  expect(seen.trees[0]).toMatchObject({ dbh_m: null, height_m: 14, stray_top_m: 2.4 });
  expect(seen.trees[0]?.flags).toEqual(["no_stem", "shared_top", "stray_top", "wire"]);
  expect(seen.stem_curve).toEqual([]);
  expect(seen.warnings).toEqual(["2 trees skipped.", expect.stringContaining("Diameters are absent")]);
});
