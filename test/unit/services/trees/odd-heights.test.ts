import { expect, test } from "vitest";
import { heightRatios, oddHeightWarnings } from "../../../../backend/services/trees/odd-heights.ts";
import { gaussian, uniform } from "../../../accuracy/random.ts";

/** Trees of 0.08 to 0.5 m with heights of 25 d^0.5, scattered by 8 %. */
const stand = (count: number) => {
  const next = uniform(3);
  return Array.from({ length: count }, (_, i) => {
    const dbh_m = 0.08 + 0.42 * next();
    return { tree_id: i + 1, dbh_m, height_m: 25 * Math.sqrt(dbh_m) * (1 + 0.08 * gaussian(next)) };
  });
};

test("trees that are far lower or higher than others of their diameter are told", () => {
  const trees = stand(60);
  expect(oddHeightWarnings(trees)).toEqual([]);
  const wrong = trees.map((tree) => ({
    ...tree,
    height_m: tree.tree_id === 7 ? tree.height_m / 3 : tree.tree_id === 9 ? 1.7 * tree.height_m : tree.height_m,
  }));
  expect(oddHeightWarnings(wrong)).toEqual([
    expect.stringMatching(
      /^2 of 60 trees with a diameter are less than 0\.7 or more than 1\.4 times as high as others of that diameter \(tree 7: 0\.[34], 9: 1\.[678]\): broken, /,
    ),
  ]);
  const [seventh] = wrong.filter(({ tree_id }) => tree_id === 7);
  expect(oddHeightWarnings([...trees.slice(10), ...(seventh ? [seventh] : [])])).toEqual([
    expect.stringMatching(/^1 of 51 trees with a diameter is less than .* \(tree 7: 0\.\d\)/),
  ]);
});

test("a quarter of wrong heights does not move the curve", () => {
  const trees = stand(80).map((tree) => (tree.tree_id % 4 === 0 ? { ...tree, height_m: 3 } : tree));
  const ratios = heightRatios(trees) ?? [];
  for (const [i, ratio] of ratios.entries())
    if (i % 4 !== 3) expect(Math.abs(ratio - 1)).toBeLessThan(0.35);
    else expect(ratio).toBeLessThan(0.6);
});

test("nothing is said of few trees, of one diameter, and of trees without one", () => {
  const low = (count: number) => stand(count).map((tree) => (tree.tree_id === 1 ? { ...tree, height_m: 1.5 } : tree));
  expect(oddHeightWarnings(low(19))).toEqual([]);
  expect(oddHeightWarnings(low(20))).toHaveLength(1);
  expect(oddHeightWarnings(low(30).map((tree) => ({ ...tree, dbh_m: 0.2 })))).toEqual([]);
  expect(oddHeightWarnings(low(30).map((tree) => ({ ...tree, dbh_m: Number.NaN })))).toEqual([]);
  expect(oddHeightWarnings([])).toEqual([]);
});

test("of 10,000 trees the few low ones are told, and ten times the trees take about ten times as long", () => {
  expect(oddHeightWarnings(low(10_000))[0]).toMatch(/^1\d\d of 10000 trees/);
  const least = (count: number) => {
    const trees = low(count);
    return Math.min(...[1, 2, 3, 4, 5].map(() => timeOf(() => oddHeightWarnings(trees))));
  };
  expect(least(50_000) / least(5_000)).toBeLessThan(40); // the square would be 100
});

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const low = (count: number) => stand(count).map((tree) => (tree.tree_id % 100 === 0 ? { ...tree, height_m: 2 } : tree));
