import { expect, test } from "vitest";
import { ExtractResponse } from "../../../shared/contract/cloud-session/extract.ts";
import {
  amid,
  answered,
  canceledAmid,
  columnOf,
  lineCloud,
  octreeXs,
  refusal,
  slab,
  stateOf,
  UNKNOWN,
  xs,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { remove } = made;
const url = (id: string) => `/api/cloud/session/${id}/extract`;
const extract = (id: string, body: object) => answered(made, ExtractResponse, url(id), body);

test("the selected hits and all misses are copied; the parent is unchanged", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 1, 2, 1], 2, { origin: [0, 0, 1] });
  await remove(session_id, 4, 4);
  const before = await stateOf(made, session_id);
  const { extracted, session_id: parent } = await extract(session_id, { scalar_filters: [{ slug: "class", max: 1 }] });
  expect(parent).toBe(session_id);
  expect(await stateOf(made, session_id)).toBe(before);
  const id = extracted?.session_id ?? "";
  expect(extracted).toMatchObject({ point_count: 2, observed_classes: { class: [1] } });
  expect(await xs(made, id)).toEqual([0, 2, 0, 1]);
  expect(await columnOf(made, id, "extra/is_miss")).toEqual([0, 0, 1, 1]);
  expect(octreeXs(made, extracted?.cache_id ?? "")).toEqual([0, 2]);
  const { meta, undo, columns } = await stateOf(made, id);
  expect(meta).toMatchObject({
    octree_cache_id: extracted?.cache_id,
    octree_point_count: 4,
    octree_stale_gen: 0,
    unrestorable_hit_count: 3, // two of class 2 and the deleted one
  });
  expect(meta.miss_octree_cache_id).toMatch(/^[0-9a-f]{40}$/);
  expect([columns.has("deleted"), undo]).toEqual([false, { base: null, deletes: [], labels: new Map() }]);
});

test("hits that the parent lacks are also counted for the child", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  const first = await extract(session_id, { region: slab(0, 1) });
  const second = await extract(first.extracted?.session_id ?? "", { region: slab(0, 0) });
  expect((await stateOf(made, second.extracted?.session_id ?? "")).meta.unrestorable_hit_count).toBe(2);
});

test("no hit selected: null, and no session", async () => {
  const { session_id } = await lineCloud(made, [1], 1);
  const before = made.deps.sessions.list().length;
  expect(await extract(session_id, { scalar_filters: [{ slug: "class", values: [9] }] })).toEqual({
    session_id,
    extracted: null,
  });
  expect(made.deps.sessions.list()).toHaveLength(before);
});

test("an edit of the parent during the copy is not a conflict: the copy uses the state at its start", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const { extracted } = await amid(
    "octreeContentHash",
    () => remove(session_id, 0, 0),
    () => extract(session_id, { region: slab(0, 1) }),
  );
  expect(await xs(made, extracted?.session_id ?? "")).toEqual([0, 1]);
});

test("a cancel leaves no child and no folder", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const before = made.deps.sessions.list().length;
  const answer = await canceledAmid(made, "octreeContentHash", () =>
    refusal(made, url(session_id), { region: slab(0, 1) }),
  );
  expect(answer).toEqual([499, "The run was canceled."]);
  expect(made.deps.sessions.list()).toHaveLength(before);
});

test("rejected requests", async () => {
  const { session_id } = await lineCloud(made, [1, 2]);
  expect(await refusal(made, url(session_id), { scalar_filters: [] })).toEqual([
    400,
    "the selection is empty: give a region, scalar_filters or both",
  ]);
  expect(await refusal(made, url(session_id), { scalar_filters: [{ slug: "x" }] })).toEqual([
    400,
    "Unknown scalar attribute: 'x'. Available: [class, is_miss]",
  ]);
  expect(await refusal(made, url(session_id), { region: {} })).toEqual([
    400,
    "region.kind must be box, polygon or squares_union, not nothing",
  ]);
  expect(await refusal(made, url("00000000"), { region: slab(0, 1) })).toEqual(UNKNOWN);
});

test("misspelt keys are named in the warnings, even if nothing was extracted", async () => {
  const { session_id } = await lineCloud(made, [1]);
  for (const region of [slab(0, 0), slab(5, 6)]) {
    expect((await extract(session_id, { region, keep: 1 })).warnings).toEqual([
      'The request has keys that mean nothing here and were ignored: "keep".',
    ]);
  }
});
