import { describe, expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { readNumbers } from "../../../backend/services/files/preview/values.ts";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionDenoiseResponse } from "../../../shared/contract/cloud-session/denoise.ts";
import { heldUntilCanceled } from "../../support/native/native-failure.ts";
import { eventually } from "../../support/run/stopwatch.ts";
import { CLEAN_COUNT, EXPECTED, NOISY, noisyCloud, rowsOf, STRAYS } from "../../support/scans/noisy-cloud.ts";
import { amid, answered, cloud, refusal, stateOf, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/denoise`;
const denoise = (id: string, payload: object = {}) => answered(made, SessionDenoiseResponse, url(id), payload);
const FIRST_STRAY = { kind: "box", min: [-1, -20, 3], max: [1, 0, 9] };

/** The noisy cloud behind two misses. */
const noisy = () => {
  const sky = ["0 0 900 0 1", "1 0 900 0 1"];
  return cloud(made, ["x y z noise_class is_miss", ...sky, ...rowsOf(NOISY).map((row) => `${row} 0 0`)]);
};
const plain = (points = NOISY) => cloud(made, ["x y z", ...rowsOf(points)]);
const classOf = async (id: string) => {
  const column = (await stateOf(made, id)).columns.get(extraKey("noise_class"));
  return column ? [column.native.dtype, Array.from(readNumbers(column.native).slice(0, column.length), Number)] : null;
};

test("labels the points that are not deleted: misses are clean, deleted rows 0, and the octree shows the column", async () => {
  const { session_id } = await noisy();
  await post(session_id, "delete_region", { region: FIRST_STRAY });
  const answer = await denoise(session_id);
  expect(answer).toMatchObject({
    session_id,
    analyzed_points: NOISY.length - 1,
    flagged: STRAYS - 1,
    kept: CLEAN_COUNT,
    fraction: (STRAYS - 1) / (NOISY.length - 1),
    over_removal: false,
    warnings: [],
    method: "ror",
    point_count: NOISY.length - 1,
    observed_classes: { noise_class: [1, 2] },
  });
  const expected = [1, 1, ...EXPECTED];
  expected[2 + CLEAN_COUNT] = 0;
  expect(await classOf(session_id)).toEqual(["u8", expected]);
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({
    octree_cache_id: (answer as { cache_id: string }).cache_id,
    rendered_octree_cache_id: null,
    octree_lacks_labels: false,
    extra_dims_meta: [{ slug: "noise_class", label: "Noise Class" }, expect.objectContaining({ slug: "is_miss" })],
  });
});

test("defer_octree: the column exists, the octree is stale", async () => {
  const { session_id, cache_id } = await plain();
  const answer = await denoise(session_id, { defer_octree: true, method: "voxel_count" });
  expect(answer).toMatchObject({ octree_deferred: true, flagged: STRAYS });
  expect(answer).not.toHaveProperty("cache_id");
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({ octree_cache_id: null, rendered_octree_cache_id: cache_id });
  expect(await classOf(session_id)).toEqual(["u8", EXPECTED]);
});

test("auto also works on a session", async () => {
  const { session_id } = await noisy();
  const answer = await denoise(session_id, { method: "auto", defer_octree: true });
  expect(answer).toMatchObject({ method: "auto", flagged: STRAYS, kept: CLEAN_COUNT });
  expect(await classOf(session_id)).toEqual(["u8", [1, 1, ...EXPECTED]]);
});

test("a second run replaces the column, discards its strokes and warns about sor", async () => {
  const { session_id } = await plain();
  await denoise(session_id, { method: "voxel_count", voxel: 0.001 });
  expect((await classOf(session_id))?.[1]).toEqual(NOISY.map(() => 2));
  const strokes = [{ stroke_id: "a", region: FIRST_STRAY, to_class: 7 }];
  await post(session_id, "label_region", { slug: "noise_class", strokes });
  expect((await stateOf(made, session_id)).undo.labels.size).toBe(1);
  const answer = await denoise(session_id, { method: "sor" });
  expect(answer.warnings[0]).toContain("sor takes more points with every pass");
  expect(await classOf(session_id)).toEqual(["u8", EXPECTED]);
  const { undo, meta } = await stateOf(made, session_id);
  expect(undo.labels.size).toBe(0);
  expect(meta.extra_dims_meta).toEqual([{ slug: "noise_class", label: "Noise Class" }]);
  const again = await denoise(session_id, { method: "sor" });
  expect([again.flagged, await classOf(session_id)]).toEqual([STRAYS, ["u8", EXPECTED]]);
});

test("after removing the noise, a second run finds none", async () => {
  const { session_id } = await plain(noisyCloud(40, STRAYS));
  await denoise(session_id);
  await post(session_id, "filter", { scalar_filters: [{ slug: "noise_class", max: 1 }] });
  const second = await denoise(session_id);
  expect([second.analyzed_points, second.flagged]).toEqual([6400, 0]);
});

test("the column is kept when the session is moved from memory to its files", async () => {
  const { session_id } = await plain();
  await denoise(session_id);
  const session = await made.deps.sessions.get(session_id);
  await made.deps.sessions.spill(session);
  expect(await classOf(session_id)).toEqual(["u8", EXPECTED]);
});

describe("rejected requests", () => {
  test("an unknown session is rejected", async () => {
    expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  });
  test.each([
    [{ method: "dbscan" }, 'method "dbscan" is none of ror, voxel_count, sor, auto'],
    [{ radius: 0 }, "radius must be a number above 0, not 0"],
    [{ nb_neighbors: 0 }, "nb_neighbors must be 1 to 1000, not 0"],
  ])("%j", async (request, detail) => {
    const { session_id } = await cloud(made, ["x y z", "0 0 0"]);
    expect(await refusal(made, url(session_id), request)).toEqual([400, detail]);
  });
  test("fewer than 1000 hits", async () => {
    const { session_id } = await plain(NOISY.slice(0, 999));
    expect(await refusal(made, url(session_id), {})).toEqual([
      400,
      "Need at least 1000 points for noise detection, but there are 999; use a larger part of the cloud",
    ]);
  });
});

describe("concurrent edits and runs", () => {
  test("an edit during the run takes precedence: 409, nothing is written", async () => {
    const { session_id } = await plain(noisyCloud(60, STRAYS));
    const act = async () => {
      await post(session_id, "delete_region", { region: FIRST_STRAY });
    };
    for (const defer_octree of [false, true]) {
      const value = await amid("pointSpacing", act, () => refusal(made, url(session_id), { defer_octree }));
      expect(value).toEqual([409, "the cloud changed while this operation ran; run it again"]);
      expect(await classOf(session_id)).toBeNull();
      await post(session_id, "reset_edits", { edit_count: 0 });
    }
  });

  test("of two concurrent runs, one is written and the other rejected", async () => {
    const { session_id } = await plain(noisyCloud(40, STRAYS));
    const both = await Promise.all([post(session_id, "denoise", {}), post(session_id, "denoise", {})]);
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect((await stateOf(made, session_id)).version).toBe(1);
  });

  test.each(["pointSpacing", "labelNoise", "octreeBuild"] as const)(
    "canceled in %s: 499, and nothing is left behind",
    async (op) => {
      const { session_id } = await plain(noisyCloud(150, STRAYS));
      const before = [addon.bulkBytesInUse(), (await stateOf(made, session_id)).version];
      let reached = false;
      const cancel = () => {
        reached = true;
        setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
      };
      const value = await heldUntilCanceled(op, cancel, () => refusal(made, url(session_id), {}));
      expect(reached).toBe(true);
      expect(value).toEqual([499, "Denoise was canceled."]);
      expect(await classOf(session_id)).toBeNull();
      await eventually(async () =>
        expect([addon.bulkBytesInUse(), (await stateOf(made, session_id)).version]).toEqual(before),
      );
    },
  );
});
