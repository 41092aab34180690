import type { CloudState } from "./cloud-session.ts";
import type { ColumnRef } from "./column-ref.ts";
import type { JournalRecord, LabelRecord, RowSetRecord, UndoRecord } from "./journal-records.ts";
import type { LabelDelta, RowSet, UndoState } from "./undo.ts";

/** The first record of a journal. */
export function createRecord(
  state: Pick<CloudState, "columns" | "misses" | "undo" | "meta">,
  nameOf: (column: ColumnRef) => string,
  unsynced: Iterable<string>,
): Extract<JournalRecord, { version: 2 }> {
  const columns = Object.fromEntries([...state.columns].map(([key, column]) => [key, nameOf(column)]));
  const misses = Object.fromEntries([...state.misses].map(([key, column]) => [key, nameOf(column)]));
  const undo = undoRecord(state.undo, nameOf);
  const buffer = state.misses.size > 0 ? { misses } : {};
  return { type: "create", version: 2, columns, ...buffer, undo, meta: state.meta, unsynced: [...unsynced] };
}

function undoRecord(undo: UndoState, nameOf: (column: ColumnRef) => string): UndoRecord {
  const rowSet = ({ data, ...rest }: RowSet): RowSetRecord => ({ ...rest, file: nameOf(data) });
  const label = ({ stroke_id, to_class, rows, previous }: LabelDelta): LabelRecord => ({
    stroke_id,
    to_class,
    rows: rowSet(rows),
    previous: nameOf(previous),
  });
  return {
    base: undo.base && rowSet(undo.base),
    deletes: undo.deletes.map(rowSet),
    labels: Object.fromEntries([...undo.labels].map(([slug, strokes]) => [slug, strokes.map(label)])),
  };
}
