import { setImmediate } from "node:timers/promises";
import type { QsmParams } from "../../shared/contract/qsm.ts";
import type { QsmCylinder, QsmMetrics, QsmShoot, TreeViewFit } from "../../shared/contract/qsm-records.ts";
import { BLOCK_BYTES } from "../../shared/limits.ts";
import type { DType, NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/**
 * A QSM as three native tables of f64 (cpp/binding/qsm_values.h tells their columns): a row per cylinder, a row per shoot,
 * and the ids that the shoots list. No object per cylinder until someone asks for it.
 */
export interface QsmTables {
  readonly cylinders: NativeColumn;
  readonly shoots: NativeColumn;
  readonly ids: NativeColumn;
}

/** Metrics of a model; intervals are those of a build. */
export type NativeQsmMetrics = Omit<
  QsmMetrics,
  "total_woody_volume_ci95_m3" | "stem_volume_ci95_m3" | "branch_volume_ci95_m3"
>;

export interface ImportedQsm {
  readonly qsm: QsmTables;
  readonly metrics: NativeQsmMetrics;
}

/** Rows of a cloud that are one tree without ground and leaves. */
export interface ModelRows {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = leave out; null = none. Not read with an order. */
  readonly skip: NativeColumn | null;
  /** u32 or u64 rows of all trees; null = all rows. */
  readonly order: NativeColumn | null;
  /** The tree's part of the order; not read without. */
  readonly first: number;
  readonly count: number;
  /** Added to the positions: the frame of the model, metres. */
  readonly offset: readonly [number, number, number];
  /** Thinned to so many points; 0 = all are used. */
  readonly max_points: number;
  /** The scan of each row; null = one scan, or not known. */
  readonly scan_index: NativeColumn | null;
  /** f64 seconds at which each was measured; null = not known. */
  readonly time_s: NativeColumn | null;
  /** Views of a tree that do not fit each other are moved onto each other. */
  readonly align_scans: boolean;
  /** Metres, 0 = unknown; null = no heights. The stem is drawn out to the ground. */
  readonly height_above_ground: NativeColumn | null;
  /** The points are labelled as wood: those on no surface are twigs that few were measured on, and not leaves. */
  readonly leafless: boolean;
}

/** Rows of one of the sources of a tree. */
export interface ScanRows {
  readonly positions: NativeColumn;
  /** u8, non-zero = leave out; null = none. */
  readonly skip: NativeColumn | null;
  readonly scan_index: NativeColumn | null;
  readonly time_s: NativeColumn | null;
  /** Added to the positions, metres. */
  readonly shift: readonly [number, number, number];
  /** Thinned to so many by a stride; 0 = all. */
  readonly max_points: number;
  /** Number of the source: scans of different sources are different ones. */
  readonly source: number;
  /** Scan and time are wanted. */
  readonly stamped: boolean;
}

/** The points of a source that are used: vec3d, and f64 of each if they are stamped. */
export interface ScanPoints {
  readonly points: NativeColumn;
  readonly scan_index: NativeColumn | null;
  readonly time_s: NativeColumn | null;
  readonly unusable_count: number;
}

/** The model of one tree; without cylinders, and metrics null, if none was found. */
export interface TreeModel {
  readonly qsm: QsmTables;
  readonly metrics: QsmMetrics | null;
  readonly points_in_tree: number;
  readonly points_used: number;
  /** Of points_used, connected with the base. */
  readonly points_reached: number;
  readonly skeleton_nodes: number;
  readonly voxel_m: number | null;
  /** null with fewer than two views. */
  readonly view_fit: TreeViewFit | null;
  /** Of the lowest points of the stem above the ground, metres; null = not known. */
  readonly base_gap_m: number | null;
  /** Of a plant that is smaller than a tree; 1 = a tree. */
  readonly enlarged_by: number;
  /** Most of the length has measured radii. */
  readonly radii_known: boolean;
  readonly warnings: readonly string[];
}

export interface QsmNative {
  importQsm(path: string): NativeJob<ImportedQsm>;
  importQsmBytes(fileBytes: number): number;
  modelTree(tree: ModelRows, params: QsmParams): NativeJob<TreeModel>;
  scanPoints(rows: ScanRows): NativeJob<ScanPoints>;
  modelTreeBytes(points: number, maxPoints: number, hasViews: boolean): number;
}

const addon = addonAs<QsmNative & { readonly Column: new (dtype: DType, bytes: Uint8Array) => NativeColumn }>();

/** Reads a table of cylinders, rebuilds the shoots and measures the model. */
export const importQsm: QsmNative["importQsm"] = (path) => addon.importQsm(path);
/** Memory of importQsm, bytes. */
export const importQsmBytes: QsmNative["importQsmBytes"] = (fileBytes) => addon.importQsmBytes(fileBytes);

/** Builds the model of one tree and measures it. */
export const modelTree: QsmNative["modelTree"] = (tree, params) => addon.modelTree(tree, params);
/** The points of one source of a tree, and what each was measured with. */
export const scanPoints: QsmNative["scanPoints"] = (rows) => addon.scanPoints(rows);
/** Memory of modelTree, bytes. */
export const modelTreeBytes: QsmNative["modelTreeBytes"] = (points, maxPoints, hasViews) =>
  addon.modelTreeBytes(points, maxPoints, hasViews);

const CYLINDER_WIDTH = 14;
const SHOOT_WIDTH = 6;
/** Records between two turns of the event loop. */
const TURN = 65_536;

/** Ends the life of a QSM's tables; once. */
export function releaseQsm({ cylinders, shoots, ids }: QsmTables): void {
  for (const table of [cylinders, shoots, ids]) table.release();
}

/** The table of validated records; the caller releases it. The event loop runs between blocks of records. */
export async function cylinderTable(cylinders: readonly QsmCylinder[]): Promise<NativeColumn> {
  const table = new Float64Array(cylinders.length * CYLINDER_WIDTH);
  for (const [i, c] of cylinders.entries()) {
    const at = i * CYLINDER_WIDTH;
    table[at] = c.cyl_id;
    table.set(c.start, at + 1);
    table.set(c.end, at + 4);
    table[at + 7] = c.radius;
    table[at + 8] = c.parent_id;
    table[at + 9] = c.shoot_id;
    table[at + 10] = c.rank;
    table[at + 11] = c.surf_cov ?? Number.NaN;
    table[at + 12] = c.mad ?? Number.NaN;
    table[at + 13] = c.radius_se ?? Number.NaN;
    if (i % TURN === TURN - 1) await setImmediate();
  }
  return column(table);
}

/** The same of shoots: their table, and the ids of their lists. */
export async function shootTables(shoots: readonly QsmShoot[]): Promise<Pick<QsmTables, "shoots" | "ids">> {
  const shootTable = new Float64Array(shoots.length * SHOOT_WIDTH);
  const ids = new Float64Array(shoots.reduce((n, s) => n + s.cylinder_ids.length + s.child_shoot_ids.length, 0));
  let next = 0;
  for (const [i, s] of shoots.entries()) {
    const counts = [s.cylinder_ids.length, s.child_shoot_ids.length];
    shootTable.set([s.shoot_id, s.rank, s.parent_shoot_id, s.parent_cyl_id, ...counts], i * SHOOT_WIDTH);
    ids.set(s.cylinder_ids, next);
    ids.set(s.child_shoot_ids, next + s.cylinder_ids.length);
    next += s.cylinder_ids.length + s.child_shoot_ids.length;
    if (i % TURN === TURN - 1) await setImmediate();
  }
  return { shoots: column(shootTable), ids: column(ids) };
}

const column = (values: Float64Array) => new addon.Column("f64", new Uint8Array(values.buffer));

/** The tables of validated records; the caller releases them. */
export const qsmTables = async (
  cylinders: readonly QsmCylinder[],
  shoots: readonly QsmShoot[],
): Promise<QsmTables> => ({ cylinders: await cylinderTable(cylinders), ...(await shootTables(shoots)) });

/** The records of a QSM, each made when it is asked for. */
export class QsmRecords {
  readonly #cylinders: Float64Array;
  readonly #shoots: Float64Array;
  readonly #ids: Float64Array;
  /** Where the ids of each shoot start. */
  readonly #first: Float64Array;

  private constructor(cylinders: Float64Array, shoots: Float64Array, ids: Float64Array) {
    this.#cylinders = cylinders;
    this.#shoots = shoots;
    this.#ids = ids;
    this.#first = new Float64Array(this.shootCount);
    for (let i = 1; i < this.#first.length; i += 1) {
      const before = (i - 1) * SHOOT_WIDTH;
      this.#first[i] = this.#at(this.#first, i - 1) + this.#at(shoots, before + 4) + this.#at(shoots, before + 5);
    }
  }

  /** Copies the tables, which the caller may release afterwards. */
  static async read({ cylinders, shoots, ids }: QsmTables): Promise<QsmRecords> {
    return new QsmRecords(await copied(cylinders), await copied(shoots), await copied(ids));
  }

  get cylinderCount(): number {
    return this.#cylinders.length / CYLINDER_WIDTH;
  }
  get shootCount(): number {
    return this.#shoots.length / SHOOT_WIDTH;
  }

  cylinder(index: number): QsmCylinder {
    const row = index * CYLINDER_WIDTH;
    const number = (at: number) => this.#at(this.#cylinders, row + at);
    return {
      cyl_id: number(0),
      start: [number(1), number(2), number(3)],
      end: [number(4), number(5), number(6)],
      radius: number(7),
      parent_id: number(8),
      shoot_id: number(9),
      rank: number(10),
      surf_cov: known(number(11)),
      mad: known(number(12)),
      radius_se: known(number(13)),
    };
  }

  shoot(index: number): QsmShoot {
    const row = index * SHOOT_WIDTH;
    const number = (at: number) => this.#at(this.#shoots, row + at);
    const first = this.#at(this.#first, index);
    const children = first + number(4);
    return {
      shoot_id: number(0),
      rank: number(1),
      cylinder_ids: [...this.#ids.subarray(first, children)],
      parent_shoot_id: number(2),
      parent_cyl_id: number(3),
      child_shoot_ids: [...this.#ids.subarray(children, children + number(5))],
    };
  }

  #at(table: Float64Array, at: number): number {
    return table[at] as number;
  }
}

const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

async function copied(table: NativeColumn): Promise<Float64Array> {
  const out = new Float64Array(table.length);
  const bytes = new Uint8Array(out.buffer);
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    table.readInto(bytes.subarray(at, at + BLOCK_BYTES), at);
    await setImmediate();
  }
  return out;
}
