import { describe, expect, test } from "vitest";
import { type Edge, matching, scoreTrees } from "../../accuracy/forest/score.ts";
import { uniform } from "../../accuracy/random.ts";

/** Most pairs of all ways to choose them. */
function mostPairs(edges: readonly Edge[]): number {
  const [first, ...rest] = edges;
  if (!first) return 0;
  const free = rest.filter(({ tree, found }) => tree !== first.tree && found !== first.found);
  return Math.max(mostPairs(rest), 1 + mostPairs(free));
}

/** The protocol, slowly: sets of points. */
function slowly(
  truth: readonly number[],
  labels: readonly number[],
  skip: readonly number[],
  least: number,
  iou: number,
) {
  const rows = truth.map((_, i) => i).filter((i) => skip[i] === 0);
  const members = (ids: readonly number[], of: readonly number[]) =>
    new Map([...new Set(ids)].filter((id) => id > 0).map((id) => [id, new Set(of.filter((i) => ids[i] === id))]));
  const trees = members(truth, rows);
  const small = new Set([...trees].filter(([, points]) => points.size < least).flatMap(([, points]) => [...points]));
  const onSmall = (points: Set<number>) => [...points].filter((i) => small.has(i)).length;
  const counted = [...trees].filter(([, points]) => points.size >= Math.max(1, least));
  const found = [...members(labels, rows)]
    .filter(([, points]) => points.size > 0 && 2 * onSmall(points) <= points.size)
    .map(([id, points]) => [id, new Set([...points].filter((i) => !small.has(i)))] as const);
  const edges = counted.flatMap(([tree, a]) =>
    found.flatMap(([id, b]) => {
      const both = [...a].filter((i) => b.has(i)).length;
      const value = both / (a.size + b.size - both);
      return both > 0 && value >= iou ? [{ tree, found: id, iou: value }] : [];
    }),
  );
  return { trees: counted.length, found: found.length, pairs: mostPairs(edges) };
}

describe("score of a segmentation", () => {
  test("as brute force finds it, on 1,000 tiny clouds", () => {
    const next = uniform(5);
    const seen = new Set<string>();
    for (let k = 0; k < 1000; k += 1) {
      const count = 1 + Math.floor(14 * next());
      const ids = (most: number) => Array.from({ length: count }, () => Math.floor((most + 1) * next()) * 1000003);
      const truth = ids(1 + Math.floor(4 * next()));
      const labels = truth.map((id, i) => (next() < 0.6 ? id : (ids(4)[i] ?? 0)));
      const skip = truth.map(() => (next() < 0.15 ? 1 : 0));
      const [least_hits, iou] = [Math.floor(4 * next()), [0.5, 0.3, 0.2][k % 3] as number];
      const score = scoreTrees(truth, labels, Uint8Array.from(skip), { least_hits, iou });
      const slow = slowly(truth, labels, skip, least_hits, iou);
      expect({ k, trees: score.tree_count, found: score.found_count, pairs: score.matched_count }).toEqual({
        k,
        ...slow,
      });
      seen.add(`${slow.trees} ${slow.found} ${slow.pairs}`);
    }
    expect(seen.size).toBeGreaterThan(20);
  });

  test("a case worked out by hand", () => {
    // Tree 1: 6 points, 5 in label 9, one in 8. Tree 2: 4 points, two each in 7 and 8. Tree 3: 4 points, in 9 with one of ground.
    const truth = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0];
    const labels = [9, 9, 9, 9, 9, 8, 7, 7, 8, 8, 9, 9, 9, 9, 9];
    const score = scoreTrees(truth, labels, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), {
      least_hits: 4,
    });
    // IoU: (1, 9) 5 / 10, (2, 7) 2 / 4, (2, 8) 2 / 5, (3, 9) 4 / 9
    expect(score).toMatchObject({ tree_count: 3, found_count: 3, matched_count: 2, left_out_trees: 0 });
    expect(score).toMatchObject({
      over_segmented: 1,
      under_segmented: 1,
      precision: 2 / 3,
      recall: 2 / 3,
      mean_iou: 0.5,
    });
    expect(score.f1).toBeCloseTo(2 / 3, 12);
  });

  test("half of the points are not most of them", () => {
    const score = scoreTrees([1, 1, 1, 1, 2, 2, 2, 2], [5, 5, 6, 6, 5, 5, 7, 7], null, { least_hits: 1 });
    expect(score).toMatchObject({ matched_count: 2, over_segmented: 0, under_segmented: 0 });
  });

  test("augments where the best pair first would leave a tree alone", () => {
    const edges = [
      { tree: 1, found: 1, iou: 0.9 },
      { tree: 1, found: 2, iou: 0.5 },
      { tree: 2, found: 1, iou: 0.6 },
    ];
    expect(
      matching(edges)
        .map(({ tree, found }) => [tree, found])
        .sort(),
    ).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  test("small trees and what lies on them are left out; nothing at all has no score", () => {
    const truth = [...Array(9).fill(1), 2, 2];
    const labels = [...Array(9).fill(5), 6, 6];
    const score = scoreTrees(truth, labels, null, { least_hits: 5 });
    expect(score).toMatchObject({ tree_count: 1, found_count: 1, f1: 1, left_out_trees: 1, left_out_found: 1 });
    expect(scoreTrees([], [], null).f1).toBeNaN();
    expect(scoreTrees([0, 0], [0, 0], null).precision).toBeNaN();
    expect(scoreTrees(truth, Array(11).fill(0), null, { least_hits: 5 })).toMatchObject({ f1: 0, recall: 0 });
    expect(() => scoreTrees([1], [], null)).toThrow("0 labels for 1 points");
  });
});
