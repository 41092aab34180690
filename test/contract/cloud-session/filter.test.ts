import { describe, expect, test } from "vitest";
import { FilterResponse } from "../../../shared/contract/cloud-session/filter.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import {
  amid,
  answered,
  cloud,
  lineCloud,
  lineRows,
  octreeXs,
  refusal,
  slab,
  stateOf,
  survivingXs,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/filter`;
const filter = (id: string, body: object) => answered(made, FilterResponse, url(id), body);
const CHANGED = "the cloud changed while this operation ran; run it again";

describe("which points remain", () => {
  /** x of the hits that stay of five with classes 1 to 5, a score and a clock. */
  const kept = async (body: object) => {
    const { session_id } = await cloud(made, [
      "x y z class score timestamp",
      "0 0 0 1 0.5 350000000.125",
      "1 0 0 2 1.5 350000000.25",
      "2 0 0 3 2.4 350000000.375",
      "3 0 0 4 nan 350000000.5",
      "4 0 0 5 4.5 350000000.625",
    ]);
    await filter(session_id, { rebuild: false, ...body });
    return survivingXs(made, session_id);
  };
  test.each([
    [{ region: slab(1, 3) }, [1, 2, 3]],
    [{ region: { ...slab(1, 3), invert: true } }, [0, 4]],
    [{ scalar_filters: [{ slug: "class", min: 2, max: 4 }] }, [1, 2, 3]],
    [{ scalar_filters: [{ slug: "class", min: 4 }] }, [3, 4]],
    [{ scalar_filters: [{ slug: "class", max: 2 }] }, [0, 1]],
    [{ scalar_filters: [{ slug: "class", min: null, max: null, values: [] }] }, [0, 1, 2, 3, 4]],
    [{ scalar_filters: [{ slug: "class", values: [1, 5], min: 3, max: 3 }] }, [0, 4]],
    [{ scalar_filters: [{ slug: "score", values: [2] }] }, [1, 2]], // 1.5 and 2.4 round to 2
    [{ scalar_filters: [{ slug: "score", min: 0 }] }, [0, 1, 2, 4]], // NaN is in no range
    [
      {
        scalar_filters: [
          { slug: "class", min: 2 },
          { slug: "score", max: 2.4 /* of a float32 column */ },
        ],
      },
      [1, 2],
    ],
    [{ region: slab(0, 1), scalar_filters: [{ slug: "class", min: 2 }] }, [1]],
    [{ scalar_filters: [{ slug: "timestamp", min: 350000000.25, max: 350000000.5 }] }, [1, 2, 3]],
    [{ scalar_filters: [{ slug: "gps-time", max: 350000000.125 }] }, [0]],
  ])("%j", async (body, expected) => {
    expect(await kept(body)).toEqual(expected);
  });
});

test("rebuild: the octree contains the remaining points, misses stay, nothing can be undone", async () => {
  const made_ = await lineCloud(made, [1, 2, 3], 2, { origin: [0, 0, 1] });
  const { session_id } = made_;
  await post(session_id, "label_region", { strokes: [{ stroke_id: "a", region: slab(0, 2), to_class: 2 }] });
  await post(session_id, "delete_region", { region: slab(0, 0) });
  const answer = await filter(session_id, { scalar_filters: [{ slug: "class", max: 2 }] });
  expect(answer).toMatchObject({
    session_id,
    rebuilt: true,
    point_count: 1,
    observed_classes: { class: [2] },
  });
  const { cache_id, miss_octree_cache_id } = answer as { cache_id: string; miss_octree_cache_id: string };
  expect(octreeXs(made, cache_id)).toEqual([1]);
  // The sky is drawn at 1.4 times the farthest hit: sqrt(2) m from the scanner now, sqrt(5) before.
  expect(miss_octree_cache_id).not.toBe(made_.miss_octree_cache_id);
  expect(octreePoints(made.octrees, miss_octree_cache_id)).toEqual([
    [0, 0, 2.98],
    [0.002, 0, 2.98],
  ]);
  expect(await survivingXs(made, session_id)).toEqual([1, 0, 1]); // the hit and both misses
  const { undo, meta } = await stateOf(made, session_id);
  expect([undo.base?.count, undo.deletes.length, undo.labels.size]).toEqual([2, 0, 0]);
  expect(meta).toMatchObject({ octree_cache_id: cache_id, rendered_octree_cache_id: null, octree_point_count: 3 });
});

test("without rebuild, the octree is stale and the counts report its deleted points", async () => {
  const { session_id, cache_id } = await lineCloud(made, [1, 2, 3, 4], 1);
  expect(await filter(session_id, { region: slab(1, 2), rebuild: false })).toEqual({
    session_id,
    rebuilt: false,
    remaining_count: 3,
    deleted_count: 2,
    pending_deleted_count: 2,
    total_count: 5,
  });
  const { meta } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, meta.rendered_octree_cache_id, meta.octree_pose]).toEqual([null, cache_id, null]);
});

test("filters compose: each one applies to the result of the previous one", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3, 4]);
  await filter(session_id, { region: slab(0, 2), rebuild: false });
  await filter(session_id, { region: slab(1, 3), rebuild: false });
  expect(await survivingXs(made, session_id)).toEqual([1, 2]);
});

test.each([true, false])(
  "if no hit would remain, nothing is changed, with or without misses (rebuild %s)",
  async (rebuild) => {
    const { session_id } = await lineCloud(made, [1, 2, 3], 2);
    await post(session_id, "delete_region", { region: slab(0, 0) });
    const before = await stateOf(made, session_id);
    const nothing = { scalar_filters: [{ slug: "class", values: [9] }], rebuild }; // 9 is the class of the misses
    expect(await filter(session_id, nothing)).toEqual({
      session_id,
      point_count: 0,
      rebuilt: false,
      remaining_count: 4,
      total_count: 5,
    });
    expect(await stateOf(made, session_id)).toBe(before);
  },
);

test("normals become stale when points are deleted", async () => {
  const { session_id } = await cloud(made, ["x y z nx ny nz", "0 0 0 0 0 1", "1 0 0 0 0 1"]);
  await filter(session_id, { region: slab(0, 1) });
  expect((await stateOf(made, session_id)).meta.normals_stale).toBe(false);
  await filter(session_id, { region: slab(0, 0) });
  expect((await stateOf(made, session_id)).meta.normals_stale).toBe(true);
});

test.each([
  [true, "octreeContentHash"],
  [false, "deleteRows"],
] as const)("an edit meanwhile is a conflict and nothing is lost (rebuild %s)", async (rebuild, op) => {
  const { session_id } = await lineCloud(made, [1, 2, 3]);
  const act = () => post(session_id, "delete_region", { region: slab(0, 0) });
  const told = await amid(op, act, () => refusal(made, url(session_id), { region: slab(0, 1), rebuild }));
  expect(told).toEqual([409, CHANGED]);
  expect(await survivingXs(made, session_id)).toEqual([1, 2]);
  expect((await stateOf(made, session_id)).undo.deletes).toHaveLength(1);
});

describe("rejected requests", () => {
  const shared = made.shared(lineRows([1, 2]));
  const NEITHER = "the selection is empty: give a region, scalar_filters or both";
  test.each([
    [{}, NEITHER],
    [{ region: null, scalar_filters: null }, NEITHER],
    [{ scalar_filters: [] }, NEITHER],
    [{ region: { kind: "ball" } }, 'region.kind must be box, polygon or squares_union, not "ball"'],
    [{ scalar_filters: [{ slug: "clas" }] }, "Unknown scalar attribute: 'clas'. Available: [class, is_miss]"],
    [{ scalar_filters: [{ slug: "timestamp" }] }, "Unknown scalar attribute: 'timestamp'. Available: [class, is_miss]"],
  ])("%j", async (body, sentence) => {
    expect(await refusal(made, url(shared.session_id), body)).toEqual([400, sentence]);
  });
  test("the error message lists the time column", async () => {
    const { session_id } = await cloud(made, ["x y z timestamp", "0 0 0 1.5"]);
    expect(await refusal(made, url(session_id), { scalar_filters: [{ slug: "time" }] })).toEqual([
      400,
      "Unknown scalar attribute: 'time'. Available: [timestamp]",
    ]);
  });
  test("an unknown session and schema violations are rejected", async () => {
    expect(await refusal(made, url("00000000"), { region: slab(0, 1) })).toEqual(UNKNOWN);
    expect((await refusal(made, url(shared.session_id), { scalar_filters: [{ min: 1 }] }))[0]).toBe(422);
    expect(
      (await refusal(made, url(shared.session_id), { scalar_filters: [{ slug: "class", values: ["a"] }] }))[0],
    ).toBe(422);
  });
});

test("misspelt keys are named in the warnings, including keys inside filters and regions", async () => {
  const { session_id } = await lineCloud(made, [1, 2]);
  const { warnings } = await filter(session_id, {
    region: { ...slab(0, 1), inverted: true },
    scalar_filters: [{ slug: "class", maximum: 1 }],
    rebuilt: false,
  });
  expect(warnings).toEqual([
    'The request has keys that mean nothing here and were ignored: "region.inverted", "scalar_filters[0].maximum", "rebuilt".',
  ]);
});
