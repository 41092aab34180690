import { expect, test } from "vitest";
import { pointsColumn } from "../../../backend/services/run/points.ts";
import { DuplicateResponse } from "../../../shared/contract/cloud-session/duplicate.ts";
import { create } from "../../support/app/app.ts";
import {
  answered,
  cloud,
  columnOf,
  lineCloud,
  octreeXs,
  refusal,
  stateOf,
  survivingXs,
  UNKNOWN,
  xs,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { remove } = made;
const url = (id: string) => `/api/cloud/session/${id}/duplicate`;
const duplicate = async (id: string) => (await answered(made, DuplicateResponse, url(id))).duplicate;

test("points and misses are copied, deleted rows and undo steps are not", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3], 1);
  await remove(session_id, 1, 1);
  const before = await stateOf(made, session_id);
  const copy = await duplicate(session_id);
  expect(copy).toMatchObject({ point_count: 2, observed_classes: { class: [1, 3] } });
  expect([await xs(made, copy.session_id), octreeXs(made, copy.cache_id)]).toEqual([
    [0, 2, 0],
    [0, 2],
  ]);
  const { undo, meta } = await stateOf(made, copy.session_id);
  expect(undo).toEqual({ base: null, deletes: [], labels: new Map() });
  expect(meta).toMatchObject({ octree_cache_id: copy.cache_id, unrestorable_hit_count: 1, octree_stale_gen: 0 });
  expect(await stateOf(made, session_id)).toBe(before);
});

test("recovered misses are not copied, and told", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3]);
  const session = await made.deps.sessions.get(session_id);
  const misses = new Map([["positions" as const, pointsColumn([[1, 2, 3]])]]);
  await session.commit(session.state, { misses });
  const { warnings } = await answered(made, DuplicateResponse, url(session_id));
  expect(warnings).toEqual(["1 recovered misses are not in the copy: run backfill-misses on it."]);
});

test("the copies are independent, even if they share an octree", async () => {
  const { session_id, cache_id } = await lineCloud(made, [1, 2, 3]);
  const copy = await duplicate(session_id);
  expect(copy.cache_id).toBe(cache_id);
  await remove(copy.session_id, 0, 1);
  expect([await survivingXs(made, session_id), await survivingXs(made, copy.session_id)]).toEqual([[0, 1, 2], [2]]);
  await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${session_id}` });
  expect(await columnOf(made, copy.session_id, "extra/class")).toEqual([1, 2, 3]);
});

test("a cloud with misses only has no points", async () => {
  const { session_id } = await cloud(made, ["x y z is_miss", "0 0 900 1"]);
  expect(await duplicate(session_id)).toMatchObject({ point_count: 0 });
});

test("a file without points: nothing was deleted, and nothing is said to be", async () => {
  const header = ["ply", "format ascii 1.0", "element vertex 0", ...["x", "y", "z"].map((a) => `property float ${a}`)];
  const path = made.file("none.ply", [...header, "end_header", ""].join("\n"));
  const { session_id } = await create(made, path);
  expect(await refusal(made, url(session_id), {})).toEqual([400, "no surviving points: the cloud has no points"]);
});

test("rejected requests", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  const { session_id } = await lineCloud(made, [1, 2]);
  await remove(session_id, 0, 1);
  expect(await refusal(made, url(session_id), {})).toEqual([
    400,
    "no surviving points: every point of this cloud is deleted",
  ]);
});
