import type { ColumnPlan } from "../../shared/contract/column-plan.ts";
import { AppError } from "../../shared/errors.ts";
import type { GeotiffRecords, LasExtraRecord } from "../native/readers.ts";
import type { ColumnRef } from "./column-ref.ts";

export type Triple = readonly [number, number, number];

/**
 * How a LAS file stored an extra dimension: what an export needs to write it back as it was. Slug and label are those that
 * the file's name and description stand for; a column renamed since is written under its new ones.
 */
export interface LasExtra {
  readonly slug: string;
  readonly label: string;
  readonly record: LasExtraRecord;
}

/** One scalar column beside the fixed ones, in the order the client shows them. */
export interface ExtraDim {
  readonly slug: string;
  readonly label: string;
  /** Absent for columns that no LAS file brought. */
  readonly las_extra?: LasExtra;
}

/** Scanner position of one scan, stored frame, metres. */
export interface ScanOrigin {
  readonly scan_index: number;
  readonly origin: Triple;
}

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
  readonly octree_pose: readonly number[] | null;
  readonly octree_point_count: number | null;
  readonly octree_stale_gen: number;
  readonly miss_octree_cache_id: string | null;
  /** Scanner position the miss overlay is projected from, stored frame. */
  readonly miss_octree_origin: Triple | null;
  /** Scanner positions by the values of the column scan_index; absent or empty where the source named none. */
  readonly scan_origins?: readonly ScanOrigin[];
}

/** Names of the fixed columns; every other key of `columns` is an extra's slug behind this prefix. */
export const FIXED_COLUMNS = ["positions", "colors", "intensity", "timestamps", "beam_origins", "deleted"] as const;
export const extraKey = (slug: string): string => `extra/${slug}`;

/** Everything a session is, frozen. It owns one reference to each of its columns. */
export interface CloudState {
  readonly columns: ReadonlyMap<string, ColumnRef>;
  readonly meta: CloudMeta;
}

export interface CloudChange {
  /** Columns to add or replace; null removes one. */
  readonly columns?: ReadonlyMap<string, ColumnRef | null>;
  readonly meta?: Partial<CloudMeta>;
}

/** Called with every committed change, in order; resolves when the change would survive a crash. */
export type PersistChange = (session: CloudSession, change: CloudChange) => Promise<void>;

export class CloudSession {
  #state: CloudState | undefined;
  #edits: Promise<unknown> = Promise.resolve();
  #lastWrite: Promise<void> = Promise.resolve();
  /** Committed but not saved: what waits for its turn, and what could not be saved and goes with the next write. */
  #unsaved: CloudChange | undefined;
  readonly #persist: PersistChange;

  constructor(
    readonly id: string,
    initial: CloudState,
    persist: PersistChange,
  ) {
    this.#state = Object.freeze(initial);
    this.#persist = persist;
  }

  get state(): CloudState {
    if (!this.#state) throw new AppError("not_found", `Cloud session not found: ${this.id}`);
    return this.#state;
  }
  get closed(): boolean {
    return this.#state === undefined;
  }

  /** Runs `body` on the current state; its columns stay alive until `body` settles, whatever edits land meanwhile. */
  async read<T>(body: (state: CloudState) => Promise<T>): Promise<T> {
    const state = this.state;
    const held = [...state.columns.values()].map((column) => column.retain());
    try {
      return await body(state);
    } finally {
      for (const column of held) column.release();
    }
  }

  /** Serializes edits in arrival order: one writer at a time. */
  edit<T>(body: () => Promise<T>): Promise<T> {
    const run = this.#edits.then(body, body);
    this.#edits = run.catch(() => undefined);
    return run;
  }

  /**
   * Publishes `base` with `change`, synchronously; throws `conflict`, changing nothing, when someone published since
   * `base`. Retains the columns it adds and releases the ones they replace. Await `durable()` before answering.
   */
  commit(base: CloudState, change: CloudChange): void {
    if (base !== this.state) throw new AppError("conflict", "the cloud changed while this operation ran; run it again");
    const columns = new Map(base.columns);
    const replaced: ColumnRef[] = [];
    for (const [key, column] of change.columns ?? []) {
      const before = columns.get(key);
      if (before) replaced.push(before);
      if (column) columns.set(key, column.retain());
      else columns.delete(key);
    }
    this.#state = Object.freeze({ columns, meta: Object.freeze({ ...base.meta, ...change.meta }) });
    for (const column of replaced) column.release();
    this.#unsaved = merged(this.#unsaved, holding(change));
    this.#lastWrite = this.#lastWrite.catch(() => undefined).then(() => this.#save());
    this.#lastWrite.catch(() => undefined); // reported by durable()
  }

  /** Saves everything unsaved as one change. The columns stay alive meanwhile, whatever later commits replace. */
  async #save(): Promise<void> {
    const change = this.#unsaved;
    if (!change) return; // an earlier write took it along
    this.#unsaved = undefined;
    try {
      await this.#persist(this, change);
      letGo(change);
    } catch (error) {
      if (this.closed) letGo(change);
      else this.#unsaved = merged(change, this.#unsaved);
      throw error;
    }
  }

  /** Resolves when everything committed so far would survive a crash; rejects when the last write failed. */
  durable(): Promise<void> {
    return this.#lastWrite;
  }

  /** Releases the columns. Reads in flight keep theirs until they settle. */
  close(): void {
    const columns = this.state.columns;
    this.#state = undefined;
    for (const column of columns.values()) column.release();
    if (this.#unsaved) letGo(this.#unsaved);
    this.#unsaved = undefined;
  }
}

/** The change with a reference of its own to each of its columns. */
function holding(change: CloudChange): CloudChange {
  for (const column of change.columns?.values() ?? []) column?.retain();
  return change;
}

function letGo(change: CloudChange): void {
  for (const column of change.columns?.values() ?? []) column?.release();
}

/** Both changes as one; columns that the later one replaces are let go. */
function merged(earlier: CloudChange | undefined, later: CloudChange | undefined): CloudChange {
  if (!earlier || !later) return earlier ?? later ?? {};
  const columns = new Map(earlier.columns);
  for (const [key, column] of later.columns ?? []) {
    columns.get(key)?.release();
    columns.set(key, column);
  }
  return { columns, meta: { ...earlier.meta, ...later.meta } };
}
