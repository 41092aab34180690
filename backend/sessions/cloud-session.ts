import type { ColumnPlan } from "../../shared/contract/column-plan.ts";
import { AppError } from "../../shared/errors.ts";
import type { GeotiffRecords } from "../native/files/readers.ts";
import type { ExtraDim, ScanOrigin, Triple } from "./column-names.ts";
import type { ColumnRef } from "./column-ref.ts";
import { applySteps, NOTHING_TO_UNDO, type UndoState, type UndoStep, undoColumns, withTwins } from "./undo.ts";

/** Everything a session is besides its columns. JSON, so that the journal can carry it. Frames: contract sessions.md 0. */
export interface CloudMeta {
  readonly extra_dims_meta: readonly ExtraDim[];
  readonly world_shift: Triple | null;
  readonly crs_epsg: number | null;
  /** x and y are angles, not lengths. */
  readonly crs_is_geographic: boolean;
  /** OGC WKT exactly as the source file carried it, for lossless export. */
  readonly crs_wkt: string | null;
  /** GeoTIFF records exactly as the source LAS file carried them; absent without. */
  readonly crs_geotiff?: GeotiffRecords | null;
  readonly source_units: string | null;
  readonly source_unit_scale: number | null;
  readonly gps_time_encoding: "adjusted_standard" | "gps_week" | null;
  /** Coordinate resolution of the source, metres; null when it had none (text, floats). */
  readonly source_scale_m: Triple | null;
  /** Where its steps begin, true world, metres; absent where they are not known. */
  readonly source_offset_m?: Triple | null;
  readonly source_path: string | null;
  readonly ascii_format: string | null;
  readonly column_plan: ColumnPlan | null;
  readonly octree_cache_id: string | null;
  readonly rendered_octree_cache_id: string | null;
  /** 4 x 4, row-major, stored frame: everything that moved since the octree was built. */
  readonly octree_pose: readonly number[] | null;
  readonly octree_point_count: number | null;
  readonly octree_stale_gen: number;
  /** Labels were painted since the octree was built: it shows the points, and some columns as they were. */
  readonly octree_lacks_labels: boolean;
  readonly miss_octree_cache_id: string | null;
  /** Scanner position the miss overlay is projected from, stored frame. */
  readonly miss_octree_origin: Triple | null;
  /** Normals exist and no longer fit the points around them. */
  readonly normals_stale: boolean;
  readonly backfilled_misses_stale: boolean;
  readonly backfilled_misses_moved: boolean;
  /** Hits of the original scan that are no rows of this session any more. */
  readonly unrestorable_hit_count: number;
  /** Scanner positions by the values of the column scan_index; absent or empty where the source named none. */
  readonly scan_origins?: readonly ScanOrigin[];
}

/** What a meta lacks that was written by an earlier version. */
export const META_DEFAULTS = {
  octree_lacks_labels: false,
  normals_stale: false,
  backfilled_misses_stale: false,
  backfilled_misses_moved: false,
  unrestorable_hit_count: 0,
} as const satisfies Partial<CloudMeta>;

/** Everything a session is, frozen. It owns one reference to each of its columns. */
export interface CloudState {
  /** Counts commits: two states of one session with the same version hold the same values. */
  readonly version: number;
  /** Point-aligned: a value per row. */
  readonly columns: ReadonlyMap<string, ColumnRef>;
  readonly undo: UndoState;
  readonly meta: CloudMeta;
}

/** A session's first state, before it is one. */
export const freshState = (columns: ReadonlyMap<string, ColumnRef>, meta: CloudMeta): CloudState => ({
  version: 0,
  columns,
  undo: NOTHING_TO_UNDO,
  meta,
});

export interface CloudChange {
  /** Columns to add or replace; null removes one. */
  readonly columns?: ReadonlyMap<string, ColumnRef | null>;
  /** Steps of the undo state. The columns they change stand in `columns` too; the journal keeps the steps alone. */
  readonly undo?: readonly UndoStep[];
  readonly meta?: Partial<CloudMeta>;
  /** positions and beam_origins in `columns` are the old ones moved by this: p' = A p + b, [A | b] row-major, 12 numbers. */
  readonly move?: readonly number[];
  /** The columns are the old ones without the deleted rows, every one of them. */
  readonly compact?: true;
  /** Token of the sessions that this change brings into being (journal.ts). */
  readonly births?: string;
}

/** Makes a change survive a crash; called before it becomes visible, one at a time. A failure means it never happened. */
export type PersistChange = (change: CloudChange, base: CloudState) => Promise<void>;

/** An edit under way: it has the session to itself. */
export interface Edit {
  /** The state now; follows what `publish` did. */
  readonly state: CloudState;
  /** Saves the change, then makes it visible. A failure, of the disk for instance, changes nothing. */
  publish(change: CloudChange): Promise<void>;
  /** Puts equal columns (mapped files) in the place of others. Nothing to save, and no commit for anybody who looks. */
  swap(twins: ReadonlyMap<ColumnRef, ColumnRef>): void;
}

