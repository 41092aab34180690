import { describe, expect, test } from "vitest";
import { TreesResponse } from "../../shared/contract/segment-trees.ts";
import { rowsOf } from "../support/scans/noisy-cloud.ts";
import { orchard, samePartition } from "../support/scans/tree-cloud.ts";
import { answered, cloud, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/trees";
const made = sessionTest({ config: { treeMaxPoints: 20_000 } });
const segment = (payload: object) => answered(made, TreesResponse, URL, payload);
const { points, trees, ground_class, stems, count } = orchard(4);
const CHM = { method: "chm" };

describe("crowns in a canopy height model", () => {
  test("every planted tree is one tree; ground is 0", async () => {
    const answer = await segment({ points, ground_class, ...CHM });
    // The median square metre holds 8 points: a twelfth of the crown scale would be finer than they are.
    const cell = 0.6 / Math.sqrt(8);
    expect(samePartition(answer.labels, trees)).toBe(true);
    expect(answer).toMatchObject({
      success: true,
      num_trees: count,
      num_points: points.length,
      method: "chm",
      ground_warning: false,
      fusion_warning: null,
      cost_warning: null,
      chm: {
        method: "chm",
        cell,
        min_height: 2,
        crown_scale: 2.5,
        smooth_sigma: 1,
        ground_source: "ground_class",
        num_trees: count,
      },
      params: { chm_cell: cell, chm_min_height: 2, chm_crown_scale: 2.5 },
      non_finite: 0,
      warnings: [],
      error: null,
    });
  });

  test("without ground classes the lowest returns are the terrain, and ground under a crown is part of it", async () => {
    const answer = await segment({ points, ...CHM });
    expect(answer).toMatchObject({ ground_warning: true, num_trees: count });
    expect(answer.chm?.ground_source).toBe("lowest_return");
    const planted = trees.filter((tree) => tree > 0);
    expect(samePartition(Array.from(answer.labels).slice(0, planted.length), planted)).toBe(true);
    expect(
      Array.from(answer.labels)
        .slice(planted.length)
        .some((label) => label > 0),
    ).toBe(true);
  });

  test("a crown scale that is too fine for the points is named", async () => {
    const sparse = Array.from({ length: 900 }, (_, i) => [i % 30, Math.floor(i / 30), 8 + 4 * Math.sin(i * 7.3)]);
    const plain = sparse.map(([x = 0, y = 0]) => [x, y, 0]);
    const points = [...sparse, ...plain];
    const ground_class = points.map((_, i) => (i < sparse.length ? 2 : 1));
    const { warnings } = await segment({ points, ground_class, ...CHM });
    expect(warnings).toEqual([
      expect.stringMatching(/^The canopy height model has cells of 0\.39 m instead of 0\.21 m .* 0\.64 m apart/),
      expect.stringMatching(/^Crowns have only [\d.]+ points on average, so chm_crown_scale 2\.5 m/),
      expect.stringMatching(/^Crowns touch along \d+ % of their outlines/),
      expect.stringMatching(/^Of \d+ treetops \d+ rise less than 5 % of their height/),
    ]);
    const wide = await segment({ points, ground_class, chm_crown_scale: 12, ...CHM });
    expect(wide.warnings.join()).not.toMatch(/on average|instead of/);
  });

  test("classes without ground are labels too", async () => {
    const answer = await segment({ points, ground_class: points.map(() => 2), ...CHM });
    expect([answer.ground_warning, answer.chm?.ground_source]).toEqual([false, "lowest_return"]);
  });

  test("seeds: their trees in their order, then the others", async () => {
    const seed_points = [stems[9], stems[2]];
    const answer = await segment({ points, ground_class, seed_points, ...CHM });
    expect(answer.num_trees).toBe(count);
    for (const [i, tree] of trees.entries()) {
      const label = answer.labels[i] ?? 0;
      if (tree === 10) expect(label).toBe(1);
      else if (tree === 3) expect(label).toBe(2);
      else if (tree > 0) expect(label).toBeGreaterThan(2);
    }
    const lost = await segment({ points, ground_class, seed_points: [[0, 0, 0], ...seed_points], ...CHM });
    expect([lost.num_trees, lost.warnings]).toEqual([
      count + 1,
      ["No points belong to the tree of seed 1 (counted from 1)."],
    ]);
  });

  test("parameters act: cell, lowest canopy and crown scale", async () => {
    const coarse = await segment({ points, ground_class, chm_crown_scale: 40, ...CHM });
    expect(coarse.num_trees).toBeLessThan(count);
    expect(coarse.chm?.cell).toBe(1);
    const high = await segment({ points, ground_class, chm_min_height: 7, ...CHM });
    expect(high.num_trees).toBeLessThan(count);
    expect((await segment({ points, ground_class, chm_cell: 0.4, ...CHM })).chm?.cell).toBe(0.4);
  });
});

describe("a session as source", () => {
  test("labels the hits that are not deleted; seeds are in the frame of the source", async () => {
    const shift = [3e5, 4e6, 100];
    const moved = points.map((p) => p.map((value, axis) => value + (shift[axis] ?? 0)));
    const rows = ["x y z is_miss", `${shift[0]} ${shift[1]} 900 1`, ...rowsOf(moved).map((row) => `${row} 0`)];
    const { session_id } = await cloud(made, rows);
    const translation = [1, 2, 3];
    const seed_points = [stems[7]?.map((v, axis) => v + (shift[axis] ?? 0) + (translation[axis] ?? 0))];
    const source = { session_id, max_points: 10, translation };
    const answer = await segment({ source, ground_class, seed_points, ...CHM });
    expect([answer.error, answer.num_points, answer.num_trees]).toEqual([null, points.length, count]);
    expect(new Set(trees.map((tree, i) => (tree === 8 ? answer.labels[i] : 1)))).toEqual(new Set([1]));
    const short = await segment({ source, ground_class: [1], ...CHM });
    expect([short.success, short.error]).toEqual([false, `ground_class has 1 values for ${points.length} points`]);
  });
  test("its own ground labels hold where the request has none", async () => {
    const rows = ["x y z ground_class", ...rowsOf(points).map((row, i) => `${row} ${ground_class[i]}`)];
    const { session_id } = await cloud(made, rows);
    const inline = await segment({ points, ground_class, ...CHM });
    const answer = await segment({ source: { session_id }, ...CHM });
    expect([answer.ground_warning, answer.chm?.ground_source]).toEqual([false, "ground_class"]);
    expect(answer.labels).toEqual(inline.labels);
    const other = await segment({ source: { session_id }, ground_class: points.map(() => 2), ...CHM });
    expect(other.chm?.ground_source).toBe("lowest_return");
  });
  test.each([
    [{ source: { session_id: "00000000" } }, 404, "Cloud session not found: 00000000"],
    [{ source: {} }, 400, "the source has neither a session_id nor a source_path"],
    [{}, 400, "Send `points` or a `source` descriptor."],
    [{ points, method: "magic" }, 400, expect.stringContaining('method "magic" is none of')],
    [{ points, chm_cell: 0, ...CHM }, 400, "chm_cell must be a number above 0, not 0"],
    [{ points, chm_crown_scale: -1, ...CHM }, 400, "chm_crown_scale must be a number above 0, not -1"],
    [{ points, chm_min_height: -1, ...CHM }, 400, "chm_min_height must be a number from 0, not -1"],
    [{ points, min_nn1: 0 }, 400, "min_nn1 must be 1 to 1000, not 0"],
    [{ points, min_nn3: 1001 }, 400, "min_nn3 must be 1 to 1000, not 1001"],
    [{ points, reg_strength1: -1 }, 400, "reg_strength1 must be a number from 0, not -1"],
    [{ points, decimate_res1: 0 }, 400, "decimate_res1 must be a number above 0, not 0"],
    [{ points, score_candidate_thresh: 2 }, 400, "score_candidate_thresh must be 0 to 1, not 2"],
    [{ points, ground_class: [1, 2], ...CHM }, 400, `ground_class has 2 values for ${points.length} points`],
  ])("%#", async (request, status, detail) => {
    expect(await refusal(made, URL, request)).toEqual([status, detail]);
  });
});

const FAILED = { success: false, labels: [], num_points: 0, num_trees: 0, params: {}, chm: null };

test.each([0, 1, 9])("%i points are too few", async (few) => {
  expect(await segment({ points: points.slice(0, few), ...CHM })).toMatchObject({
    ...FAILED,
    error: `Need at least 10 points that are not ground for tree segmentation, but there are ${few}`,
    code: "invalid_argument",
  });
});

test("more points than the limit are refused", async () => {
  const many = Array.from({ length: 20_001 }, (_, i) => [i % 100, Math.floor(i / 100), 3]);
  expect(await segment({ points: many, ...CHM })).toMatchObject({
    ...FAILED,
    error: expect.stringContaining("at most 20000 points that are not ground, but there are 20001"),
  });
});

describe("unusual clouds get a result", () => {
  test.each([
    ["ten points", points.slice(0, 10)],
    ["all in one place", Array.from({ length: 500 }, () => [1e7, 2e7, 3])],
    ["a line", Array.from({ length: 50 }, (_, i) => [i, 0, 0])],
    ["a wall", Array.from({ length: 400 }, (_, i) => [i % 20, 0, Math.floor(i / 20)])],
  ])("%s", async (_name, odd) => {
    for (const method of ["chm", "default"]) {
      const answer = await segment({ points: odd, method });
      expect([answer.success, answer.error, answer.num_points]).toEqual([true, null, odd.length]);
      for (const label of Array.from(answer.labels)) expect(label).toBeLessThanOrEqual(answer.num_trees);
    }
  });
});

test("unknown keys are named in the warnings", async () => {
  expect((await segment({ points, chm_cel: 2, ...CHM })).warnings[0]).toContain('"chm_cel"');
});
