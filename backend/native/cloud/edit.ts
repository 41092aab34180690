import type { DType, NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<CloudEditNative>();

type Triple = readonly [number, number, number];

/** A frozen camera: 16 numbers each, column-major; canvas in pixels. */
export interface ScreenView {
  readonly projection: readonly number[];
  readonly view: readonly number[];
  readonly width: number;
  readonly height: number;
}

/** A region drawn by the user. Boxes have the frame of the positions, screen shapes are in pixels. */
export type NativeRegion =
  | { readonly kind: "box"; readonly min: Triple; readonly max: Triple; readonly invert: boolean }
  | {
      readonly kind: "polygon";
      readonly points: readonly (readonly number[])[];
      readonly screen: ScreenView;
      readonly invert: boolean;
    }
  | {
      readonly kind: "squares_union";
      readonly centers: readonly (readonly number[])[];
      readonly half_sizes: readonly number[];
      readonly screen: ScreenView;
      readonly invert: boolean;
    };

/** Selects rint(v) in `values` if that is non-empty, otherwise min <= v <= max. Never selects NaN. */
export interface NativeFilter {
  readonly column: NativeColumn;
  readonly min: number;
  readonly max: number;
  readonly values: readonly number[];
}

export interface RowSelection {
  readonly positions: NativeColumn;
  /** A row must be selected by all regions and filters. */
  readonly regions: readonly NativeRegion[];
  readonly filters: readonly NativeFilter[];
}

/**
 * A set of rows in the smallest of three forms. `data`: "rows" u32 ascending; "runs" u32 pairs of start and length,
 * ascending; "bits" u8, bit i % 8 of byte i / 8 is row i. u64 instead of u32 for clouds of 2^32 rows and more.
 */
export interface NativeRowSet {
  readonly encoding: "rows" | "runs" | "bits";
  readonly data: NativeColumn;
  readonly count: number;
}

export interface Deletion {
  /** u8 per row: the mask with the new rows added. */
  readonly deleted: NativeColumn;
  /** Rows that were not deleted before. */
  readonly rows: NativeRowSet;
  /** Selected hits, deleted or not. */
  readonly selected_hit_count: number;
}

export interface LabelStroke {
  /** The rows in all of these regions. */
  readonly regions: readonly NativeRegion[];
  readonly to_class: number;
  /** Repaint only these classes; null = any. Compared with rint(value). */
  readonly from_classes: readonly number[] | null;
  /** Never repaint these. */
  readonly exclude_classes: readonly number[];
}

export interface StrokeSequence {
  /** The label column; null = all 0 (a u8 column is created). */
  readonly column: NativeColumn | null;
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = not editable (miss or deleted); null = all are. */
  readonly skip: NativeColumn | null;
  readonly strokes: readonly LabelStroke[];
  /** Limit of the bytes of all changes, if there are two strokes or more. */
  readonly max_history_bytes: number;
}

export interface StrokeChange {
  readonly rows: NativeRowSet;
  /** Previous values of `rows`, in their order and type; length 1 if all were equal, 0 if no row changed. */
  readonly previous: NativeColumn;
  /** Editable rows inside the stroke. */
  readonly selected_count: number;
}

export interface PaintedSequence {
  /** The column after the last stroke, widened if a class does not fit its type. */
  readonly column: NativeColumn;
  /** One per stroke. */
  readonly changes: readonly StrokeChange[];
}

export interface ClassCounts {
  /** Sorted distinct finite values of rint(v). */
  readonly values: readonly number[];
  readonly counts: readonly number[];
}

export interface Groups {
  /** Sorted distinct finite values of rint(v). */
  readonly values: readonly number[];
  readonly counts: readonly number[];
  /** Rows of the first value ascending, then of the second, ...; u32, u64 from 2^32 rows on. */
  readonly order: NativeColumn;
}

export interface ConcatPart {
  /** Null = the fill value in all `rows`. */
  readonly column: NativeColumn | null;
  /** Rows before dropping. */
  readonly rows: number;
  /** u8 per row, non-zero = leave out; null = keep all. */
  readonly drop: NativeColumn | null;
  /** Added to each triple of a vec3d column; must be zeros for other types. */
  readonly offset: Triple;
  /** Value of its rows if it has no column; null = that of all parts. */
  readonly fill: number | null;
}

export interface CloudEditNative {
  selectRows(selection: RowSelection): NativeJob<NativeColumn>;
  deleteRows(selected: NativeColumn, isMiss: NativeColumn | null, deleted: NativeColumn | null): NativeJob<Deletion>;
  unionRows(rowCount: number, base: NativeColumn | null, sets: readonly NativeRowSet[]): NativeJob<NativeColumn>;
  encodeRows(mask: NativeColumn): NativeJob<NativeRowSet>;
  paintStrokes(sequence: StrokeSequence): NativeJob<PaintedSequence>;
  setLabels(column: NativeColumn, rows: NativeRowSet, values: NativeColumn): NativeJob<NativeColumn>;
  classCounts(column: NativeColumn, skip: NativeColumn | null): NativeJob<ClassCounts>;
  compactColumns(columns: readonly NativeColumn[], drop: NativeColumn): NativeJob<readonly NativeColumn[]>;
  categoricalSplit(column: NativeColumn, skip: NativeColumn | null, exclude: readonly number[]): NativeJob<Groups>;
  takeRows(
    columns: readonly NativeColumn[],
    order: NativeColumn,
    first: number,
    count: number,
  ): NativeJob<readonly NativeColumn[]>;
  concatColumns(
    parts: readonly ConcatPart[],
    params: { readonly dtype: DType; readonly fill: number },
  ): NativeJob<NativeColumn>;
  transformPositions(positions: NativeColumn, matrix: readonly number[]): NativeJob<NativeColumn>;
  transformNormals(
    normals: readonly [NativeColumn, NativeColumn, NativeColumn],
    linear: readonly number[],
  ): NativeJob<readonly [NativeColumn, NativeColumn, NativeColumn]>;
  verticality(nz: NativeColumn): NativeJob<NativeColumn>;
  scaleColumn(column: NativeColumn, factor: number): NativeJob<NativeColumn>;
  rescaleU16(column: NativeColumn, factor: number, offset: number): NativeJob<NativeColumn>;
  mapValues(column: NativeColumn, from: readonly number[], to: readonly number[]): NativeJob<NativeColumn>;
  octreeTranslate(folder: string, staging: string, delta: Triple): NativeJob<null>;
}

/** u8 per row: 1 = selected by all regions and filters. Without regions and filters, every row is selected. */
export const selectRows = (selection: RowSelection) => addon.selectRows(selection);
/** Deletes the selected hits; misses are never deleted. `isMiss`: any scalar type, non-zero = miss. */
export const deleteRows: CloudEditNative["deleteRows"] = (selected, isMiss, deleted) =>
  addon.deleteRows(selected, isMiss, deleted);
/** u8 per row: 1 in `base` (u8) or in any of the sets. */
export const unionRows: CloudEditNative["unionRows"] = (rowCount, base, sets) => addon.unionRows(rowCount, base, sets);
/** The non-zero rows of a u8 mask. */
export const encodeRows = (mask: NativeColumn) => addon.encodeRows(mask);
/** Strokes of the label brush, in order, in one copy of the column. */
export const paintStrokes = (sequence: StrokeSequence) => addon.paintStrokes(sequence);
/** A copy of the column with `values` (one per row of the set, or one for all) in `rows`; widened if necessary. */
export const setLabels: CloudEditNative["setLabels"] = (column, rows, values) => addon.setLabels(column, rows, values);
/** Number of rows per value, over the rows that `skip` (u8) does not mark. */
export const classCounts = (column: NativeColumn, skip: NativeColumn | null) => addon.classCounts(column, skip);
/** Every column without the rows whose `drop` (u8) is non-zero; keeps order and types. */
export const compactColumns = (columns: readonly NativeColumn[], drop: NativeColumn) =>
  addon.compactColumns(columns, drop);
/** The rows that `skip` does not mark, ordered by class, then by row; without excluded values. */
export const categoricalSplit: CloudEditNative["categoricalSplit"] = (column, skip, exclude) =>
  addon.categoricalSplit(column, skip, exclude);
/** Rows order[first .. first + count) of every column. */
export const takeRows: CloudEditNative["takeRows"] = (columns, order, first, count) =>
  addon.takeRows(columns, order, first, count);
/** The parts joined in order as `dtype`. Every value must fit: a narrower type is refused, values never wrap. */
export const concatColumns: CloudEditNative["concatColumns"] = (parts, params) => addon.concatColumns(parts, params);
/** p' = A p + b for the (3, 4) row-major matrix [A | b], in float64; `b` is added last. */
export const transformPositions = (positions: NativeColumn, matrix: readonly number[]) =>
  addon.transformPositions(positions, matrix);
/** n' = A^-T n, normalised, for the (3, 3) row-major A; A n for a rotation. Zero vectors stay zero; keeps types. */
export const transformNormals: CloudEditNative["transformNormals"] = (normals, linear) =>
  addon.transformNormals(normals, linear);
/** acos(|nz|) in degrees, f32; NaN stays NaN, |nz| > 1 counts as 1. */
export const verticality = (nz: NativeColumn) => addon.verticality(nz);
/** value * factor + offset of a u16 column as u16, rounded and clamped. */
export const rescaleU16: CloudEditNative["rescaleU16"] = (column, factor, offset) =>
  addon.rescaleU16(column, factor, offset);
/** from[i] becomes to[i], a whole number, every other value 0; u16, or u32 for larger numbers. `from` ascends. */
export const mapValues: CloudEditNative["mapValues"] = (column, from, to) => addon.mapValues(column, from, to);
/** value * factor; f64 stays f64, every other type becomes f32. */
export const scaleColumn = (column: NativeColumn, factor: number) => addon.scaleColumn(column, factor);
/**
 * Writes a copy of an octree, translated by `delta` metres, to `staging`. Errors: unsupported if the folder does not
 * have the builder's layout or coordinates would exceed int32.
 */
export const octreeTranslate: CloudEditNative["octreeTranslate"] = (folder, staging, delta) =>
  addon.octreeTranslate(folder, staging, delta);
