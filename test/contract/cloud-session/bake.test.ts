import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BakeTail } from "../../../shared/contract/cloud-session/bake.ts";
import { run } from "../../support/app/app.ts";
import {
  amid,
  canceledAmid,
  cloud,
  columnOf,
  lineCloud,
  octreeXs,
  refusal,
  slab,
  stateOf,
  streamed,
  survivingXs,
  tail,
  UNKNOWN,
  xs,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post, remove } = made;
const url = (id: string, query = "") => `/api/cloud/session/${id}/bake${query}`;
const bake = (id: string, query = "") => tail(made, BakeTail, url(id, query));

describe("compact=true, the default", () => {
  test("deleted rows are removed from every column; nothing is pending or can be undone", async () => {
    const { session_id } = await cloud(made, [
      "x y z red green blue intensity timestamp origin_x origin_y origin_z class is_miss",
      "0 0 0 1 2 3 10 350000000.125 0 0 1 5 0",
      "1 0 0 4 5 6 20 350000000.25 0 0 2 6 0",
      "2 0 0 7 8 9 30 350000000.375 0 0 3 7 0",
      "0 0 900 0 0 0 0 350000000.5 0 0 4 9 1",
    ]);
    await post(session_id, "label_region", { strokes: [{ stroke_id: "a", region: slab(0, 2), to_class: 2 }] });
    await remove(session_id, 1, 1);
    const { tail: answer, stages } = await streamed(made, BakeTail, url(session_id));
    expect(answer).toMatchObject({
      session_id,
      baked: true,
      point_count: 2,
      deleted_history_len: 0,
      pending_deleted_count: 0,
      observed_classes: { class: [5, 7], manual_class: [2] },
    });
    const state = await stateOf(made, session_id);
    expect([...state.columns.values()].map(({ length }) => length)).toEqual(Array(state.columns.size).fill(3));
    expect(state.columns.has("deleted")).toBe(false);
    expect(await columnOf(made, session_id, "positions")).toEqual([0, 0, 0, 2, 0, 0, 0, 0, 900]);
    expect(await columnOf(made, session_id, "timestamps")).toEqual([350000000.125, 350000000.375, 350000000.5]);
    expect(await columnOf(made, session_id, "beam_origins")).toEqual([0, 0, 1, 0, 0, 3, 0, 0, 4]);
    expect(await columnOf(made, session_id, "extra/manual_class")).toEqual([2, 2, 0]);
    expect(state.undo).toEqual({ base: null, deletes: [], labels: new Map() });
    expect(state.meta).toMatchObject({
      octree_cache_id: (answer as { cache_id: string }).cache_id,
      rendered_octree_cache_id: null,
      octree_pose: null,
      octree_point_count: 3,
      unrestorable_hit_count: 1,
    });
    expect(stages[1]).toEqual([0, "Hashing point data"]);
    expect(stages.map(([, message]) => message)).toEqual(
      expect.arrayContaining(["Hashing point data", "Building octree", "Reading octree metadata"]),
    );
  });

  test("dropped hits add up over several bakes", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1, 1]);
    await remove(session_id, 0, 1);
    await bake(session_id);
    await remove(session_id, 2, 2);
    await bake(session_id);
    expect((await stateOf(made, session_id)).meta.unrestorable_hit_count).toBe(3);
    expect(await xs(made, session_id)).toEqual([3]);
  });

  test("the overlay of misses is projected anew", async () => {
    const made_ = await lineCloud(made, [1, 1], 2, { origin: [0, 0, 1] });
    await remove(made_.session_id, 0, 0);
    const answer = await bake(made_.session_id);
    expect(answer).toMatchObject({ miss_octree_cache_id: made_.miss_octree_cache_id, point_count: 1 });
  });
});

describe("compact=false", () => {
  test("deleted rows stay marked and can no longer be restored", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1], 1);
    await remove(session_id, 0, 0);
    const answer = await bake(session_id, "?compact=false");
    expect(answer).toMatchObject({ baked: true, point_count: 2, deleted_history_len: 0, pending_deleted_count: 0 });
    expect(await columnOf(made, session_id, "deleted")).toEqual([1, 0, 0, 0]);
    const { undo, meta } = await stateOf(made, session_id);
    expect([undo.base?.count, undo.deletes.length]).toEqual([1, 0]);
    expect(meta).toMatchObject({ rendered_octree_cache_id: null, octree_point_count: 3, unrestorable_hit_count: 0 });
    await post(session_id, "reset_edits", {});
    expect(await survivingXs(made, session_id)).toEqual([1, 2, 0]);
  });

  test("a later compacting bake removes them", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1]);
    await remove(session_id, 0, 0);
    await bake(session_id, "?compact=false");
    expect(await bake(session_id, "?compact=true")).toMatchObject({ baked: true, point_count: 2 });
    expect(await xs(made, session_id)).toEqual([1, 2]);
  });
});

