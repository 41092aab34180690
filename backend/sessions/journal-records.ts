import { z } from "zod";
import { type CloudMeta, MISS_COLUMNS } from "./cloud-session.ts";

/** A RowSet (undo.ts) with its data in a file. */
export interface RowSetRecord {
  readonly encoding: "rows" | "runs" | "bits";
  readonly count: number;
  readonly file: string;
  readonly edit_id?: string;
}

export interface LabelRecord {
  readonly stroke_id: string;
  readonly to_class: number;
  readonly rows: RowSetRecord;
  readonly previous: string;
}

export interface UndoRecord {
  readonly base: RowSetRecord | null;
  readonly deletes: readonly RowSetRecord[];
  readonly labels: Readonly<Record<string, readonly LabelRecord[]>>;
}

/** UndoStep with files instead of columns. */
export type StepRecord =
  | { readonly op: "delete"; readonly rows: RowSetRecord }
  | { readonly op: "keep_deletes"; readonly count: number }
  | { readonly op: "fold_deletes"; readonly count: number; readonly base: RowSetRecord | null }
  | ({ readonly op: "paint"; readonly slug: string } & LabelRecord)
  | { readonly op: "keep_labels"; readonly slug: string; readonly count: number }
  | { readonly op: "forget_labels"; readonly slug: string; readonly count: number };

/** The parent session, and the token in the parent's journal that confirms the creation of this child. */
export interface Birth {
  readonly parent: string;
  readonly token: string;
}

/**
 * One record of a session's journal. Files are names in the session's folder, complete before their record is written.
 *
 * | type | meaning |
 * |---|---|
 * | create | the whole state; only the first record has this type |
 * | commit | one change: files of columns (null = removed), undo steps, meta; `move`: motion of positions and origins,
 * 12 numbers; `compact`: first, all rows deleted so far are dropped; `misses`: files of the recovered misses, replacing
 * those before; `births`: the sessions of this token exist |
 * | synced | `files` are flushed to the disk; without `files`, those of the create record |
 * | confirmed | the parent's journal contains the token: this session exists |
 *
 * `unsynced` lists files that were not flushed when the record was written: recovery verifies their checksums unless a
 * `synced` record names them. A create record of version 1 has neither undo nor unsynced: all its files are unsynced.
 */
export type JournalRecord =
  | {
      readonly type: "create";
      readonly version: 1;
      readonly columns: Readonly<Record<string, string>>;
      readonly meta: CloudMeta;
    }
  | {
      readonly type: "create";
      readonly version: 2;
      readonly columns: Readonly<Record<string, string>>;
      readonly misses?: Readonly<Record<string, string>>;
      readonly undo: UndoRecord;
      readonly meta: CloudMeta;
      readonly unsynced: readonly string[];
      readonly birth?: Birth;
    }
  | {
      readonly type: "commit";
      readonly columns: Readonly<Record<string, string | null>>;
      readonly misses?: Readonly<Record<string, string>>;
      readonly undo?: readonly StepRecord[];
      readonly meta: Partial<CloudMeta>;
      readonly move?: readonly number[];
      readonly compact?: true;
      readonly unsynced?: readonly string[];
      readonly births?: string;
    }
  | { readonly type: "synced"; readonly files?: readonly string[] }
  | { readonly type: "confirmed" };

