import { describe, expect, test } from "vitest";
import { DEFAULT_CUT_PURSUIT, TreesResponse } from "../../shared/contract/segment-trees.ts";
import { appOfTest } from "../support/app/app.ts";
import { orchard, samePartition } from "../support/scans/tree-cloud.ts";
import { answered, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/trees";
const made = sessionTest();
const segment = (payload: object) => answered(made, TreesResponse, URL, payload);
const { points, trees, ground_class, stems, count } = orchard(4);
const CHM = { method: "chm" };

describe("cut-pursuit segmentation", () => {
  test("default, also as treeiso: every planted tree is one tree", async () => {
    const answer = await segment({ points, ground_class });
    expect(samePartition(answer.labels, trees)).toBe(true);
    expect(answer).toMatchObject({
      num_trees: count,
      method: "default",
      ground_warning: false,
      fusion_warning: null,
      cost_warning: null,
      chm: null,
      params: DEFAULT_CUT_PURSUIT,
      warnings: [],
      error: null,
    });
    const alias = await segment({ points, ground_class, method: "treeiso" });
    expect([alias.method, Array.from(alias.labels)]).toEqual(["default", Array.from(answer.labels)]);
  });

  test("seeds: exactly one tree each; stems of one tree are noticed", async () => {
    const dense = orchard(2, 1600);
    const request = { points: dense.points, ground_class: dense.ground_class };
    const seed_points = [...dense.stems].reverse();
    const answer = await segment({ ...request, seed_points });
    expect([answer.num_trees, answer.fusion_warning]).toEqual([4, null]);
    expect(Array.from(answer.labels)).toEqual(dense.trees.map((tree) => (tree === 0 ? 0 : 5 - tree)));
    const one = await segment({ ...request, seed_points: dense.stems.slice(0, 1) });
    expect([one.num_trees, one.fusion_warning]).toEqual([
      1,
      "1 tree holds more than one stem: there are probably at least 4 trees instead of 1. Give seed_points, or remove undergrowth.",
    ]);
  });

  test("on a slope stems are counted on their own ground", async () => {
    const dense = orchard(2, 1600);
    const tilted = (list: readonly (readonly number[])[]) => list.map(([x = 0, y = 0, z = 0]) => [x, y, z + 0.47 * x]);
    const seed_points = tilted(dense.stems.slice(0, 1));
    const answer = await segment({ points: tilted(dense.points), ground_class: dense.ground_class, seed_points });
    expect([answer.num_trees, answer.fusion_warning]).toEqual([1, expect.stringMatching(/at least 4 trees/)]);
  });

  test("parameters act and are reported; those of the other method are named", async () => {
    const params = { decimate_res1: 0.3, decimate_res2: 0.6, max_gap: 1 };
    const answer = await segment({ points, ground_class, ...params, chm_cell: 0.5, chm_crown_scale: 2.5 });
    expect(answer.params).toEqual({ ...DEFAULT_CUT_PURSUIT, ...params });
    expect(answer.warnings).toEqual(["Method default does not use chm_cell."]);
    const apart = await segment({ points, ground_class, max_outlier_gap: 0.2, max_gap: 0.2 });
    expect(apart.num_trees).toBeGreaterThan(count); // stems and crowns are parts of their own
    const chm = await segment({ points, ground_class, min_nn1: 7, ...CHM });
    expect(chm.warnings).toEqual(["Method chm does not use min_nn1."]);
  });

  test("from 50 000 points on the voxels are raised as the spacing demands", async () => {
    const tall = await appOfTest();
    const dense = Array.from({ length: 50_400 }, (_, i) => [
      0.1 * (i % 60),
      0.1 * (Math.floor(i / 60) % 60),
      0.1 * Math.floor(i / 3600),
    ]);
    const answer = await answered(tall, TreesResponse, URL, { points: dense });
    expect(answer.params).toMatchObject({ decimate_res1: 0.3, decimate_res2: 0.6 });
    const given = await answered(tall, TreesResponse, URL, { points: dense, decimate_res1: 0.06 });
    expect(given.params).toMatchObject({ decimate_res1: 0.06, decimate_res2: 0.1 });
  });
});

describe("cheapest paths from stems", () => {
  const AUTO = { method: "auto" };

  test("every planted tree is one tree", async () => {
    const answer = await segment({ points, ground_class, ...AUTO });
    expect(samePartition(answer.labels, trees)).toBe(true);
    expect(answer).toMatchObject({ num_trees: count, method: "auto", ground_warning: false, chm: null, warnings: [] });
    // The trees are 6.5 m high.
    const [from, to] = [expect.closeTo(0.325, 9), expect.closeTo(0.975, 9)];
    expect(answer.params).toEqual({ node_m: 0.03, trunk_layer_min_m: from, trunk_layer_max_m: to });
  });

  test("without ground classes the ground is found first", async () => {
    const answer = await segment({ points, ...AUTO });
    expect([answer.num_trees, answer.ground_warning]).toEqual([count, true]);
    expect(answer.warnings).toEqual([
      "No point was labelled as ground; it was found first, as segment_ground does with method auto.",
    ]);
    const ground = Array.from(answer.labels).filter((label, i) => label === 0 && trees[i] === 0).length;
    expect(ground).toBeGreaterThan(0.95 * trees.filter((tree) => tree === 0).length);
  });

  test("far points make the terrain coarse, and a warning says so", async () => {
    const far = [...points, [1e5, 1e5, 0]];
    const answer = await segment({ points: far, ground_class: [...ground_class, 1], ...AUTO });
    expect(answer.warnings).toEqual([expect.stringMatching(/cells of [5-7]\d\.\d m instead of 0\.5 m.*denoise/)]);
  });

  test("seeds: exactly one tree each, in their order", async () => {
    const seed_points = [...stems].reverse();
    const answer = await segment({ points, ground_class, seed_points, ...AUTO });
    expect(answer.num_trees).toBe(count);
    expect(Array.from(answer.labels)).toEqual(trees.map((tree) => (tree === 0 ? 0 : count + 1 - tree)));
  });

  test("crowns seen from the air, without stems: a warning names the method for them", async () => {
    const seen = points.flatMap((_, i) => (trees[i] === 0 || i % ((trees[i] ?? 0) <= 3 ? 10 : 40) === 1 ? [i] : []));
    const airborne = { points: seen.map((i) => points[i]), ground_class: seen.map((i) => ground_class[i]) };
    const answer = await segment({ ...airborne, ...AUTO });
    const lost = seen.filter((i, k) => trees[i] !== 0 && answer.labels[k] === 0).length;
    const share = ((100 * lost) / seen.filter((i) => trees[i] !== 0).length).toFixed(1);
    expect(Number(share)).toBeCloseTo((100 * 13) / (13 + 3 * 4), 1);
    expect(answer.warnings).toEqual([
      `Too few stems were seen for method auto: of the points more than 2 m above the ground, 0.0 % belong to trees with a stem and ${share} % to no tree. If the cloud was seen from the air, use method chm; otherwise give seed_points.`,
    ]);
    const seeded = await segment({ ...airborne, seed_points: stems, ...AUTO });
    expect(seeded.warnings.join()).not.toContain("Too few stems");
  });

  test("it has no parameters: those of the other methods are refused", async () => {
    const refusalOf = (payload: object) => refusal(made, URL, { points, ...AUTO, ...payload });
    for (const field of ["min_nn1", "max_gap", "chm_cell"])
      expect(await refusalOf({ [field]: 1 })).toEqual([
        400,
        `${field} is no parameter of method "auto", which has none; leave it out`,
      ]);
  });

  test("nine points, and clouds without ground", async () => {
    expect((await segment({ points: points.slice(0, 9), ...AUTO })).error).toContain("but there are 9");
    const wall = Array.from({ length: 400 }, (_, i) => [i % 20, 0, Math.floor(i / 20)]);
    const answer = await segment({ points: wall, ...AUTO });
    expect([answer.success, answer.num_points]).toEqual([true, 400]);
  });
});