describe("nothing to do", () => {
  test("repeated calls return the current octree if nothing is deleted", async () => {
    const { session_id, cache_id } = await lineCloud(made, [1, 1]);
    const before = await stateOf(made, session_id);
    for (const query of ["", "?compact=false"]) {
      expect(await bake(session_id, query)).toMatchObject({
        baked: false,
        cache_id,
        deleted_history_len: 0,
        pending_deleted_count: 0,
      });
    }
    expect(await stateOf(made, session_id)).toBe(before);
  });

  test("compact=false with an octree that already shows the deletions keeps them undoable and counts them", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1]);
    await remove(session_id, 0, 0);
    await post(session_id, "rebuild_octree");
    expect(await bake(session_id, "?compact=false")).toMatchObject({ baked: false, deleted_history_len: 1 });
    expect(await bake(session_id)).toMatchObject({ baked: true, deleted_history_len: 0 });
  });

  test("a posed octree and an evicted octree are built", async () => {
    const posed = await lineCloud(made, [2, 3]);
    const matrix = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    await post(posed.session_id, "transform", { matrix, octree_mode: "pose" });
    expect(await bake(posed.session_id)).toMatchObject({ baked: true, point_count: 2 });
    expect((await stateOf(made, posed.session_id)).meta.octree_pose).toBeNull();
    const gone = await lineCloud(made, [3, 4]);
    rmSync(join(made.octrees, gone.cache_id), { recursive: true });
    expect(await bake(gone.session_id)).toMatchObject({ baked: true, cache_id: gone.cache_id });
  });

  test.each(["", "?compact=false"])("if everything is deleted, the deletion mask is unchanged (%s)", async (query) => {
    const { session_id } = await lineCloud(made, [1, 1], 1);
    await remove(session_id, 0, 1);
    expect(await bake(session_id, query)).toEqual({ session_id, point_count: 0, baked: false });
    await post(session_id, "reset_edits", {});
    expect(await survivingXs(made, session_id)).toEqual([0, 1, 0]);
  });
});

test.each(["", "?compact=false"])("a deletion during the build keeps every row (%s)", async (query) => {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1]);
  await remove(session_id, 0, 0);
  const answer = await amid(
    "octreeContentHash",
    () => remove(session_id, 1, 1),
    () => bake(session_id, query),
  );
  expect(answer).toMatchObject({ baked: true, octree_stale: true, deleted_history_len: 2, pending_deleted_count: 1 });
  const { cache_id } = answer as { cache_id: string };
  expect(octreeXs(made, cache_id)).toEqual([1, 2, 3]);
  const { meta } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, meta.rendered_octree_cache_id]).toEqual([null, cache_id]);
  await post(session_id, "reset_edits", {});
  expect(await survivingXs(made, session_id)).toEqual([0, 1, 2, 3]);
});

test("compaction keeps a stroke made during the build", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await remove(session_id, 0, 0);
  const act = () =>
    post(session_id, "label_region", { slug: "class", strokes: [{ stroke_id: "a", region: slab(2, 2), to_class: 8 }] });
  const answer = await amid("octreeContentHash", act, () => bake(session_id));
  expect(answer).toMatchObject({ baked: true, deleted_history_len: 0 });
  expect(await columnOf(made, session_id, "extra/class")).toEqual([1, 8]);
});

test("a cancel leaves the deletions pending and no new columns on disk", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await remove(session_id, 0, 0);
  const before = await stateOf(made, session_id);
  const columnFiles = () => readdirSync(join(made.sessions, session_id)).filter((name) => name.endsWith(".col"));
  const files = columnFiles();
  const { outcome } = await canceledAmid(made, "compactColumns", () => run(made, url(session_id), {}));
  expect(outcome.kind).toBe("canceled");
  expect(await stateOf(made, session_id)).toBe(before);
  expect(columnFiles()).toEqual(files);
});

test("the body is ignored; a misspelt query key is named in the warnings", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const plain = await made.app.inject({ method: "POST", url: url(session_id) });
  expect(plain.statusCode).toBe(200);
  const { warnings } = await bake(session_id, "?compct=false");
  expect(warnings).toEqual(['The request has keys that mean nothing here and were ignored: "compct".']);
  expect((await refusal(made, url(session_id, "?compact=perhaps"), {}))[0]).toBe(422);
});

test("an unknown session is a 404 before the stream", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
});
