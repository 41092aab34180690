import type { ColumnPlan } from "../../shared/contract/column-plan.ts";
import { AppError } from "../../shared/errors.ts";
import type { GeotiffRecords } from "../native/files/readers.ts";
import type { ConstantDimension, ExtraDim, IntensityUnits, ScanOrigin, Triple } from "./column-names.ts";
import type { ColumnRef } from "./column-ref.ts";
import { EditQueue, type QueuedRun } from "./edit-queue.ts";
import { applySteps, NOTHING_TO_UNDO, type UndoState, type UndoStep, undoColumns, withTwins } from "./undo.ts";

/** The description of a session: all but its columns, as JSON for the journal. Frames: contract sessions.md 0. */
export interface CloudMeta {
  readonly extra_dims_meta: readonly ExtraDim[];
  /** Fixed columns that are kept for analyses and exports, but not shown; absent = all are shown. */
  readonly hidden_fixed?: readonly ("intensity" | "timestamps")[];
  /** Absent if there are none. */
  readonly constant_dimensions?: readonly ConstantDimension[];
  readonly world_shift: Triple | null;
  readonly crs_epsg: number | null;
  /** x and y are angles, not lengths. */
  readonly crs_is_geographic: boolean;
  /** OGC WKT exactly as in the source file, for lossless export. */
  readonly crs_wkt: string | null;
  /** GeoTIFF records exactly as in the source LAS file; absent without. */
  readonly crs_geotiff?: GeotiffRecords | null;
  readonly source_units: string | null;
  readonly source_unit_scale: number | null;
  readonly gps_time_encoding: "adjusted_standard" | "gps_week" | null;
  /** Absent: 0..1, stored as 0..65535. */
  readonly intensity_units?: IntensityUnits;
  /** Coordinate step of the source, metres; null if it had none (text, floats). */
  readonly source_scale_m: Triple | null;
  /** Offset of those steps, true world, metres; absent if unknown. */
  readonly source_offset_m?: Triple | null;
  readonly source_path: string | null;
  readonly ascii_format: string | null;
  readonly column_plan: ColumnPlan | null;
  readonly octree_cache_id: string | null;
  readonly rendered_octree_cache_id: string | null;
  /** 4 x 4, row-major, stored frame: the motion since the octree was built. */
  readonly octree_pose: readonly number[] | null;
  readonly octree_point_count: number | null;
  readonly octree_stale_gen: number;
  /** Labels changed since the octree was built: it shows the current points, but old values of some columns. */
  readonly octree_lacks_labels: boolean;
  readonly miss_octree_cache_id: string | null;
  /** Scanner position from which the miss overlay is projected, stored frame. */
  readonly miss_octree_origin: Triple | null;
  /** Normals exist and no longer match the points around them. */
  readonly normals_stale: boolean;
  readonly backfilled_misses_stale: boolean;
  readonly backfilled_misses_moved: boolean;
  /** Hits of the original scan that this session no longer has as rows. */
  readonly unrestorable_hit_count: number;
  /** Such hits whose pulses the recovered misses contain, wrongly; absent: none. */
  readonly misses_of_lost_hits?: number;
  /** Scanner positions by the values of the column scan_index; absent or empty if the source has none. */
  readonly scan_origins?: readonly ScanOrigin[];
  /** What damage on the disk has lost of this session, sentences for the user; absent if nothing. */
  readonly recovery_losses?: readonly string[];
}

/** Defaults for fields that a meta of an earlier version lacks. */
export const META_DEFAULTS = {
  octree_lacks_labels: false,
  normals_stale: false,
  backfilled_misses_stale: false,
  backfilled_misses_moved: false,
  unrestorable_hit_count: 0,
} as const satisfies Partial<CloudMeta>;

/**
 * Recovered misses, pulses that are no rows of the cloud: positions (vec3d, stored frame), and as far as they are known
 * timestamp (f64, seconds), origins (vec3d, stored frame), row_index and column_index (u32). One value per miss; empty =
 * no misses were recovered.
 */
export type MissBuffer = ReadonlyMap<MissColumn, ColumnRef>;
export const MISS_COLUMNS = ["positions", "timestamp", "origins", "row_index", "column_index"] as const;
export type MissColumn = (typeof MISS_COLUMNS)[number];
export const NO_MISSES: MissBuffer = new Map();

/** The immutable state of a session. It owns one reference to each of its columns. */
export interface CloudState {
  /** Number of commits: states of one session with the same version have the same values. */
  readonly version: number;
  /** One value per row. */
  readonly columns: ReadonlyMap<string, ColumnRef>;
  readonly misses: MissBuffer;
  readonly undo: UndoState;
  readonly meta: CloudMeta;
}

/** The first state of a new session. */
export const freshState = (columns: ReadonlyMap<string, ColumnRef>, meta: CloudMeta): CloudState => ({
  version: 0,
  columns,
  misses: NO_MISSES,
  undo: NOTHING_TO_UNDO,
  meta,
});

export interface CloudChange {
  /** Columns to add or replace; null removes one. */
  readonly columns?: ReadonlyMap<string, ColumnRef | null>;
  /** Replaces the recovered misses. */
  readonly misses?: MissBuffer;
  /** Steps of the undo state. The columns they change are in `columns` too; the journal stores only the steps. */
  readonly undo?: readonly UndoStep[];
  readonly meta?: Partial<CloudMeta>;
  /** Motion that made positions and beam_origins in `columns`: p' = A p + b, [A | b] row-major, 12 numbers. */
  readonly move?: readonly number[];
  /** `columns` contains every column of the base without its deleted rows. */
  readonly compact?: true;
  /** Token of the sessions that this change creates (journal-records.ts). */
  readonly births?: string;
}

