import { describe, expect, test, vi } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { CostRefusal } from "../../../shared/contract/cost-warning.ts";
import { GIB } from "../../../shared/limits.ts";
import { appOfTest, refused, type TestApp } from "../../support/app/app.ts";
import { heldUntilCanceled } from "../../support/native/native-failure.ts";
import { eventually } from "../../support/run/stopwatch.ts";
import { agreement, EXPECTED_GROUND, WOODED, wooded } from "../../support/scans/ground-cloud.ts";
import { rowsOf } from "../../support/scans/noisy-cloud.ts";
import { amid, answered, cloud, columnOf, refusal, stateOf, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/segment_ground`;
const segment = (id: string, payload: object = {}, app: TestApp = made) =>
  answered(app, SessionGroundResponse, url(id), payload);
const plain = (points: readonly (readonly number[])[] = WOODED.points, app: TestApp = made) =>
  cloud(app, ["x y z", ...rowsOf(points)]);
const classOf = (id: string) => columnOf(made, id, extraKey("ground_class"));
const FIRST_GROUND = { kind: "box", min: [-0.1, -0.1, -9], max: [0.1, 0.1, 1] };
const CROWNS = { kind: "box", min: [-1, -1, 2.5], max: [99, 99, 99] };

test("labels the hits that are not deleted: misses and deleted rows 0, and the octree shows the column", async () => {
  const sky = ["0 0 900 1", "1 0 900 1"];
  const rows = ["x y z is_miss", ...sky, ...rowsOf(WOODED.points).map((row) => `${row} 0`)];
  const { session_id } = await cloud(made, rows);
  await post(session_id, "delete_region", { region: FIRST_GROUND });
  const answer = await segment(session_id);
  expect(answer).toMatchObject({
    session_id,
    analyzed_points: WOODED.points.length - 1,
    num_ground: WOODED.ground_count - 1,
    non_finite: 0,
    class_threshold_method: "derived",
    method: "auto",
    tiled: null,
    warnings: [],
    observed_classes: { ground_class: [1, 2] },
  });
  const column = (await stateOf(made, session_id)).columns.get(extraKey("ground_class"));
  expect(column?.native.dtype).toBe("u8");
  expect(await classOf(session_id)).toEqual([0, 0, 0, ...EXPECTED_GROUND.slice(1)]);
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({
    octree_cache_id: (answer as { cache_id: string }).cache_id,
    rendered_octree_cache_id: null,
    octree_lacks_labels: false,
  });
  expect(meta.extra_dims_meta).toContainEqual({ slug: "ground_class", label: "Ground Class" });
});

test("defer_octree: the column exists, the octree is stale", async () => {
  const { session_id, cache_id } = await plain();
  const answer = await segment(session_id, { defer_octree: true, method: "auto" });
  expect(answer).toMatchObject({ octree_deferred: true, method: "auto" });
  expect(answer).not.toHaveProperty("cache_id");
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({ octree_cache_id: null, rendered_octree_cache_id: cache_id });
  expect(agreement((await classOf(session_id)) ?? [], EXPECTED_GROUND)).toBeGreaterThan(0.99);
});

test("a second run replaces the column and discards its strokes", async () => {
  const { session_id } = await plain();
  await segment(session_id, { class_threshold: 50 });
  expect(new Set(await classOf(session_id))).toEqual(new Set([1]));
  await post(session_id, "label_region", {
    slug: "ground_class",
    strokes: [{ stroke_id: "a", region: CROWNS, to_class: 7 }],
  });
  expect((await stateOf(made, session_id)).undo.labels.size).toBe(1);
  await segment(session_id);
  expect(await classOf(session_id)).toEqual(EXPECTED_GROUND);
  const { undo, meta } = await stateOf(made, session_id);
  expect(undo.labels.size).toBe(0);
  expect(meta.extra_dims_meta).toEqual([{ slug: "ground_class", label: "Ground Class" }]);
});

test("heights above a former ground are told", async () => {
  const { session_id } = await plain();
  expect((await segment(session_id)).warnings).toEqual([]);
  await post(session_id, "dem", { add_height_column: true, cell_size: 1 });
  const said = [expect.stringMatching(/height_above_ground still has the heights above the former ground/)];
  expect((await segment(session_id, { method: "smrf" })).warnings).toEqual(said);
});

test("the terrain is then computed from the labels", async () => {
  const { session_id } = await plain();
  await segment(session_id, { defer_octree: true });
  const spy = vi.spyOn(addon, "clothSimulation");
  expect((await post(session_id, "dem", { cell_size: 1 })).statusCode).toBe(200);
  expect(spy).not.toHaveBeenCalled();
  spy.mockRestore();
});

test("the column is kept when the session is moved from memory to its files", async () => {
  const { session_id } = await plain();
  await segment(session_id);
  await made.deps.sessions.spill(await made.deps.sessions.get(session_id));
  expect(await classOf(session_id)).toEqual(EXPECTED_GROUND);
});

test("large clouds are processed in tiles", async () => {
  const tiled = await appOfTest({ groundTileMinPoints: 2000, groundTileTargetPoints: 1000 });
  const { session_id } = await plain(WOODED.points, tiled);
  const answer = await segment(session_id, { cloth_resolution: 0.2 }, tiled);
  expect(answer.tiled).toMatchObject({ n: WOODED.points.length, buffer_m: 6 });
  expect(answer.tiled?.tiles).toBe(4);
});

describe("rejected requests", () => {
  test("an unknown session is rejected", async () => {
    expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  });
  test.each([
    [{ method: "csf" }, 'method "csf" is none of cloth, smrf, auto, las_classification'],
    [{ cloth_resolution: 0 }, "cloth_resolution must be a number above 0, not 0"],
    [{ method: "auto", class_threshold: 1 }, 'class_threshold belongs to method "cloth", not to "auto"; leave it out'],
    [{}, "Need at least 10 points for ground segmentation, but there are 9"],
    [{ method: "smrf" }, "Need at least 10 points for ground segmentation, but there are 9"],
  ])("%j", async (request, detail) => {
    const { session_id } = await plain(WOODED.points.slice(0, 9));
    expect(await refusal(made, url(session_id), request)).toEqual([400, detail]);
  });
  test("hits that are not finite are not counted as points", async () => {
    const { session_id } = await plain();
    const spy = vi.spyOn(addon, "groundExtent").mockImplementation(() => {
      const promise = Promise.resolve({ finite_count: 9, extent: [1, 1] as const });
      return { promise, progress: () => ({ phase: "", done: 0, total: 0 }), cancel: () => undefined };
    });
    expect(await refusal(made, url(session_id), {})).toEqual([
      400,
      "Need at least 10 points for ground segmentation, but there are 9",
    ]);
    spy.mockRestore();
  });
  test("a cloth that is too fine", async () => {
    const { session_id } = await plain([...WOODED.points, [1000, 1000, 0]]);
    expect(await refusal(made, url(session_id), { cloth_resolution: 0.001, rigidness: 1 })).toEqual([
      400,
      "cloth_resolution 0.001 needs 1000002.0 M cloth nodes for an extent of 1000.0 m (limit 25 M); 0.21 is the finest that fits",
    ]);
  });
  test("a grid of smrf that is too large", async () => {
    const { session_id } = await plain([...WOODED.points, [9000, 9000, 0]]);
    const [status, detail] = await refusal(made, url(session_id), {
      method: "smrf",
      cell_size: 0.5,
      acknowledge_cost: true,
    });
    expect([status, detail]).toEqual([400, expect.stringContaining("25 M")]);
  });
});

describe("cost of a run", () => {
  test("a long run returns a cost warning first, and starts once it is acknowledged", async () => {
    const slow = await appOfTest({ costWarningS: 1 });
    const { session_id } = await plain([...WOODED.points, [900, 900, 0]], slow);
    const request = { cloth_resolution: 0.3, iterations: 10_000, defer_octree: true };
    const spy = vi.spyOn(addon, "clothSimulation");
    const answer = await refused(slow, url(session_id), request);
    expect([answer.status, answer.code, spy.mock.calls.length]).toEqual([409, "conflict", 0]);
    const { detail } = CostRefusal.parse(answer);
    expect(detail.message).toBe(detail.cost_warning.message);
    expect(detail.message).toMatch(
      /^Ground segmentation may take up to \d+ (s|minutes)\. Send the request again with acknowledge_cost to run it\.$/,
    );
    expect(detail.cost_warning).toMatchObject({ over_time: true, over_memory: false, admitted_bytes: 0 });
    expect(detail.cost_warning.estimated_seconds).toBeGreaterThan(1);
    expect(detail.cost_warning.headroom_bytes).toBe(detail.cost_warning.budget_bytes);
    await segment(session_id, { ...request, cloth_resolution: 5, acknowledge_cost: true }, slow);
    expect(spy).toHaveBeenCalledTimes(1);
    spy.mockRestore();
  });

  test("a run that does not fit into memory next to the runs in progress", async () => {
    const small = await appOfTest({ memoryBudgetBytes: 2_000_000 });
    const { session_id } = await plain(WOODED.points, small);
    const answer = await refused(small, url(session_id), { cloth_resolution: 0.02 });
    const { detail } = CostRefusal.parse(answer);
    expect(answer.status).toBe(409);
    expect(detail.cost_warning).toMatchObject({
      over_time: false,
      over_memory: true,
      budget_bytes: 2_000_000,
      headroom_bytes: 2_000_000,
    });
    expect(detail.cost_warning.estimated_bytes).toBeGreaterThan(2_000_000);
    expect(detail.message).toContain(`of ${(2_000_000 / GIB).toFixed(3)} GiB are free`);
    const done = await segment(session_id, { cloth_resolution: 0.02, iterations: 2, acknowledge_cost: true }, small);
    expect(done.params_used.cloth_resolution).toBe(0.02);
  });
});

describe("concurrent edits and runs", () => {
  let side = 50;
  /** Another one each time: an octree that is in the cache is not built. */
  const large = () => {
    side += 2;
    return wooded(side, 0.4).points;
  };

  test("an edit during the run takes precedence: 409, nothing is written", async () => {
    const { session_id } = await plain(large());
    let edit: Promise<unknown> = Promise.resolve();
    const act = () => {
      edit = Promise.resolve(post(session_id, "delete_region", { region: CROWNS }));
    };
    const value = await amid(
      "groundMeasures",
      async () => {
        act();
        await edit;
      },
      () => refusal(made, url(session_id), { method: "cloth" }),
    );
    expect(value).toEqual([409, "the cloud changed while this operation ran; run it again"]);
    expect(await classOf(session_id)).toBeUndefined();
  });

  test("of two concurrent runs, one is written and the other rejected", async () => {
    const { session_id } = await plain();
    const both = await Promise.all([post(session_id, "segment_ground", {}), post(session_id, "segment_ground", {})]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect((await stateOf(made, session_id)).version).toBe(1);
  });

  test.each([
    ["groundMeasures", { method: "cloth" }],
    ["clothSimulation", { method: "cloth" }],
    ["smrf", { method: "smrf" }],
    ["groundAuto", { method: "auto" }],
    ["octreeBuild", {}],
  ] as const)("canceled in %s: 499, no leftovers", async (op, request) => {
    const { session_id } = await plain(large());
    const before = [addon.bulkBytesInUse(), (await stateOf(made, session_id)).version];
    let reached = false;
    const cancel = () => {
      reached = true;
      setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
    };
    const value = await heldUntilCanceled(op, cancel, () => refusal(made, url(session_id), request));
    expect(reached).toBe(true);
    expect(value).toEqual([499, "Ground segmentation was canceled."]);
    expect(await classOf(session_id)).toBeUndefined();
    await eventually(async () =>
      expect([addon.bulkBytesInUse(), (await stateOf(made, session_id)).version]).toEqual(before),
    );
  });
});
