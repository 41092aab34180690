import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import * as edits from "../native/cloud/edit.ts";
import { addon } from "../native/core/addon.ts";
import * as columnFiles from "../native/core/column-files.ts";
import type { NativeColumn } from "../native/core/handles.ts";
import { type CloudState, META_DEFAULTS, type MissBuffer, type MissColumn } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import {
  type CompactedGeneration,
  type Generation,
  type LabelAction,
  type LabelRecord,
  type ReplayedJournal,
  type RowSetRecord,
  undoFiles,
} from "./journal-records.ts";
import { type LabelDelta, MOVED_KEYS, type RowSet, type UndoState } from "./undo.ts";

/** Maps column files, each once. */
class FileColumns {
  readonly #columns = new Map<string, ColumnRef>();
  readonly #made: ColumnRef[] = [];
  constructor(readonly folder: string) {}

  async open(file: string, verify: boolean): Promise<ColumnRef> {
    const known = this.#columns.get(file);
    if (known) return known;
    const path = join(this.folder, file);
    if (verify && (await columnFiles.damagedColumnFiles([path]).promise).length > 0) {
      throw new AppError("invalid_file", `${file} is damaged`);
    }
    const column = new ColumnRef(columnFiles.mapColumnFile(path), path);
    this.#columns.set(file, column);
    return column;
  }
  /** Registers a computed column, to release it if it is not kept. */
  keep(column: ColumnRef): ColumnRef {
    this.#made.push(column);
    return column;
  }
  /** Releases all columns that are not `wanted`. */
  keepOnly(wanted: ReadonlySet<ColumnRef>): void {
    for (const column of [...this.#columns.values(), ...this.#made]) if (!wanted.has(column)) column.release();
  }
  release(): void {
    this.keepOnly(new Set());
  }
}

/**
 * The state of a replayed journal: maps its columns (verified unless known to be flushed, or all) and computes mask, painted and
 * moved columns. Errors: invalid_file, not_found; then nothing stays mapped.
 */
export async function loadState(
  folder: string,
  replayed: ReplayedJournal,
  verifyAll = false,
): Promise<Omit<CloudState, "version">> {
  const files = new FileColumns(folder);
  try {
    return await loadFrom(files, replayed, verifyAll);
  } catch (error) {
    files.release();
    throw error;
  }
}

async function loadFrom(
  files: FileColumns,
  replayed: ReplayedJournal,
  verifyAll: boolean,
): Promise<Omit<CloudState, "version">> {
  const { unsynced } = replayed;
  const open = (file: string) => files.open(file, verifyAll || unsynced.has(file));
  for (const file of undoFiles(replayed.undo)) await open(file);
  const columns = await loadColumns(replayed, files, open);
  const rows = rowCount(columns);
  const undo = await loadUndo(replayed, open);
  if (replayed.mask_is_stale) {
    columns.delete("deleted");
    if (undo.base || undo.deletes.length > 0) columns.set("deleted", await maskOf(undo, rows, files));
  }
  checkLengths(columns, rows);
  const misses = await loadMisses(replayed, open);
  const wanted = new Set([...columns.values(), ...misses.values()]);
  for (const file of undoFiles(replayed.undo)) wanted.add(await open(file));
  files.keepOnly(wanted);
  return { columns, misses, undo, meta: { ...META_DEFAULTS, ...replayed.meta } };
}

type Open = (file: string) => Promise<ColumnRef>;

/** Errors: invalid_file if a column does not have one value per miss. */
async function loadMisses(replayed: ReplayedJournal, open: Open): Promise<MissBuffer> {
  const misses = new Map<MissColumn, ColumnRef>();
  for (const [key, file] of replayed.misses) misses.set(key as MissColumn, await open(file));
  const count = misses.get("positions")?.length;
  for (const [key, { length }] of misses) {
    if (length !== count)
      throw new AppError("invalid_file", `column ${key} of the recovered misses has ${length} rows`);
  }
  return misses;
}

/** The columns of a generation: those left by the previous compaction, replaced by files, then painted and moved. */
async function loadColumns(gen: Generation, files: FileColumns, open: Open): Promise<Map<string, ColumnRef>> {
  const columns = gen.before ? await compacted(gen.before, files, open) : new Map<string, ColumnRef>();
  for (const key of gen.gone) columns.delete(key);
  for (const [key, file] of gen.files) columns.set(key, await open(file));
  const rows = rowCount(columns);
  for (const [slug, actions] of gen.redo) {
    const key = `extra/${slug}`;
    columns.set(key, await repaint(columns.get(key), actions, rows, files, open));
  }
  for (const key of MOVED_KEYS) {
    const column = columns.get(key);
    if (column) columns.set(key, await moved(column, gen.moves, files));
  }
  return columns;
}

function rowCount(columns: ReadonlyMap<string, ColumnRef>): number {
  const rows = columns.get("positions")?.length;
  if (rows === undefined) throw new AppError("invalid_file", "the session has no positions");
  return rows;
}

/** The columns of a generation without the dropped rows. */
async function compacted(gen: CompactedGeneration, files: FileColumns, open: Open): Promise<Map<string, ColumnRef>> {
  const columns = await loadColumns(gen, files, open);
  columns.delete("deleted");
  const sets = await inOrder(gen.drop, async (rows) => ({ ...rows, data: (await open(rows.file)).native }));
  const mask = files.keep(new ColumnRef(await edits.unionRows(rowCount(columns), null, sets).promise));
  const keys = [...columns.keys()];
  const natives = keys.map((key) => (columns.get(key) as ColumnRef).native);
  const kept = await edits.compactColumns(natives, mask.native).promise;
  return new Map(keys.map((key, i) => [key, files.keep(new ColumnRef(kept[i] as NativeColumn))]));
}

async function loadUndo({ undo }: ReplayedJournal, open: Open): Promise<UndoState> {
  const rowSet = async ({ file, ...rest }: RowSetRecord): Promise<RowSet> => ({ ...rest, data: await open(file) });
  const label = async ({ stroke_id, to_class, rows, previous }: LabelRecord): Promise<LabelDelta> => ({
    stroke_id,
    to_class,
    rows: await rowSet(rows),
    previous: await open(previous),
  });
  const labels = new Map<string, LabelDelta[]>();
  for (const [slug, strokes] of Object.entries(undo.labels)) labels.set(slug, await inOrder(strokes, label));
  return { base: undo.base && (await rowSet(undo.base)), deletes: await inOrder(undo.deletes, rowSet), labels };
}

async function inOrder<T, R>(list: readonly T[], body: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of list) results.push(await body(item));
  return results;
}

const native = (rows: RowSet) => ({ encoding: rows.encoding, count: rows.count, data: rows.data.native });

/** The deletion mask of an undo state. */
async function maskOf({ base, deletes }: UndoState, rows: number, files: FileColumns): Promise<ColumnRef> {
  const sets = [...(base ? [base] : []), ...deletes].map(native);
  return files.keep(new ColumnRef(await edits.unionRows(rows, null, sets).promise));
}

/** A column of points after motions. */
async function moved(column: ColumnRef, moves: readonly (readonly number[])[], files: FileColumns): Promise<ColumnRef> {
  let result = column;
  for (const move of moves) {
    result = files.keep(new ColumnRef(await edits.transformPositions(result.native, move).promise));
  }
  return result;
}

/** A label column after a sequence of strokes and undone strokes. */
async function repaint(
  from: ColumnRef | undefined,
  actions: readonly LabelAction[],
  rows: number,
  files: FileColumns,
  open: Open,
): Promise<ColumnRef> {
  let column = from ?? files.keep(new ColumnRef(await edits.unionRows(rows, null, []).promise)); // created by its first stroke
  for (const action of actions) {
    const data = (await open(action.rows.file)).native;
    const values = "previous" in action ? await open(action.previous) : files.keep(classColumn(action.to_class));
    const painted = await edits.setLabels(column.native, { ...action.rows, data }, values.native).promise;
    column = files.keep(new ColumnRef(painted));
  }
  return column;
}

/** A class value as a column of one row with the narrowest type. */
function classColumn(value: number): ColumnRef {
  if (value <= 0xff) return new ColumnRef(new addon.Column("u8", Uint8Array.of(value)));
  if (value <= 0xffff) return new ColumnRef(new addon.Column("u16", new Uint8Array(Uint16Array.of(value).buffer)));
  return new ColumnRef(new addon.Column("u32", new Uint8Array(Uint32Array.of(value).buffer)));
}

/** Errors: invalid_file if a column does not have one value per point. */
function checkLengths(columns: ReadonlyMap<string, ColumnRef>, rows: number): void {
  for (const [key, { length }] of columns) {
    if (length !== rows)
      throw new AppError("invalid_file", `column ${key} has ${length} rows, the cloud has ${rows} points`);
  }
}