/** Makes a change survive a crash. Called before it becomes visible, one at a time. If it fails, nothing changes. */
export type PersistChange = (change: CloudChange, base: CloudState) => Promise<void>;

/** Whether the values of a session are those that were written (file-proof.ts). */
export interface Proof {
  /** Errors: conflict if they are not; canceled. */
  passed(run: QueuedRun | null): Promise<void>;
}
const PROVEN: Proof = { passed: () => Promise.resolve() };

/** How a session that exists already begins. */
export interface SessionStart {
  /** By performance.now(). */
  readonly lastUsed?: number | undefined;
  readonly proof?: Proof | undefined;
}

/** A running edit. Only one runs at a time per session. */
export interface Edit {
  /** The current state, including what this edit has published. */
  readonly state: CloudState;
  /** Saves the change, then makes it visible. A failure, for example of the disk, changes nothing. */
  publish(change: CloudChange): Promise<void>;
  /** Replaces columns by equal ones (mapped files). Saves nothing and does not change the version. */
  swap(twins: ReadonlyMap<ColumnRef, ColumnRef>): void;
}

/** The only place where a session's state changes. Edits run one after another; a read sees the state at its start. */
export class CloudSession {
  #state: CloudState | undefined;
  readonly #edits = new EditQueue();
  #lastUsed: number;
  readonly #persist: PersistChange;
  readonly #proof: Proof;

  /** Takes over the references in `initial`. */
  constructor(
    readonly id: string,
    initial: Omit<CloudState, "version">,
    persist: PersistChange,
    { lastUsed = performance.now(), proof = PROVEN }: SessionStart = {},
  ) {
    this.#lastUsed = lastUsed;
    this.#proof = proof;
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
    return this.#edits.size > 0;
  }
  /** Edits that wait for others. */
  get waiting(): number {
    return this.#edits.waiting;
  }
  /** Time of the last lookup, or of the last change before a restart, by performance.now(). */
  get lastUsed(): number {
    return this.#lastUsed;
  }
  touch(): void {
    this.#lastUsed = performance.now();
  }

  /**
   * Runs `body` on the current state; its columns stay alive until `body` settles, whatever edits land meanwhile.
   * Errors: those of `body`; conflict if files of the session are damaged; canceled.
   */
  async read<T>(run: QueuedRun | null, body: (state: CloudState) => Promise<T>): Promise<T> {
    await this.#proof.passed(run);
    const state = this.state;
    const held = [...ownedColumns(state)].map((column) => column.retain());
    try {
      return await body(state);
    } finally {
      for (const column of held) column.release();
    }
  }

  /**
   * Serializes edits in arrival order: one writer at a time. While it waits, `run` holds no admitted memory and leaves
   * when it is canceled; null for work of the store itself. Errors: those of `body`; conflict if files of the
   * session are damaged; canceled.
   */
  edit<T>(run: QueuedRun | null, body: (edit: Edit) => Promise<T>): Promise<T> {
    return this.#edits.enter(run, async () => {
      await this.#proof.passed(run);
      return this.#run(body);
    });
  }

  /** Commits a change computed on `base`. Errors: conflict, changing nothing, if something was committed since. */
  commit(base: CloudState, change: CloudChange, run: QueuedRun | null = null): Promise<void> {
    return this.edit(run, async (edit) => {
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
      void this.state; // if deleted meanwhile, throws not_found instead of the follow-up failure
      throw error;
    }
  }

  #swap(twins: ReadonlyMap<ColumnRef, ColumnRef>): void {
    const base = this.state;
    const columns = new Map([...base.columns].map(([key, column]) => [key, twins.get(column) ?? column]));
    const misses = new Map([...base.misses].map(([key, column]) => [key, twins.get(column) ?? column]));
    const next = Object.freeze({ ...base, columns, misses, undo: withTwins(base.undo, twins) });
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

  /** Resolves when the edits that run or wait at the call have ended. */
  async settled(): Promise<void> {
    await this.#edits.settled();
  }
}

export function requireUnchanged(base: CloudState, current: CloudState): void {
  if (base.version !== current.version)
    throw new AppError("conflict", "the cloud changed while this operation ran; run it again");
}

/** The state after a change. Takes no references: the caller keeps the columns alive. */
export function stateAfter(base: CloudState, change: CloudChange): CloudState {
  const columns = new Map(base.columns);
  for (const [key, column] of change.columns ?? []) {
    if (column) columns.set(key, column);
    else columns.delete(key);
  }
  return Object.freeze({
    version: base.version + 1,
    columns,
    misses: change.misses ?? base.misses,
    undo: Object.freeze(applySteps(base.undo, change.undo ?? [])),
    meta: Object.freeze({ ...base.meta, ...change.meta }),
  });
}

/** Each column once, however often the state names it. */
export function ownedColumns(state: Pick<CloudState, "columns" | "misses" | "undo">): Set<ColumnRef> {
  return new Set([...state.columns.values(), ...state.misses.values(), ...undoColumns(state.undo)]);
}
