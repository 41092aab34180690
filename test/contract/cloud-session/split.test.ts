import { describe, expect, test } from "vitest";
import { SplitResponse } from "../../../shared/contract/cloud-session/split.ts";
import {
  amid,
  answered,
  cloud,
  columnOf,
  lineCloud,
  octreeXs,
  refusal,
  slab,
  stateOf,
  survivingXs,
  UNKNOWN,
  xs,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/split`;
const split = (id: string, body: object) => answered(made, SplitResponse, url(id), body);

test("selected hits and misses stay, all other hits move", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 1, 2], 2);
  const answer = await split(session_id, { scalar_filters: [{ slug: "class", values: [1] }] });
  expect(answer).toMatchObject({ session_id, kept: { point_count: 2 }, leftover: { point_count: 2 } });
  expect(answer.leftover?.observed_classes).toEqual({ class: [2], is_miss: [0] });
  expect(await survivingXs(made, session_id)).toEqual([0, 2, 0, 1]); // two hits, two misses
  const child = answer.leftover?.session_id ?? "";
  expect(await xs(made, child)).toEqual([1, 3]);
  expect(octreeXs(made, (answer.kept as { cache_id: string }).cache_id)).toEqual([0, 2]);
  expect(octreeXs(made, answer.leftover?.cache_id ?? "")).toEqual([1, 3]);
});

test("the rows moved from the parent stay deleted permanently; strokes and undo steps are cleared", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1]);
  await post(session_id, "label_region", { strokes: [{ stroke_id: "a", region: slab(0, 3), to_class: 4 }] });
  await post(session_id, "delete_region", { region: slab(3, 3) });
  const { kept, leftover } = await split(session_id, { region: slab(0, 0) });
  const { undo, meta } = await stateOf(made, session_id);
  expect(await columnOf(made, session_id, "deleted")).toEqual([0, 1, 1, 1]);
  expect([undo.base?.count, undo.deletes.length, undo.labels.size]).toEqual([3, 0, 0]);
  expect(meta).toMatchObject({
    octree_cache_id: kept.cache_id,
    rendered_octree_cache_id: null,
    octree_point_count: 1,
    unrestorable_hit_count: 0, // its rows are all here
  });
  expect(await columnOf(made, leftover?.session_id ?? "", "extra/manual_class")).toEqual([4, 4]);
});

test("the child has the frame and columns of the parent and records which hits it lacks", async () => {
  const rows = [
    "x y z red green blue intensity timestamp origin_x origin_y origin_z height",
    "476000 1 2 10 20 30 40 350000000.125 476000 0 9 1.5",
    "476001 1 2 11 21 31 41 350000000.25 476001 0 9 2.5",
    "476002 1 2 12 22 32 42 350000000.375 476002 0 9 3.5",
  ];
  const { session_id } = await cloud(made, rows, { world_shift: [476000, 0, 0], source_units: "m" });
  const parent = (await stateOf(made, session_id)).meta;
  const { leftover } = await split(session_id, { scalar_filters: [{ slug: "height", max: 2 }] });
  const id = leftover?.session_id ?? "";
  const { meta } = await stateOf(made, id);
  expect(meta).toMatchObject({
    world_shift: [476000, 0, 0],
    source_units: "m",
    source_unit_scale: 1,
    source_path: parent.source_path,
    extra_dims_meta: parent.extra_dims_meta,
    gps_time_encoding: parent.gps_time_encoding,
    octree_cache_id: leftover?.cache_id,
    octree_point_count: 2,
    unrestorable_hit_count: 1,
  });
  expect(await columnOf(made, id, "positions")).toEqual([1, 1, 2, 2, 1, 2]);
  expect(await columnOf(made, id, "timestamps")).toEqual([350000000.25, 350000000.375]);
  expect(await columnOf(made, id, "beam_origins")).toEqual([1, 0, 9, 2, 0, 9]);
  expect(await columnOf(made, id, "extra/height")).toEqual([2.5, 3.5]);
});

test("if no hit remains, the parent keeps its octree", async () => {
  const { session_id, cache_id } = await lineCloud(made, [1, 2], 1);
  const { kept, leftover } = await split(session_id, { region: slab(50, 60) });
  expect([kept, leftover?.point_count]).toEqual([{ point_count: 0, cache_id: null, cache_dir: null }, 2]);
  expect(await survivingXs(made, session_id)).toEqual([0]); // the miss
  const { meta } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, meta.rendered_octree_cache_id]).toEqual([null, cache_id]);
});

test("if all hits are selected, there is no child and the octree is current", async () => {
  const { session_id, cache_id } = await lineCloud(made, [1, 2]);
  const before = made.deps.sessions.list().length;
  expect(await split(session_id, { region: slab(0, 1) })).toMatchObject({
    kept: { point_count: 2, cache_id },
    leftover: null,
  });
  expect(made.deps.sessions.list()).toHaveLength(before);
  expect((await stateOf(made, session_id)).meta.octree_cache_id).toBe(cache_id);
});

test("an edit during the split: 409, no child, nothing lost", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3]);
  const before = made.deps.sessions.list().length;
  const act = () => post(session_id, "delete_region", { region: slab(0, 0) });
  expect(await amid("octreeContentHash", act, () => refusal(made, url(session_id), { region: slab(0, 1) }))).toEqual([
    409,
    "the cloud changed while this operation ran; run it again",
  ]);
  expect(made.deps.sessions.list()).toHaveLength(before);
  expect(await survivingXs(made, session_id)).toEqual([1, 2]);
});

describe("rejected requests", () => {
  test("missing selection, unknown slug, invalid region, unknown session", async () => {
    const { session_id } = await lineCloud(made, [1, 2]);
    expect(await refusal(made, url(session_id), {})).toEqual([
      400,
      "the selection is empty: give a region, scalar_filters or both",
    ]);
    expect(await refusal(made, url(session_id), { scalar_filters: [{ slug: "no" }] })).toEqual([
      400,
      "Unknown scalar attribute: 'no'. Available: [class, is_miss]",
    ]);
    expect(await refusal(made, url(session_id), { region: { kind: "box", min: [0, 0, 0] } })).toEqual([
      400,
      "region.max must be three finite numbers",
    ]);
    expect(await refusal(made, url("00000000"), { region: slab(0, 1) })).toEqual(UNKNOWN);
  });
});

test("misspelt keys are named in the warnings", async () => {
  const { session_id } = await lineCloud(made, [1, 2]);
  expect((await split(session_id, { region: slab(0, 0), filters: [] })).warnings).toEqual([
    'The request has keys that mean nothing here and were ignored: "filters".',
  ]);
});
