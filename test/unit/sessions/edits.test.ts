import { expect, test } from "vitest";
import { type CloudMeta, freshState } from "../../../backend/sessions/cloud-session.ts";
import { ColumnRef } from "../../../backend/sessions/column-ref.ts";
import {
  countsOf,
  currentOctree,
  deletedCount,
  forgetOverflow,
  hasNormals,
  keptStrokes,
  overflowing,
  overtakenOctree,
  staleOctree,
} from "../../../backend/sessions/edits.ts";
import { NOTHING_TO_UNDO, type RowSet, type UndoState } from "../../../backend/sessions/undo.ts";
import { CountedColumn, countedRef } from "../../support/native/counted-column.ts";
import { EMPTY_META } from "../../support/session/cloud-meta.ts";

const column = (over: Partial<Record<"length" | "bytes", number>>) =>
  new ColumnRef(Object.assign(Object.create(new CountedColumn("column")) as CountedColumn, over));
const rows = (count: number, bytes = 0): RowSet => ({ encoding: "rows", count, data: column({ bytes }) });
const strokes = (names: readonly string[], bytes = 0): UndoState => ({
  ...NOTHING_TO_UNDO,
  labels: new Map([
    ["x", names.map((stroke_id) => ({ stroke_id, to_class: 1, rows: rows(1, bytes), previous: column({ bytes: 0 }) }))],
  ]),
});
const BUILT = { cache_id: "new", miss_cache_id: "sky", survivor_count: 7, lacks_labels: true };
const CURRENT = { ...EMPTY_META, octree_cache_id: "old", octree_pose: [1], octree_stale_gen: 4 } satisfies CloudMeta;

test("the table of octree states, row by row", () => {
  const stale = { ...CURRENT, ...staleOctree(CURRENT) };
  expect(stale).toMatchObject({
    octree_cache_id: null,
    rendered_octree_cache_id: "old",
    octree_pose: null,
    octree_stale_gen: 5,
  });
  expect(staleOctree(stale)).toMatchObject({ rendered_octree_cache_id: "old", octree_stale_gen: 6 });
  expect({ ...stale, ...currentOctree(BUILT) }).toMatchObject({
    octree_cache_id: "new",
    rendered_octree_cache_id: null,
    octree_pose: null,
    octree_point_count: 7,
    miss_octree_cache_id: "sky",
    octree_lacks_labels: true,
    octree_stale_gen: 5,
  });
  expect({ ...stale, ...overtakenOctree(stale, BUILT) }).toMatchObject({
    octree_cache_id: null,
    rendered_octree_cache_id: "new",
    octree_point_count: 7,
  });
  expect(overtakenOctree(CURRENT, BUILT)).toEqual({}); // a newer one is current already
});

test("counts rows, deleted rows and the surplus points of the drawn octree", () => {
  const undo: UndoState = { ...NOTHING_TO_UNDO, base: rows(2), deletes: [rows(3), rows(0)] };
  const state = (meta: Partial<CloudMeta>) => ({
    ...freshState(new Map([["positions", column({ length: 10 })]]), { ...EMPTY_META, ...meta }),
    undo,
  });
  expect(deletedCount(undo)).toBe(5);
  expect(countsOf(state({}))).toEqual({
    deleted_count: 5,
    remaining_count: 5,
    total_count: 10,
    pending_deleted_count: 5,
  });
  expect(countsOf(state({ octree_point_count: 6 })).pending_deleted_count).toBe(1);
  expect(countsOf(state({ octree_point_count: 4 })).pending_deleted_count).toBe(0); // points came back
});

test("normals exist only with all three columns", () => {
  const state = (...slugs: string[]) =>
    freshState(new Map(slugs.map((slug) => [`extra/${slug}`, countedRef(slug).ref])), EMPTY_META);
  expect([hasNormals(state("nx", "ny", "nz")), hasNormals(state("nx", "ny")), hasNormals(state())]).toEqual([
    true,
    false,
    false,
  ]);
});

test("the oldest delete steps beyond the cap are dropped", () => {
  const steps = [rows(1), rows(2), rows(3)];
  expect(overflowing(steps, 3)).toEqual([]);
  expect(overflowing(steps, 2)).toEqual([steps[0]]);
  expect(overflowing(steps, 0)).toEqual(steps);
});

test("strokes are forgotten by number and by bytes, oldest first, no more than needed", () => {
  const forgotten = (count: number, caps: { strokes: number; bytes: number }) =>
    forgetOverflow(strokes(["1", "2", "3", "4"].slice(0, count), 10), "x", caps);
  const gone = (count: number) => [{ op: "forget_labels", slug: "x", count }];
  expect(forgotten(4, { strokes: 4, bytes: 40 })).toEqual([]);
  expect(forgotten(4, { strokes: 3, bytes: 40 })).toEqual(gone(1));
  expect(forgotten(4, { strokes: 4, bytes: 39 })).toEqual(gone(1));
  expect(forgotten(4, { strokes: 3, bytes: 20 })).toEqual(gone(2));
  expect(forgotten(1, { strokes: 1, bytes: 9 })).toEqual(gone(1)); // one that is too large alone goes, too
  expect(forgetOverflow(NOTHING_TO_UNDO, "x", { strokes: 0, bytes: 0 })).toEqual([]);
});

test("strokes are kept up to the newest id that the client knows", () => {
  const kept = (...known: string[]) => keptStrokes(strokes(["1", "2", "3", "2"]), "x", known);
  expect([kept("3"), kept("9", "1"), kept("9"), kept()]).toEqual([3, 1, 0, 0]);
  expect(kept("2")).toBe(4); // an id that came twice means the newer one
  expect(keptStrokes(NOTHING_TO_UNDO, "x", ["1"])).toBe(0);
});