/** The one place where a session's state changes. Edits follow each other; reads see the state they began with. */
export class CloudSession {
  #state: CloudState | undefined;
  #edits: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #lastUsed = performance.now();
  readonly #persist: PersistChange;

  /** Takes over the references in `initial`. */
  constructor(
    readonly id: string,
    initial: Omit<CloudState, "version">,
    persist: PersistChange,
  ) {
    this.#state = Object.freeze({ ...initial, version: 0 });
    this.#persist = persist;
  }

  get state(): CloudState {
    if (!this.#state) throw new AppError("not_found", `Cloud session not found: ${this.id}`);
    return this.#state;
  }
  get closed(): boolean {
    return this.#state === undefined;
  }
  /** Edits that run or wait. */
  get busy(): boolean {
    return this.#waiting > 0;
  }
  /** When somebody last looked it up, on the clock of performance.now(). */
  get lastUsed(): number {
    return this.#lastUsed;
  }
  touch(): void {
    this.#lastUsed = performance.now();
  }

  /** Runs `body` on the current state; its columns stay alive until `body` settles, whatever edits land meanwhile. */
  async read<T>(body: (state: CloudState) => Promise<T>): Promise<T> {
    const state = this.state;
    const held = [...ownedColumns(state)].map((column) => column.retain());
    try {
      return await body(state);
    } finally {
      for (const column of held) column.release();
    }
  }

  /** Serializes edits in arrival order: one writer at a time. */
  edit<T>(body: (edit: Edit) => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const run = this.#edits.then(() => this.#run(body));
    this.#edits = run.catch(() => undefined);
    return run;
  }

  /** An edit computed on `base`; throws `conflict`, changing nothing, when anything was committed since. */
  commit(base: CloudState, change: CloudChange): Promise<void> {
    return this.edit(async (edit) => {
      requireUnchanged(base, edit.state);
      await edit.publish(change);
    });
  }

  async #run<T>(body: (edit: Edit) => Promise<T>): Promise<T> {
    const held: ColumnRef[] = [];
    const session = this;
    const hold = () => held.push(...[...ownedColumns(session.state)].map((column) => column.retain()));
    try {
      hold();
      return await body({
        get state() {
          return session.state;
        },
        publish: async (change) => {
          await session.#publish(change);
          hold();
        },
        swap: (twins) => session.#swap(twins),
      });
    } finally {
      this.#waiting -= 1;
      for (const column of held) column.release();
    }
  }

  async #publish(change: CloudChange): Promise<void> {
    const base = this.state;
    const next = stateAfter(base, change);
    const columns = [...ownedColumns(next)].map((column) => column.retain());
    try {
      await this.#persist(change, base);
      if (this.#state !== base) throw new AppError("not_found", `Cloud session not found: ${this.id}`); // deleted meanwhile
      this.#state = next;
      for (const column of ownedColumns(base)) column.release();
    } catch (error) {
      for (const column of columns) column.release();
      void this.state; // deleted meanwhile: that says it better than what failed on the way
      throw error;
    }
  }

  #swap(twins: ReadonlyMap<ColumnRef, ColumnRef>): void {
    const base = this.state;
    const columns = new Map([...base.columns].map(([key, column]) => [key, twins.get(column) ?? column]));
    const next = Object.freeze({ ...base, columns, undo: withTwins(base.undo, twins) });
    for (const column of ownedColumns(next)) column.retain();
    this.#state = next;
    for (const column of ownedColumns(base)) column.release();
  }

  /** Releases the columns. Reads and edits in flight keep theirs until they settle. */
  close(): void {
    const state = this.state;
    this.#state = undefined;
    for (const column of ownedColumns(state)) column.release();
  }

  /** Resolves when the edits that are there now have ended. */
  async settled(): Promise<void> {
    await this.#edits;
  }
}

export function requireUnchanged(base: CloudState, current: CloudState): void {
  if (base.version !== current.version)
    throw new AppError("conflict", "the cloud changed while this operation ran; run it again");
}

/** The state a change would make. Counts no references: the caller keeps the columns alive. */
export function stateAfter(base: CloudState, change: CloudChange): CloudState {
  const columns = new Map(base.columns);
  for (const [key, column] of change.columns ?? []) {
    if (column) columns.set(key, column);
    else columns.delete(key);
  }
  return Object.freeze({
    version: base.version + 1,
    columns,
    undo: Object.freeze(applySteps(base.undo, change.undo ?? [])),
    meta: Object.freeze({ ...base.meta, ...change.meta }),
  });
}

/** Each column once, however often the state names it. */
export function ownedColumns(state: Pick<CloudState, "columns" | "undo">): Set<ColumnRef> {
  return new Set([...state.columns.values(), ...undoColumns(state.undo)]);
}
