import { describe, expect, test } from "vitest";
import { SHAPE_METHODS, WoodResponse } from "../../shared/contract/segment-wood.ts";
import { appOfTest } from "../support/app/app.ts";
import { agreement, finelyScanned, leafyTree } from "../support/scans/leafy-tree.ts";
import { rowsOf } from "../support/scans/noisy-cloud.ts";
import { answered, cloud, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/wood";
const made = sessionTest();
const segment = (payload: object) => answered(made, WoodResponse, URL, payload);
const { points, classes } = leafyTree();

describe("a cylinder with a ball of leaves", () => {
  test.each(SHAPE_METHODS)("%s", async (method) => {
    const answer = await segment({ points, method });
    expect(answer).toMatchObject({ success: true, method, num_points: points.length, source_counts: [points.length] });
    expect(agreement(answer.labels, classes)).toBeGreaterThan(0.95);
    const wood = Array.from(answer.labels).filter((label) => label === 1).length;
    expect([answer.num_wood, answer.num_leaf]).toEqual([wood, points.length - wood]);
    expect(answer.warnings).toEqual(
      method === "geometric"
        ? []
        : [expect.stringMatching(/^No ground labels came with the points: .* Remove the ground/)],
    );
  });

  test("sota is the default; its segments and cylinders are counted", async () => {
    const answer = await segment({ points });
    expect(answer.method).toBe("sota");
    expect(answer.segments).toBeGreaterThan(0);
    expect(answer.cylinders).toBeLessThanOrEqual(answer.segments);
  });

  test("lower wood_bias gives more wood; speckle below min_speckle becomes leaf", async () => {
    const wood = async (payload: object) => (await segment({ points, method: "geometric", ...payload })).num_wood;
    const [low, high] = [await wood({ wood_bias: 0.1 }), await wood({ wood_bias: 0.95 })];
    expect(low).toBeGreaterThan(high);
    expect(await wood({ min_speckle: points.length })).toBe(0);
  });
});

test("the order of the points and a shift of 5e6 m change nothing; neither does a mirror image, nearly", async () => {
  const { labels } = await segment({ points });
  const turned = await segment({ points: points.toReversed() });
  expect(Array.from(turned.labels).reverse()).toEqual(Array.from(labels));
  const far = await segment({ points: points.map(([x, y, z]) => [x + 5e6, y - 5e6, z]) });
  expect(agreement(far.labels, labels)).toBeGreaterThan(0.998);
  const mirrored = await segment({ points: points.map(([x, y, z]) => [-x, y, z]) });
  expect(agreement(mirrored.labels, labels)).toBeGreaterThan(0.998);
});

test("leaves that are scanned finely are leaf: sota looks no finer than a leaf", async () => {
  const tree = finelyScanned();
  const answer = await segment({ points: tree.points });
  expect(agreement(answer.labels, tree.classes)).toBeGreaterThan(0.8);
  expect(answer.voxel_size).toBeLessThan(0.02);
  // At the spacing of the points each leaf is as flat as bark.
  const finely = await segment({ points: tree.points, voxel_size: 0.0005 });
  expect(agreement(finely.labels, tree.classes)).toBeLessThan(0.3);
});

test("points that come twice are told where they count as neighbours", async () => {
  const twice = points.flatMap((point) => [point, point]);
  const told = /^About 100 % of the points stand at the place of another one, which counts as a neighbour: shapes/;
  for (const method of ["geometric", "connectivity"])
    expect((await segment({ points: twice, method })).warnings).toContainEqual(expect.stringMatching(told));
  for (const method of SHAPE_METHODS) {
    const voxels = await segment({ points: twice, method, voxel_size: 0.03 });
    expect(voxels.voxel_size).toBe(0.03);
    expect(voxels.warnings).not.toContainEqual(expect.stringMatching(told));
  }
});

test("an answer that is nearly all wood, or has none, says so", async () => {
  const bare = points.filter((_, i) => classes[i] === 1);
  const warned = (await segment({ points: bare })).warnings;
  expect(warned).toContainEqual(
    expect.stringMatching(/^100 % of the points are wood\. That is plausible only without/),
  );
  const none = await segment({ points, method: "geometric", min_speckle: points.length });
  expect(none.warnings).toEqual([expect.stringMatching(/^No point is wood/)]);
});

test("reflectance makes wood, never leaf, and only if it separates", async () => {
  const bright = classes.map((value, i) => (value === 1 ? 10 + (i % 7) : 1 + (i % 3)));
  const without = await segment({ points, method: "geometric" });
  const voted = await segment({ points, method: "geometric", reflectance: bright });
  expect(voted.reflectance_weight).toBeGreaterThan(0.3);
  const lost = Array.from(without.labels).filter(
    (label, i) => label === 1 && (voted.labels as ArrayLike<number>)[i] === 2,
  ).length;
  expect(lost).toBe(0);
  expect(voted.num_wood - without.num_wood).toBe(voted.reflectance_wood);
  const off = await segment({ points, method: "geometric", reflectance: bright, reflectance_weight_max: 0 });
  expect([off.reflectance_weight, off.num_wood]).toEqual([0, without.num_wood]);
  const dark = await segment({ points, method: "geometric", reflectance: bright.map((value) => -value) });
  expect([dark.reflectance_weight, dark.num_wood]).toEqual([0, without.num_wood]);
});

test("above the limit voxels are told apart, and every point has a label", async () => {
  const small = await appOfTest({ woodMaxPoints: 3000 });
  const answer = await answered(small, WoodResponse, URL, { points });
  expect(answer.voxel_size).toBeGreaterThan(0);
  expect(answer.labels.length).toBe(points.length);
  expect(answer.warnings).toContainEqual(expect.stringMatching(/^\d+ voxels of .* m were told apart/));
  expect(agreement(answer.labels, classes)).toBeGreaterThan(0.9);
  const asked = await segment({ points, voxel_size: 0.05 });
  expect(asked.voxel_size).toBe(0.05);
});

test("several sources are one cloud, in order; reflectance counts only if each has one", async () => {
  const half = points.length / 2;
  const plain = await cloud(made, ["x y z", ...rowsOf(points.slice(0, half))]);
  const rows = points.slice(half).map((p, i) => `${p.join(" ")} ${classes[half + i] === 1 ? 9 : 1}`);
  const bright = await cloud(made, ["x y z reflectance", ...rows]);
  const sources = [{ session_id: plain.session_id }, { session_id: bright.session_id }];
  const answer = await segment({ sources });
  expect(answer.source_counts).toEqual([half, points.length - half]);
  expect(answer.reflectance_weight).toBe(0);
  const whole = await segment({ points });
  expect(agreement(answer.labels, whole.labels)).toBeGreaterThan(0.99);
  const one = await segment({ source: { session_id: bright.session_id }, method: "geometric" });
  expect(one.labels.length).toBe(points.length - half);
});

test("fewer than 3 points are an error", async () => {
  const few = await segment({ points: points.slice(0, 2) });
  expect(few).toMatchObject({ success: false, error: "Need at least 3 points", labels: [], source_counts: [] });
});

test.each([
  [{ method: "magic" }, /^method "magic" is none of sota, connectivity, geometric, ml$/],
  [{ wood_bias: 1.5 }, /^wood_bias must be 0 to 1, not 1.5$/],
  [{ k_min: 2 }, /^k_min must be 3 to 300, not 2$/],
  [{ k_min: 50, k_max: 20 }, /^k_min 50 must be at most k_max 20$/],
  [{ voxel_size: -1 }, /^voxel_size must be a number from 0, not -1$/],
  [{ reflectance: [1, 2] }, /^reflectance has 2 values for \d+ points$/],
])("refused before any work: %o", async (payload, message) => {
  const [status, text] = await refusal(made, URL, { points, ...payload });
  expect(status).toBe(400);
  expect(text).toMatch(message);
});

test("no points and no source: 400", async () => {
  expect(await refusal(made, URL, {})).toEqual([400, "Send `points` or a `source` descriptor."]);
});

test("a long run is asked about first", async () => {
  const slow = await appOfTest({ costWarningS: 0.001 });
  const asked = await answered(slow, WoodResponse, URL, { points });
  expect([asked.success, asked.error, asked.cost_warning?.over_time]).toEqual([false, null, true]);
  const done = await answered(slow, WoodResponse, URL, { points, acknowledge_cost: true });
  expect([done.success, done.cost_warning]).toEqual([true, null]);
});
