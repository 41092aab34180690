import type { ColumnRef } from "./column-ref.ts";

export type RowEncoding = "rows" | "runs" | "bits";

/** A set of rows in whichever form is smallest; `data` as native/cloud-edit.ts describes it. */
export interface RowSet {
  readonly encoding: RowEncoding;
  readonly data: ColumnRef;
  readonly count: number;
}

/** One stroke of the label brush: what it painted and what was there before. */
export interface LabelDelta {
  readonly stroke_id: string;
  readonly to_class: number;
  readonly rows: RowSet;
  /** One value per row of `rows`, in their order, or a single one for all. */
  readonly previous: ColumnRef;
}

/** What can be taken back. The deletion mask is always `base` and every step of `deletes` together. */
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
 * One change of the undo state, as it is committed and as the journal keeps it.
 *
 * | op | undo state | column that a restart computes anew |
 * |---|---|---|
 * | delete | one more delete step | deleted |
 * | keep_deletes | steps beyond `count` are gone | deleted |
 * | fold_deletes | the oldest `count` steps are gone, `base` is the new floor | deleted |
 * | paint | one more stroke of `slug` | extra/slug |
 * | keep_labels | strokes beyond `count` are taken back, newest first | extra/slug |
 * | forget_labels | the oldest `count` strokes cannot be taken back any more | |
 */
export type UndoStep =
  | { readonly op: "delete"; readonly rows: RowSet }
  | { readonly op: "keep_deletes"; readonly count: number }
  | { readonly op: "fold_deletes"; readonly count: number; readonly base: RowSet | null }
  | ({ readonly op: "paint"; readonly slug: string } & LabelDelta)
  | { readonly op: "keep_labels"; readonly slug: string; readonly count: number }
  | { readonly op: "forget_labels"; readonly slug: string; readonly count: number };

/** The state after the steps. Owns nothing: references are the session's business. */
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

/** Strokes of a label column that can be taken back, oldest first. */
export const strokesOf = (state: UndoState, slug: string): readonly LabelDelta[] => state.labels.get(slug) ?? [];

function withLabels(state: UndoState, slug: string, strokes: readonly LabelDelta[]): UndoState {
  const labels = new Map(state.labels);
  if (strokes.length > 0) labels.set(slug, strokes);
  else labels.delete(slug);
  return { ...state, labels };
}

/** The steps that make everything permanent: an undo boundary. `base` is the mask as it stands. */
export function boundarySteps(state: UndoState, base: RowSet | null): UndoStep[] {
  return [{ op: "fold_deletes", count: state.deletes.length, base }, ...forgetAllLabels(state)];
}

export const forgetAllLabels = (state: UndoState): UndoStep[] =>
  [...state.labels].map(([slug, strokes]) => ({ op: "forget_labels", slug, count: strokes.length }));

/** Every column the undo state holds. */
export function undoColumns(state: UndoState): ColumnRef[] {
  const strokes = [...state.labels.values()].flat();
  return [
    ...(state.base ? [state.base.data] : []),
    ...state.deletes.map(({ data }) => data),
    ...strokes.flatMap(({ rows, previous }) => [rows.data, previous]),
  ];
}

/** Every column that steps bring along. */
export function stepColumns(steps: readonly UndoStep[]): ColumnRef[] {
  return steps.flatMap((step) => {
    if (step.op === "delete") return [step.rows.data];
    if (step.op === "fold_deletes") return step.base ? [step.base.data] : [];
    return step.op === "paint" ? [step.rows.data, step.previous] : [];
  });
}

/** The same state with other columns of equal values. */
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

/** Columns that a motion changes and a restart moves again. */
export const MOVED_KEYS = ["positions", "beam_origins"] as const;

/** Columns that a restart computes from the steps, or moves, instead of reading them from a file. */
export function computedKeys(steps: readonly UndoStep[], moved: boolean): Set<string> {
  const keys = new Set<string>(moved ? MOVED_KEYS : []);
  for (const step of steps) {
    if (step.op === "paint" || step.op === "keep_labels") keys.add(`extra/${step.slug}`);
    else if (step.op !== "forget_labels") keys.add("deleted");
  }
  return keys;
}

/** Bytes of the strokes of one label column. */
export const strokeBytes = ({ rows, previous }: LabelDelta): number => rows.data.native.bytes + previous.native.bytes;