const count = z.int().min(0);
const rowSet = z.object({
  encoding: z.enum(["rows", "runs", "bits"]),
  count,
  file: z.string(),
  edit_id: z.string().optional(),
});
const label = z.object({ stroke_id: z.string(), to_class: z.number(), rows: rowSet, previous: z.string() });
const files = z.array(z.string());
const step = z.discriminatedUnion("op", [
  z.object({ op: z.literal("delete"), rows: rowSet }),
  z.object({ op: z.literal("keep_deletes"), count }),
  z.object({ op: z.literal("fold_deletes"), count, base: rowSet.nullable() }),
  z.object({ op: z.literal("paint"), slug: z.string(), ...label.shape }),
  z.object({ op: z.literal("keep_labels"), slug: z.string(), count }),
  z.object({ op: z.literal("forget_labels"), slug: z.string(), count }),
]);
const columns = z.record(z.string(), z.string());
const misses = z.partialRecord(z.enum(MISS_COLUMNS), z.string()).optional();
const create = { type: z.literal("create"), columns, meta: z.looseObject({}) };
const Envelope = z.union([
  z.object({
    type: z.literal("commit"),
    columns: z.record(z.string(), z.string().nullable()),
    misses,
    undo: z.array(step).optional(),
    meta: z.looseObject({}),
    move: z.array(z.number()).length(12).optional(),
    compact: z.literal(true).optional(),
    unsynced: files.optional(),
    births: z.string().optional(),
  }),
  z.object({ type: z.literal("synced"), files: files.optional() }),
  z.object({ type: z.literal("confirmed") }),
  z.object({
    ...create,
    version: z.literal(2),
    misses,
    undo: z.object({
      base: rowSet.nullable(),
      deletes: z.array(rowSet),
      labels: z.record(z.string(), z.array(label)),
    }),
    unsynced: files,
    birth: z.object({ parent: z.string(), token: z.string() }).optional(),
  }),
  z.object({ ...create, version: z.literal(1) }),
]);

/** The record in a payload; undefined if it is not valid. */
export function parseRecord(payload: Buffer): JournalRecord | undefined {
  try {
    const parsed = Envelope.safeParse(JSON.parse(payload.toString("utf8")));
    return parsed.success ? (parsed.data as unknown as JournalRecord) : undefined;
  } catch {
    return undefined; // not JSON: damage, or a torn record whose checksum happens to match
  }
}

/** Columns between two row compactions: those of `before`, replaced by `files`, then painted and moved. */
export interface Generation {
  readonly before: CompactedGeneration | undefined;
  /** key -> file. For a computed column (`mask_is_stale`, `redo`) this may be its last file. */
  readonly files: ReadonlyMap<string, string>;
  /** Columns of `before` that were removed. */
  readonly gone: ReadonlySet<string>;
  /** slug -> changes of its column since its file was written, oldest first. */
  readonly redo: ReadonlyMap<string, readonly LabelAction[]>;
  /** Motions of positions and beam origins since their files were written, oldest first. */
  readonly moves: readonly (readonly number[])[];
}

/** Columns before a row compaction, and the rows it dropped. */
export interface CompactedGeneration extends Generation {
  readonly drop: readonly RowSetRecord[];
}

/** The state after all records of a journal. */
export interface ReplayedJournal extends Generation {
  readonly meta: CloudMeta;
  readonly undo: UndoRecord;
  /** Column of the recovered misses -> file. */
  readonly misses: ReadonlyMap<string, string>;
  /** The deletion mask must be computed from `undo`. */
  readonly mask_is_stale: boolean;
  /** Files that may not have reached the disk. */
  readonly unsynced: ReadonlySet<string>;
  /** Set until a `confirmed` record says that the session exists. */
  readonly birth: Birth | undefined;
  readonly births: ReadonlySet<string>;
}

/** Values to write to rows of a label column: one for all, or those in a file. */
export type LabelAction =
  | { readonly rows: RowSetRecord; readonly to_class: number }
  | { readonly rows: RowSetRecord; readonly previous: string };

/** The state after the records; undefined if they do not begin with a create record. */
export function replay(records: readonly JournalRecord[]): ReplayedJournal | undefined {
  let state: ReplayedJournal | undefined;
  for (state of replaySteps(records));
  return state;
}

/** The state after each of the records, one object that changes; none if they do not begin with a create record. */
export function* replaySteps(records: readonly JournalRecord[]): Generator<ReplayedJournal> {
  const first = records[0];
  if (first?.type !== "create") return;
  const state = new Replay(first);
  yield state;
  for (const record of records.slice(1)) {
    state.take(record);
    yield state;
  }
}

class Replay implements ReplayedJournal {
  meta: CloudMeta;
  before: CompactedGeneration | undefined;
  files: Map<string, string>;
  gone = new Set<string>();
  undo: { base: RowSetRecord | null; deletes: readonly RowSetRecord[]; labels: Record<string, readonly LabelRecord[]> };
  misses: ReadonlyMap<string, string>;
  mask_is_stale = false;
  redo = new Map<string, LabelAction[]>();
  moves: (readonly number[])[] = [];
  readonly unsynced: Set<string>;
  birth: Birth | undefined;
  readonly births = new Set<string>();
  readonly #first: readonly string[];

