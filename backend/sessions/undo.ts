import type { ColumnRef } from "./column-ref.ts";

export type RowEncoding = "rows" | "runs" | "bits";

/** A set of rows in the smallest of three forms; native/cloud/edit.ts describes `data`. */
export interface RowSet {
  readonly encoding: RowEncoding;
  readonly data: ColumnRef;
  readonly count: number;
  /** The client's name of the deletion that made it; absent if it has none. */
  readonly edit_id?: string;
}

/** One stroke of the label brush, with the previous values. */
export interface LabelDelta {
  readonly stroke_id: string;
  readonly to_class: number;
  readonly rows: RowSet;
  /** One value per row of `rows`, in their order, or a single one for all. */
  readonly previous: ColumnRef;
}

/** What can be undone. The deletion mask is always the union of `base` and all `deletes`. */
export interface UndoState {
  /** The floor that no undo goes below; null = nothing deleted. */
  readonly base: RowSet | null;
  /** Rows newly deleted by each call, oldest first. */
  readonly deletes: readonly RowSet[];
  /** slug -> strokes, oldest first. */
  readonly labels: ReadonlyMap<string, readonly LabelDelta[]>;
}

export const NOTHING_TO_UNDO: UndoState = Object.freeze({ base: null, deletes: [], labels: new Map() });

/**
 * One change of the undo state, in commits and in the journal.
 *
 * | op | undo state | column that a restart recomputes |
 * |---|---|---|
 * | delete | one more delete step | deleted |
 * | keep_deletes | steps beyond `count` are removed | deleted |
 * | fold_deletes | the oldest `count` steps are removed, `base` is the new floor | deleted |
 * | paint | one more stroke of `slug` | extra/slug |
 * | keep_labels | strokes beyond `count` are undone, newest first | extra/slug |
 * | forget_labels | the oldest `count` strokes can no longer be undone | |
 */
export type UndoStep =
  | { readonly op: "delete"; readonly rows: RowSet }
  | { readonly op: "keep_deletes"; readonly count: number }
  | { readonly op: "fold_deletes"; readonly count: number; readonly base: RowSet | null }
  | ({ readonly op: "paint"; readonly slug: string } & LabelDelta)
  | { readonly op: "keep_labels"; readonly slug: string; readonly count: number }
  | { readonly op: "forget_labels"; readonly slug: string; readonly count: number };

/** The state after the steps. Takes no references; the session manages them. */
export function applySteps(state: UndoState, steps: readonly UndoStep[]): UndoState {
  return steps.reduce(applyStep, state);
}

function applyStep(state: UndoState, step: UndoStep): UndoState {
  switch (step.op) {
    case "delete":
      return { ...state, deletes: [...state.deletes, step.rows] };
    case "keep_deletes":
      return { ...state, deletes: state.deletes.slice(0, step.count) };
    case "fold_deletes":
      return { ...state, base: step.base, deletes: state.deletes.slice(step.count) };
    case "paint": {
      const { op: _, slug, ...delta } = step;
      return withLabels(state, slug, [...strokesOf(state, slug), delta]);
    }
    case "keep_labels":
      return withLabels(state, step.slug, strokesOf(state, step.slug).slice(0, step.count));
    case "forget_labels":
      return withLabels(state, step.slug, strokesOf(state, step.slug).slice(step.count));
  }
}

/** Strokes of a label column that can be undone, oldest first. */
export const strokesOf = (state: UndoState, slug: string): readonly LabelDelta[] => state.labels.get(slug) ?? [];

function withLabels(state: UndoState, slug: string, strokes: readonly LabelDelta[]): UndoState {
  const labels = new Map(state.labels);
  if (strokes.length > 0) labels.set(slug, strokes);
  else labels.delete(slug);
  return { ...state, labels };
}

/** The steps of an undo boundary, which makes everything permanent. `base` is the current mask. */
export function boundarySteps(state: UndoState, base: RowSet | null): UndoStep[] {
  return [{ op: "fold_deletes", count: state.deletes.length, base }, ...forgetAllLabels(state)];
}

export const forgetAllLabels = (state: UndoState): UndoStep[] =>
  [...state.labels].map(([slug, strokes]) => ({ op: "forget_labels", slug, count: strokes.length }));

/** All columns of the undo state. */
export function undoColumns(state: UndoState): ColumnRef[] {
  const strokes = [...state.labels.values()].flat();
  return [
    ...(state.base ? [state.base.data] : []),
    ...state.deletes.map(({ data }) => data),
    ...strokes.flatMap(({ rows, previous }) => [rows.data, previous]),
  ];
}

/** All columns of steps. */
export function stepColumns(steps: readonly UndoStep[]): ColumnRef[] {
  return steps.flatMap((step) => {
    if (step.op === "delete") return [step.rows.data];
    if (step.op === "fold_deletes") return step.base ? [step.base.data] : [];
    return step.op === "paint" ? [step.rows.data, step.previous] : [];
  });
}

/** The same state with columns replaced by equal ones. */
export function withTwins(state: UndoState, twins: ReadonlyMap<ColumnRef, ColumnRef>): UndoState {
  const twin = (column: ColumnRef) => twins.get(column) ?? column;
  const rowSet = (rows: RowSet): RowSet => ({ ...rows, data: twin(rows.data) });
  const stroke = (delta: LabelDelta): LabelDelta => ({
    ...delta,
    rows: rowSet(delta.rows),
    previous: twin(delta.previous),
  });
  return {
    base: state.base && rowSet(state.base),
    deletes: state.deletes.map(rowSet),
    labels: new Map([...state.labels].map(([slug, strokes]) => [slug, strokes.map(stroke)])),
  };
}

/** Columns that a restart moves again after a motion. */
export const MOVED_KEYS = ["positions", "beam_origins"] as const;

/** Columns that a restart computes from steps or motions instead of reading their files. */
export function computedKeys(steps: readonly UndoStep[], moved: boolean): Set<string> {
  const keys = new Set<string>(moved ? MOVED_KEYS : []);
  for (const step of steps) {
    if (step.op === "paint" || step.op === "keep_labels") keys.add(`extra/${step.slug}`);
    else if (step.op !== "forget_labels") keys.add("deleted");
  }
  return keys;
}

/** Bytes of one stroke. */
export const strokeBytes = ({ rows, previous }: LabelDelta): number => rows.data.native.bytes + previous.native.bytes;
