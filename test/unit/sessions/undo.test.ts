import { expect, test } from "vitest";
import {
  applySteps,
  boundarySteps,
  computedKeys,
  NOTHING_TO_UNDO,
  type RowSet,
  stepColumns,
  strokesOf,
  type UndoState,
  type UndoStep,
  undoColumns,
  withTwins,
} from "../../../backend/sessions/undo.ts";
import { countedRef } from "../../support/native/counted-column.ts";

const rows = (name: string, count = 1): RowSet => ({ encoding: "rows", count, data: countedRef(name).ref });
const paint = (slug: string, stroke_id: string): Extract<UndoStep, { op: "paint" }> => ({
  op: "paint",
  slug,
  stroke_id,
  to_class: 1,
  rows: rows(`${stroke_id} rows`),
  previous: countedRef(`${stroke_id} previous`).ref,
});
const ids = (state: UndoState, slug: string) => strokesOf(state, slug).map(({ stroke_id }) => stroke_id);
const [a, b, c] = [rows("a"), rows("b"), rows("c")];
const three = applySteps(
  NOTHING_TO_UNDO,
  [a, b, c].map((set) => ({ op: "delete", rows: set })),
);

test("delete steps are appended, kept from the start and folded from the start", () => {
  expect(three.deletes).toEqual([a, b, c]);
  expect(applySteps(three, [{ op: "keep_deletes", count: 2 }]).deletes).toEqual([a, b]);
  expect(applySteps(three, [{ op: "keep_deletes", count: 9 }]).deletes).toEqual([a, b, c]);
  const floor = rows("a and b", 2);
  const folded = applySteps(three, [{ op: "fold_deletes", count: 2, base: floor }]);
  expect([folded.base, folded.deletes]).toEqual([floor, [c]]);
  expect([NOTHING_TO_UNDO.deletes, three.deletes.length]).toEqual([[], 3]); // nobody's state changes
});

test("strokes have one list per column, and no empty list", () => {
  const painted = applySteps(NOTHING_TO_UNDO, [paint("x", "1"), paint("y", "2"), paint("x", "3")]);
  expect([ids(painted, "x"), ids(painted, "y"), ids(painted, "z")]).toEqual([["1", "3"], ["2"], []]);
  expect(ids(applySteps(painted, [{ op: "keep_labels", slug: "x", count: 1 }]), "x")).toEqual(["1"]);
  expect(ids(applySteps(painted, [{ op: "forget_labels", slug: "x", count: 1 }]), "x")).toEqual(["3"]);
  expect([...applySteps(painted, [{ op: "keep_labels", slug: "x", count: 0 }]).labels.keys()]).toEqual(["y"]);
});

test("after a boundary nothing can be undone", () => {
  const floor = rows("floor", 3);
  const state = applySteps(three, [paint("x", "1"), paint("y", "2"), paint("x", "3")]);
  expect(applySteps(state, boundarySteps(state, floor))).toEqual({ base: floor, deletes: [], labels: new Map() });
  expect(applySteps(NOTHING_TO_UNDO, boundarySteps(NOTHING_TO_UNDO, null))).toEqual(NOTHING_TO_UNDO);
});

test("lists every column of the state and the steps once", () => {
  const stroke = paint("x", "1");
  const floor = rows("floor");
  const steps: UndoStep[] = [{ op: "fold_deletes", count: 1, base: floor }, stroke];
  expect(stepColumns(steps)).toEqual([floor.data, stroke.rows.data, stroke.previous]);
  expect(
    stepColumns([
      { op: "fold_deletes", count: 1, base: null },
      { op: "keep_deletes", count: 0 },
    ]),
  ).toEqual([]);
  const held = undoColumns(applySteps(three, steps));
  expect(held).toEqual([floor.data, b.data, c.data, stroke.rows.data, stroke.previous]);
});

test("twins replace their columns everywhere", () => {
  const stroke = paint("x", "1");
  const state = applySteps(three, [{ op: "fold_deletes", count: 1, base: a }, stroke]);
  const twins = new Map(undoColumns(state).map((column, i) => [column, countedRef(`twin ${i}`).ref]));
  const twinned = withTwins(state, twins);
  expect(undoColumns(twinned)).toEqual([...twins.values()]);
  expect(twinned.deletes.map(({ count, encoding }) => [count, encoding])).toEqual([
    [1, "rows"],
    [1, "rows"],
  ]);
  expect(undoColumns(withTwins(state, new Map()))).toEqual(undoColumns(state));
});

test("a restart computes the mask and painted columns, but nothing for forgotten strokes", () => {
  const keys = (steps: UndoStep[], moved = false) => [...computedKeys(steps, moved)].sort();
  expect(keys([{ op: "delete", rows: a }])).toEqual(["deleted"]);
  expect(keys([{ op: "keep_deletes", count: 0 }])).toEqual(["deleted"]);
  expect(keys([{ op: "fold_deletes", count: 1, base: a }])).toEqual(["deleted"]);
  expect(keys([paint("x", "1"), { op: "keep_labels", slug: "y", count: 0 }])).toEqual(["extra/x", "extra/y"]);
  expect(keys([{ op: "forget_labels", slug: "x", count: 1 }])).toEqual([]);
  expect(keys([], true)).toEqual(["beam_origins", "positions"]);
});
