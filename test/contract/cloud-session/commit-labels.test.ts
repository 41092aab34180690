import { expect, test } from "vitest";
import { CommitLabelsTail } from "../../../shared/contract/cloud-session/commit-labels.ts";
import { octreeValues } from "../../support/octree/octree-folder.ts";
import {
  amid,
  columnOf,
  lineCloud,
  refusal,
  slab,
  stateOf,
  streamed,
  tail,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/commit_labels`;
const paint = (id: string, stroke_id: string, at: number, to_class: number) =>
  post(id, "label_region", { strokes: [{ stroke_id, region: slab(at, at), to_class }] });

test("the octree shows the strokes, which can no longer be undone", async () => {
  const { session_id, cache_id } = await lineCloud(made, [1, 1, 1], 1);
  await paint(session_id, "a", 1, 6);
  const { tail: answer, stages } = await streamed(made, CommitLabelsTail, url(session_id), { slug: "manual_class" });
  expect(answer).toMatchObject({
    session_id,
    slug: "manual_class",
    class_counts: { 0: 2, 6: 1 },
    value_range: [0, 6],
    point_count: 3,
    observed_classes: { class: [1], manual_class: [0, 6] },
  });
  expect(answer.cache_id).not.toBe(cache_id);
  expect(octreeValues(made.octrees, answer.cache_id, "manual_class")).toEqual([0, 0, 6]);
  expect(stages[1]).toEqual([0, "Hashing point data"]);
  expect(stages.map(([, message]) => message)).toEqual(
    expect.arrayContaining(["Hashing point data", "Building octree"]),
  );
  await post(session_id, "reset_label_edits", {});
  expect(await columnOf(made, session_id, "extra/manual_class")).toEqual([0, 6, 0, 0]);
  expect((await stateOf(made, session_id)).meta.octree_cache_id).toBe(answer.cache_id);
});

test("only the history of that column is cleared; the default is manual_class", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  await paint(session_id, "a", 0, 2);
  await post(session_id, "label_region", {
    slug: "class",
    strokes: [{ stroke_id: "b", region: slab(1, 1), to_class: 3 }],
  });
  await tail(made, CommitLabelsTail, url(session_id), {});
  expect([...(await stateOf(made, session_id)).undo.labels.keys()]).toEqual(["class"]);
});

test("pending deletions stay pending", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await paint(session_id, "a", 0, 2);
  await post(session_id, "delete_region", { region: slab(2, 2) });
  expect((await tail(made, CommitLabelsTail, url(session_id))).point_count).toBe(2);
  expect((await stateOf(made, session_id)).undo.deletes).toHaveLength(1);
});

test("a deletion during the build takes precedence: the octree is then stale", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await paint(session_id, "a", 0, 2);
  const act = () => post(session_id, "delete_region", { region: slab(2, 2) });
  const answer = await amid("octreeContentHash", act, () => tail(made, CommitLabelsTail, url(session_id)));
  expect(answer).toMatchObject({ octree_stale: true, point_count: 3, class_counts: { 0: 2, 2: 1 } }); // of the points it shows
  const { meta } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, meta.rendered_octree_cache_id]).toEqual([null, answer.cache_id]);
});

test("rejected requests", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  const { session_id } = await lineCloud(made, [1]);
  expect(await refusal(made, url(session_id), {})).toEqual([
    400,
    'No label column "manual_class" to commit. Available: [class, is_miss]',
  ]);
});