  constructor(first: Extract<JournalRecord, { type: "create" }>) {
    this.meta = first.meta;
    this.files = new Map(Object.entries(first.columns));
    this.misses = new Map(first.version === 2 ? Object.entries(first.misses ?? {}) : []);
    this.#first = [...this.files.values()];
    this.undo = { ...emptyUndo(), ...(first.version === 2 ? first.undo : {}) };
    if (first.version === 2) this.undo.labels = Object.assign(emptyUndo().labels, first.undo.labels);
    this.unsynced = new Set(first.version === 2 ? first.unsynced : this.#first);
    this.birth = first.version === 2 ? first.birth : undefined;
    this.mask_is_stale = !this.files.has("deleted") && (this.undo.base !== null || this.undo.deletes.length > 0);
  }

  take(record: JournalRecord): void {
    if (record.type === "synced") for (const file of record.files ?? this.#first) this.unsynced.delete(file);
    if (record.type === "confirmed") this.birth = undefined;
    if (record.type !== "commit") return;
    this.meta = { ...this.meta, ...record.meta };
    for (const file of record.unsynced ?? []) this.unsynced.add(file);
    if (record.births !== undefined) this.births.add(record.births);
    if (record.misses) this.misses = new Map(Object.entries(record.misses));
    if (record.compact) this.#compact();
    for (const step of record.undo ?? []) this.#step(step);
    if (record.move) this.moves.push(record.move);
    for (const [key, file] of Object.entries(record.columns)) {
      if (file === null) {
        this.files.delete(key);
        this.gone.add(key);
      } else {
        this.files.set(key, file);
      }
      if (key === "deleted") this.mask_is_stale = false;
      else if (key === "positions")
        this.moves = []; // a change that writes positions writes beam origins too
      else if (key.startsWith("extra/")) this.redo.delete(key.slice("extra/".length));
    }
  }

  #compact(): void {
    const { before, files, gone, redo, moves, undo } = this;
    const drop = [...(undo.base ? [undo.base] : []), ...undo.deletes];
    this.before = { before, files, gone, redo, moves, drop };
    this.files = new Map();
    this.gone = new Set();
    this.redo = new Map();
    this.moves = [];
  }

  #step(step: StepRecord): void {
    const { undo } = this;
    switch (step.op) {
      case "delete":
        this.undo = { ...undo, deletes: [...undo.deletes, step.rows] };
        break;
      case "keep_deletes":
        this.undo = { ...undo, deletes: undo.deletes.slice(0, step.count) };
        break;
      case "fold_deletes":
        this.undo = { ...undo, base: step.base, deletes: undo.deletes.slice(step.count) };
        break;
      case "paint": {
        const { op: _, slug, ...record } = step;
        undo.labels[slug] = [...(undo.labels[slug] ?? []), record];
        this.#redo(slug, { rows: record.rows, to_class: record.to_class });
        return;
      }
      case "keep_labels": {
        const strokes = undo.labels[step.slug] ?? [];
        for (const { rows, previous } of strokes.slice(step.count).reverse()) this.#redo(step.slug, { rows, previous });
        this.#keepStrokes(step.slug, strokes.slice(0, step.count));
        return;
      }
      case "forget_labels":
        this.#keepStrokes(step.slug, (undo.labels[step.slug] ?? []).slice(step.count));
        return;
    }
    this.mask_is_stale = true;
  }

  #redo(slug: string, action: LabelAction): void {
    this.redo.set(slug, [...(this.redo.get(slug) ?? []), action]);
  }

  #keepStrokes(slug: string, strokes: readonly LabelRecord[]): void {
    if (strokes.length > 0) this.undo.labels[slug] = strokes;
    else delete this.undo.labels[slug];
  }
}

/** `labels` has no prototype: a slug may equal the name of an inherited property. */
const emptyUndo = () => ({ base: null, deletes: [], labels: Object.create(null) as Record<string, LabelRecord[]> });

/** All files that an undo state names. */
export function undoFiles({ base, deletes, labels }: UndoRecord): string[] {
  const strokes = Object.values(labels).flat();
  return [
    ...(base ? [base.file] : []),
    ...deletes.map(({ file }) => file),
    ...strokes.flatMap(({ rows, previous }) => [rows.file, previous]),
  ];
}
