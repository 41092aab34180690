import { expect, test } from "vitest";
import type { TreeInventory } from "../../../../backend/native/inventory.ts";
import {
  type GroundAtStems,
  groundAtStemWarnings,
  isGroundMissing,
} from "../../../../backend/services/trees/ground-at-stems.ts";
import { plotWarnings } from "../../../../backend/services/trees/plot-warnings.ts";

const ground = (unseen: readonly number[], of: number): GroundAtStems => ({ unseen, of });

test.each([
  [ground([], 0), false],
  [ground([], 9), false],
  [ground([7], 1), true],
  [ground([7], 2), false],
  [ground([7], 3), false],
  [ground([1, 2, 3, 4], 5), true],
  [ground([1, 2, 3], 4), false],
])("%j: the ground is missing where four of five trees or more stand without it: %s", (found, missing) => {
  expect(isGroundMissing(found)).toBe(missing);
  const told = groundAtStemWarnings(found);
  expect(told).toHaveLength(found.unseen.length > 0 ? 1 : 0);
  for (const one of told) {
    expect(one.includes("Take the cloud with its ground.")).toBe(missing);
    expect(one.includes("in a profile.")).toBe(!missing);
  }
});

test("trees are named, up to five", () => {
  expect(groundAtStemWarnings(ground([7], 9))[0]).toMatch(
    /^Around the stem of 1 of 9 trees .*\(ground_share below 0\.2; tree 7\): /,
  );
  expect(groundAtStemWarnings(ground([1, 2, 3, 4, 5, 6], 40))[0]).toMatch(
    /^Around the stems of 6 of 40 trees .*; tree 1, 2, 3, 4, 5, \.\.\): it lies under plants, or was cut off there; /,
  );
});

test("more places to scan from are no advice where the ground is not in the cloud", () => {
  const stand = {
    ...{ plot_source: "ground_class", plot_area_m2: 400, plot_seen_share: 1, trees_on_ground_share: null },
    unseen_share: 0.97,
  } as unknown as NonNullable<TreeInventory["stand"]>;
  expect(plotWarnings(stand, true, false)).toEqual([expect.stringMatching(/unseen_share.*Scan from more places\.$/)]);
  expect(plotWarnings(stand, true, true)).toEqual([]);
});
