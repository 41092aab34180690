import { expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionWoodResponse } from "../../../shared/contract/cloud-session/segment-wood.ts";
import { CostRefusal } from "../../../shared/contract/cost-warning.ts";
import { appOfTest, refused } from "../../support/app/app.ts";
import { heldUntilCanceled } from "../../support/native/native-failure.ts";
import { eventually } from "../../support/run/stopwatch.ts";
import { agreement, leafyTree } from "../../support/scans/leafy-tree.ts";
import { rowsOf } from "../../support/scans/noisy-cloud.ts";
import { answered, cloud, columnOf, refusal, stateOf, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { points, classes } = leafyTree();
const url = (id: string) => `/api/cloud/session/${id}/segment_wood`;
const segment = (id: string, payload: object = {}) =>
  answered(made, SessionWoodResponse, url(id), { method: "geometric", ...payload });
const woodOf = async (id: string) => (await columnOf(made, id, extraKey("wood_class"))) ?? [];
const HEADER = "x y z is_miss Brightness";
const rows = points.map((p, i) => `${p.join(" ")} 0 ${classes[i] === 1 ? 5 + (i % 5) : i % 3}`);
const plain = () => cloud(made, [HEADER, "0 0 900 1 0", ...rows]);

test("labels hits; misses and deleted rows get 0, and the octree shows the column", async () => {
  const { session_id } = await plain();
  await made.post(session_id, "delete_region", { region: { kind: "box", min: [-9, -9, -1], max: [9, 9, 0.5] } });
  const answer = await segment(session_id);
  const gone = points.filter(([, , z]) => z <= 0.5).length;
  expect(answer).toMatchObject({ session_id, analyzed_points: points.length - gone, method: "geometric" });
  const labels = await woodOf(session_id);
  expect(labels[0]).toBe(0);
  const kept = points.flatMap(([, , z], i) => (z > 0.5 ? [i] : []));
  expect(points.every(([, , z], i) => (labels[i + 1] === 0) === z <= 0.5)).toBe(true);
  expect(
    agreement(
      kept.map((i) => labels[i + 1] ?? 0),
      kept.map((i) => classes[i] ?? 0),
    ),
  ).toBeGreaterThan(0.9);
  const { meta, columns } = await stateOf(made, session_id);
  expect(columns.get(extraKey("wood_class"))?.native.dtype).toBe("u8");
  expect(meta.octree_cache_id).toBe((answer as { cache_id: string }).cache_id);
  expect(meta.extra_dims_meta).toContainEqual({ slug: "wood_class", label: "Wood Class" });
});

test("defer_octree: the column exists, the octree is stale; scalar_slug in any case", async () => {
  const { session_id, cache_id } = await plain();
  const answer = await segment(session_id, { defer_octree: true, scalar_slug: "BRIGHTNESS" });
  expect(answer).toMatchObject({ octree_deferred: true });
  expect(answer.reflectance_weight).toBeGreaterThan(0.2);
  expect(answer).not.toHaveProperty("cache_id");
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({ octree_cache_id: null, rendered_octree_cache_id: cache_id });
  expect((await segment(session_id, { defer_octree: true })).reflectance_weight).toBe(0);
});

test("skip_ground: the points without ground as if there were none; refused without labels", async () => {
  const low = points.map(([, , z = 0]) => z < 0.1);
  const labelled = points.map((p, i) => `${p.join(" ")} ${low[i] ? 1 : 2}`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...labelled]);
  const answer = await segment(session_id, { method: "sota", skip_ground: true });
  expect(answer.analyzed_points).toBe(low.filter((ground) => !ground).length);
  expect(answer.warnings.filter((text) => text.includes("ground"))).toEqual([]);
  const back = labelled.map((row, i) => (i < 3 ? row.replace(/ [12]$/, " 0") : row));
  const unlabelled = await cloud(made, ["x y z ground_class", ...back]);
  expect((await segment(unlabelled.session_id, { method: "sota", skip_ground: true })).warnings).toContainEqual(
    expect.stringMatching(/^3 points have no ground class.*Ground among them is kept/),
  );
  const alone = await cloud(made, ["x y z", ...points.flatMap((p, i) => (low[i] ? [] : [p.join(" ")]))]);
  await segment(alone.session_id, { method: "sota" });
  const labels = await woodOf(session_id);
  expect(labels.filter((_, i) => low[i]).every((label) => label === 0)).toBe(true);
  expect(labels.filter((_, i) => !low[i])).toEqual(await woodOf(alone.session_id));
  expect(await refusal(made, url(alone.session_id), { skip_ground: true })).toEqual([
    400,
    expect.stringContaining("segment the ground first"),
  ]);
});

test("ground that is labelled: a warning of the methods with a skeleton", async () => {
  const labelled = points.map((p) => `${p.join(" ")} ${(p[2] ?? 0) < 0.1 ? 1 : 2}`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...labelled]);
  const ground = points.filter(([, , z]) => z < 0.1).length;
  const answer = await segment(session_id, { method: "sota", defer_octree: true });
  expect(answer.warnings[0]).toMatch(new RegExp(`^${ground} points are labelled as ground: method sota`));
  expect((await segment(session_id, { defer_octree: true })).warnings).toEqual([]);
});

test("a long run: 409 with the cost warning, and nothing changed", async () => {
  const slow = await appOfTest({ costWarningS: 0.001 });
  const { session_id } = await cloud(slow, [HEADER, ...rows]);
  const answer = await refused(slow, url(session_id), {});
  expect([answer.status, answer.code]).toEqual([409, "conflict"]);
  expect(CostRefusal.parse(answer).detail.message).toMatch(
    /^Wood segmentation may take .* acknowledge_cost to run it\.$/,
  );
  expect(await columnOf(slow, session_id, extraKey("wood_class"))).toBeUndefined();
});

test.each(["woodLeaf", "octreeBuild"] as const)("canceled in %s: 499, no leftovers", async (op) => {
  const more = rowsOf(leafyTree(op === "woodLeaf" ? 2 : 3).points);
  const { session_id } = await cloud(made, ["x y z", ...more]);
  const before = [addon.bulkBytesInUse(), (await stateOf(made, session_id)).version];
  let reached = false;
  const cancel = () => {
    reached = true;
    setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
  };
  const value = await heldUntilCanceled(op, cancel, () => refusal(made, url(session_id), { method: "geometric" }));
  expect([reached, value]).toEqual([true, [499, "Wood segmentation was canceled."]]);
  expect(await columnOf(made, session_id, extraKey("wood_class"))).toBeUndefined();
  await eventually(async () =>
    expect([addon.bulkBytesInUse(), (await stateOf(made, session_id)).version]).toEqual(before),
  );
});

test("an unknown session: 404", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
});
