import { expect, test } from "vitest";
import { ResetLabelEditsResponse } from "../../../shared/contract/cloud-session/reset-label-edits.ts";
import {
  answered,
  cloud,
  columnOf,
  lineCloud,
  refusal,
  slab,
  stateOf,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const url = (id: string) => `/api/cloud/session/${id}/reset_label_edits`;
const reset = (id: string, body: object) => answered(made, ResetLabelEditsResponse, url(id), body);
const labels = (id: string, slug = "manual_class") => columnOf(made, id, `extra/${slug}`);
async function paint(id: string, strokes: readonly (readonly [string, number, number, number])[], slug?: string) {
  const payload = {
    strokes: strokes.map(([stroke_id, from, to, to_class]) => ({ stroke_id, region: slab(from, to), to_class })),
    ...(slug ? { slug } : {}),
  };
  const answer = await made.post(id, "label_region", payload);
  expect(answer.statusCode).toBe(200);
}
/** Four points; strokes a, b, c paint over each other. */
async function painted() {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1]);
  await paint(session_id, [
    ["a", 0, 3, 1],
    ["b", 1, 2, 2],
    ["c", 2, 3, 3],
  ]);
  expect(await labels(session_id)).toEqual([1, 2, 3, 3]);
  return session_id;
}
const STATES: Readonly<Record<number, readonly number[]>> = {
  0: [0, 0, 0, 0],
  1: [1, 1, 1, 1],
  2: [1, 2, 2, 1],
  3: [1, 2, 3, 3],
};

test("the response is the summary after the reset", async () => {
  const id = await painted();
  expect(await reset(id, { undo_after_stroke_ids: ["b", "a"] })).toEqual({
    session_id: id,
    slug: "manual_class",
    class_counts: { 1: 2, 2: 2 },
    value_range: [1, 2],
    label_edit_count: 2,
  });
});

test.each([
  [{ undo_after_stroke_ids: ["c", "b", "a"] }, 3],
  [{ undo_after_stroke_ids: ["never recorded", "b", "a"] }, 2], // a gesture that painted nothing
  [{ undo_after_stroke_ids: ["a"] }, 1],
  [{ undo_after_stroke_ids: ["nobody"] }, 0],
  [{ undo_after_stroke_ids: [] }, 0],
  [{ undo_after_stroke_ids: ["a"], edit_count: 3 }, 1], // the ids win
  [{ edit_count: 2 }, 2],
  [{ edit_count: 99 }, 3],
  [{ edit_count: -1 }, 0],
  [{}, 0],
])("%j keeps %i strokes", async (body, kept) => {
  const id = await painted();
  expect((await reset(id, body)).label_edit_count).toBe(kept);
  expect(await labels(id)).toEqual(STATES[kept]);
});

test("values that are not valid classes are restored exactly", async () => {
  const { session_id } = await cloud(made, ["x y z score", "0 0 0 1.25", "1 0 0 -700.5", "2 0 0 3.5"]);
  await paint(session_id, [["a", 0, 1, 9]], "score");
  expect(await labels(session_id, "score")).toEqual([9, 9, 3.5]);
  await reset(session_id, { slug: "score" });
  expect(await labels(session_id, "score")).toEqual([1.25, -700.5, 3.5]);
});

test("each column has its own history", async () => {
  const id = await painted();
  await paint(id, [["other", 0, 0, 6]], "class");
  await reset(id, {});
  expect([await labels(id), await labels(id, "class")]).toEqual([STATES[0], [6, 1, 1, 1]]);
});

test("no octree is built, and a missing column counts as all 0", async () => {
  const { session_id } = await lineCloud(made, [1, 1], 1);
  const before = await stateOf(made, session_id);
  expect(await reset(session_id, { slug: "nothing" })).toMatchObject({ class_counts: { 0: 2 }, label_edit_count: 0 });
  expect(await stateOf(made, session_id)).toBe(before);
});

test("an unknown session is rejected", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
});
