import { expect, test } from "vitest";
import { joinedStand } from "../../../backend/cli/batch/stand.ts";
import { addon } from "../../../backend/native/core/addon.ts";
import { listedStand } from "../../../backend/native/inventory.ts";
import type { TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";

const EAST = 476_000;
const NORTH = 5_429_000;

/** A tree with a square crown. */
const tree = (tree_id: number, x: number, y: number, dbh_m: number | null, half = 1): TreeRow => ({
  tree_id,
  n_points: 100,
  stem_base: [EAST + x, NORTH + y, 0],
  dbh_m,
  crown_projected_area_m2: 4 * half * half,
  crown_hull_xy: [
    [EAST + x - half, NORTH + y - half],
    [EAST + x + half, NORTH + y - half],
    [EAST + x + half, NORTH + y + half],
    [EAST + x - half, NORTH + y + half],
  ],
  flags: [],
});
const plot = (side: number) =>
  [
    [0, 0],
    [side, 0],
    [side, side],
    [0, side],
  ].map(([x = 0, y = 0]) => [EAST + x, NORTH + y] as const);

test("competition, overlaps and cover of a joined list, far from the origin", async () => {
  const { trees, stand } = await joinedStand(
    [tree(1, 50, 50, 0.2), tree(2, 51, 50, 0.4), tree(3, 20, 20, null), tree(4, 2, 50, 0.3)],
    plot(100),
    6,
  );
  // Hegyi: (d_j / d_i) / distance.
  expect(trees.map(({ hegyi_index }) => hegyi_index)).toEqual([2, 0.5, null, 0]);
  expect(trees.map(({ n_competitors }) => n_competitors)).toEqual([1, 1, 0, 0]);
  expect(trees[0]?.crown_overlap_m2).toBeCloseTo(2, 9);
  expect(trees[1]?.crown_overlap_fraction).toBeCloseTo(0.5, 1);
  expect(trees.map(({ edge }) => edge)).toEqual([false, false, false, true]);
  expect(stand).toMatchObject({ plot_area_m2: 10_000, plot_source: "ground_class", crown_area_sum_m2: 16 });
  expect(stand.crown_union_area_m2 / 14).toBeCloseTo(1, 1);
});

test.each(["flat", "wire", "mirror_image", "repeated"] as const)(
  "what is %s takes no part in the stand",
  async (flag) => {
    const trees = [tree(1, 50, 50, 0.2), tree(2, 52, 50, 0.4), tree(3, 20, 20, null)];
    const none = { ...tree(4, 51, 50, null, 3), flags: [flag] };
    const alone = await joinedStand(trees, plot(100), 6);
    const beside = await joinedStand([...trees, none], plot(100), 6);
    expect(beside.stand).toEqual(alone.stand);
    expect(beside.trees.slice(0, 3)).toEqual(alone.trees);
    expect(beside.trees[3]).toMatchObject({ tree_id: 4, hegyi_index: null, crown_overlap_m2: null });
  },
);

test("a list without a plot, and an empty one", async () => {
  const none = await joinedStand([tree(1, 5, 5, 0.2), tree(2, 8, 9, 0.2)], [], 6);
  expect([none.stand.plot_area_m2, none.stand.plot_source, none.trees[0]?.hegyi_index]).toEqual([null, "none", 0.2]);
  expect([none.trees[0]?.hegyi_index_corrected, none.trees[0]?.edge]).toEqual([null, true]);
  expect((await joinedStand([], plot(10), 6)).trees).toEqual([]);
});

test("corners that are missing are refused", async () => {
  const column = (values: number[]) => new addon.Column("f64", new Uint8Array(Float64Array.from(values).buffer));
  const params = {
    competition_radius_m: 6,
    least_distance_m: 0.1,
    cover_cell_m: 0.1,
    most_cover_cells: 1e6,
    most_overlap_pairs: 1e6,
  };
  const run = (rows: number[], hulls: number[]) => listedStand(column(rows), column(hulls), column([]), params).promise;
  await expect(run([0, 0, 0.2, 3], [0, 0, 1, 1])).rejects.toThrow(/corners are missing/);
  await expect(run([0, 0, 0.2], [])).rejects.toThrow(/4 numbers/);
});
