import type { NativeRowSet } from "../cloud/edit.ts";
import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<ArchiveNative>();

/** How the bytes of a column file are ordered (cpp/io/archive/zcol_header.h). */
export type ColumnFilter = "none" | "shuffle" | "delta_shuffle";
export interface FilterChoice {
  readonly filter: ColumnFilter;
  /** Size of the deflated sample by its raw size. */
  readonly ratio: number;
}
/** `.pz`: a column file of a project; `.npy`: an array of NumPy, as projects of version 1 have. */
export type ArrayForm = "pz" | "npy";

/** A member of an archive that is stored as it is. */
export interface MemberRange {
  readonly archive: string;
  /** Of its first byte. */
  readonly offset: number;
  readonly bytes: number;
  readonly crc32: number;
}

export interface ArchiveNative {
  chooseFilter(column: NativeColumn): NativeJob<FilterChoice>;
  columnHeader(
    column: NativeColumn,
    filter: ColumnFilter,
    isBool: boolean,
  ): { readonly bytes: Uint8Array; readonly blocks: number };
  columnBlocks(column: NativeColumn, filter: ColumnFilter, first: number, count: number): NativeJob<NativeColumn>;
  readArray(member: MemberRange, form: ArrayForm, rows: number | null): NativeJob<NativeColumn>;
  unpackArray(member: MemberRange, form: ArrayForm, rows: number | null, path: string): NativeJob<number>;
  verifyArray(member: MemberRange, form: ArrayForm, rows: number | null): NativeJob<number>;
  narrowestIntegers(column: NativeColumn): NativeJob<NativeColumn | null>;
  listRows(rowCount: number, set: NativeRowSet): NativeJob<NativeColumn>;
  rowSetOf(rowCount: number, rows: NativeColumn): NativeJob<NativeRowSet>;
}

/** The filter that deflates a sample of the column best. */
export const chooseFilter = (column: NativeColumn) => addon.chooseFilter(column);
/** What a column file begins with, and the number of its blocks. `isBool`: a u8 column of zeros and ones. */
export const columnHeader: ArchiveNative["columnHeader"] = (column, filter, isBool) =>
  addon.columnHeader(column, filter, isBool);
/** Bytes (u8) of blocks of the file, which follow each other. A block stands for 8 MiB of the column. */
export const columnBlocks: ArchiveNative["columnBlocks"] = (column, filter, first, count) =>
  addon.columnBlocks(column, filter, first, count);
/**
 * The column in a member; everything is verified, the CRC-32 of the member too. `rows`: how many it must have, null =
 * any number. Errors: invalid_file.
 */
export const readArray: ArchiveNative["readArray"] = (member, form, rows) => addon.readArray(member, form, rows);
/** Like readArray, into a column file of the session store. The number of rows. Errors: also no_space, io. */
export const unpackArray: ArchiveNative["unpackArray"] = (member, form, rows, path) =>
  addon.unpackArray(member, form, rows, path);
/** Like readArray, without a result. The number of rows. */
export const verifyArray: ArchiveNative["verifyArray"] = (member, form, rows) => addon.verifyArray(member, form, rows);
/** The column as u8, i8, u16, i16, u32 or i32 if one of them is smaller and holds every value; null otherwise. */
export const narrowestIntegers = (column: NativeColumn) => addon.narrowestIntegers(column);
/** The rows of a set as ascending numbers, i64. */
export const listRows: ArchiveNative["listRows"] = (rowCount, set) => addon.listRows(rowCount, set);
/** The set of ascending rows, i64, in its smallest form. Errors: invalid_argument if they are not in the cloud. */
export const rowSetOf: ArchiveNative["rowSetOf"] = (rowCount, rows) => addon.rowSetOf(rowCount, rows);
