// A stem whose points have two numbers.
import { expect, test } from "vitest";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { FOUR_TREES, forestRows } from "../../support/scans/forest.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });

test("the diameter of a stem is counted once", async () => {
  const again = { id: 12, x: 5, y: 4, dbh_m: 0.25, count: 300 };
  const { session_id } = await cloud(made, forestRows([...FOUR_TREES, again]));
  const list = await tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  const [, second, , , part] = list.trees;
  expect(second).toMatchObject({ tree_id: 2, flags: [] });
  expect(second?.dbh_m).toBeCloseTo(0.25, 2);
  expect(part).toMatchObject({ tree_id: 12, dbh_m: null, dbh: null, basal_area_m2: null, hegyi_index: null });
  expect(part?.flags).toEqual(["no_stem", "same_stem", "shared_top"]);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^1 tree is measured at the stem of another, .* \(12 and 2\), and has no diameter/),
  );
  expect(list.stem_curve.filter(({ tree_id, ok }) => tree_id === 12 && ok)).toEqual([]);
});

test("asked for alone, it has its circle", async () => {
  const again = { id: 12, x: 5, y: 4, dbh_m: 0.25, count: 300 };
  const { session_id } = await cloud(made, forestRows([...FOUR_TREES, again]));
  const url = `/api/cloud/session/${session_id}/tree_inventory`;
  const { trees } = await tail(made, TreeInventoryTail, url, { tree_ids: [12] });
  expect(trees[0]?.dbh_m).toBeCloseTo(0.25, 2);
});
