import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import type { GeotiffRecords, LasExtraRecord } from "./readers.ts";

const addon = addonAs<WritersNative>();

type Triple = readonly [number, number, number];

/** The rows and columns an export writes; see cpp/io/cloud_view.h. */
export interface CloudViewInput {
  readonly positions: NativeColumn;
  /** Added to every position and origin, metres. */
  readonly offset: readonly [number, number, number];
  readonly colors: NativeColumn | null;
  readonly intensity: NativeColumn | null;
  readonly timestamps: NativeColumn | null;
  readonly beam_origins: NativeColumn | null;
  readonly scalars: readonly { readonly slug: string; readonly label: string; readonly column: NativeColumn }[];
  /** u8 per row, 1 = left out. */
  readonly skip: NativeColumn | null;
  readonly stride: number;
}

/** How a scalar is stored in a LAS file; see cpp/io/las.h. */
export interface LasPlacement {
  readonly slug: string;
  /** Standard field to write if all values fit it; "" = none. */
  readonly field: string;
  /** Its record in the source file; if set, it is written as an extra dimension. */
  readonly record: LasExtraRecord | null;
}

export interface LasWriteParams {
  readonly version: "1.2" | "1.4";
  /** 1.4 with point formats 0 to 3. */
  readonly legacy_points: boolean;
  /** Coordinate grid of the source, file frame; used if every coordinate lies on it. */
  readonly grid: { readonly scale: Triple; readonly offset: Triple } | null;
  readonly placements: readonly LasPlacement[];
  /** Fields with one value in every point. */
  readonly constants: readonly { readonly field: string; readonly value: number }[];
  /** LAZ */
  readonly compressed: boolean;
  /** Coarsest coordinate step. */
  readonly scale_m: number;
  /** No coordinate is more exact than scale_m, the step of their source. */
  readonly step_known: boolean;
  readonly adjusted_standard_time: boolean;
  /** 0 = unknown */
  readonly epsg: number;
  readonly epsg_is_geographic: boolean;
  /** OGC WKT, "" = none */
  readonly wkt: string;
  /** Verbatim from the source. */
  readonly geotiff: GeotiffRecords | null;
  readonly system_identifier: string;
  readonly generating_software: string;
  readonly creation_day_of_year: number;
  readonly creation_year: number;
}
export interface WriteResult {
  readonly point_count: number;
  readonly bytes: number;
  readonly warnings: readonly string[];
  /** Columns with a value that was rounded to six decimals. */
  readonly rounded: readonly string[];
  /** True if a colour channel was rounded to 8 bits. */
  readonly colors_cut: boolean;
  /** True if the decimals of a text format changed an intensity. */
  readonly intensity_cut: boolean;
}
export interface PcdWriteParams {
  /** Scanner position, stored frame; null = unknown. */
  readonly viewpoint: readonly [number, number, number] | null;
}
export interface PtxWriteParams {
  /** Largest number of cells of one scan. */
  readonly max_cells: number;
  /** Scanner position of scans that are not in `origins`, stored frame. */
  readonly origin: readonly [number, number, number];
  readonly origins: readonly { readonly scan_index: number; readonly origin: readonly [number, number, number] }[];
  /** Raster of a cloud of one scan without row_index and column_index; null = none. */
  readonly sweep: PtxSweep | null;
}
/** See cpp/io/ptx.h. */
export interface PtxSweep {
  readonly n_theta: number;
  readonly n_phi: number;
  readonly theta_min_rad: number;
  readonly theta_step_rad: number;
  readonly phi_min_rad: number;
  readonly phi_step_rad: number;
}
/** Result for one scan; see cpp/io/ptx.h. */
export interface PtxWrittenScan {
  readonly scan_index: number;
  readonly rows: number;
  readonly columns: number;
  /** Indexes of the first row and column of the raster in the file. */
  readonly first_row: number;
  readonly first_column: number;
  readonly filled: number;
  readonly collapsed: number;
  readonly unplaced: number;
}
export interface PtxWriteResult {
  readonly scans: readonly PtxWrittenScan[];
  readonly bytes: number;
  readonly without_scan: number;
  readonly colors_cut: boolean;
}
/** See cpp/io/e57_write.h. */
export interface E57WriteParams {
  /** Of the scan; several are "name 0", "name 1", ... */
  readonly name: string;
  readonly guid: string;
  readonly writer: string;
  /** OGC WKT, "" = unknown */
  readonly coordinate_metadata: string;
  /** GPS time, seconds */
  readonly creation_time_s: number;
  /** Scanner position of a cloud of one scanner, stored frame; null = unknown. */
  readonly origin: readonly [number, number, number] | null;
  readonly origins: readonly { readonly scan_index: number; readonly origin: readonly [number, number, number] }[];
}
export interface E57WriteResult {
  readonly point_count: number;
  readonly bytes: number;
  readonly scans: number;
  /** Misses of scans without a scanner position. */
  readonly misses_from_zero: number;
  readonly without_scan: number;
  /** The scan indexes are not 0, 1, 2, ... */
  readonly renumbered: boolean;
  readonly colors_cut: boolean;
  readonly warnings: readonly string[];
}
export type TextFormat = "xyz" | "txt" | "csv" | "ply" | "obj";
/** Of an export of points, of a data file of a scan, and of one without a header. */
export type TextLayout = "cloud" | "scan" | "bare";
export interface TextWriteParams {
  readonly format: TextFormat;
  readonly layout: TextLayout;
}

export interface WritersNative {
  writeLas(view: CloudViewInput, params: LasWriteParams, path: string): NativeJob<WriteResult>;
  writeText(view: CloudViewInput, params: TextWriteParams, path: string): NativeJob<WriteResult>;
  writePts(view: CloudViewInput, path: string): NativeJob<WriteResult>;
  writePcd(view: CloudViewInput, params: PcdWriteParams, path: string): NativeJob<WriteResult>;
  writePtx(view: CloudViewInput, params: PtxWriteParams, path: string): NativeJob<PtxWriteResult>;
  writeE57(view: CloudViewInput, params: E57WriteParams, path: string): NativeJob<E57WriteResult>;
}

/** Writes LAS or LAZ in blocks, with constant memory. */
export const writeLas = (view: CloudViewInput, params: LasWriteParams, path: string) =>
  addon.writeLas(view, params, path);
/** Writes a text format in blocks, with constant memory. */
export const writeText = (view: CloudViewInput, params: TextWriteParams, path: string) =>
  addon.writeText(view, params, path);
/** Writes PTS: positions, intensity and colour. */
export const writePts = (view: CloudViewInput, path: string) => addon.writePts(view, path);
/** Writes binary PCD. */
export const writePcd = (view: CloudViewInput, params: PcdWriteParams, path: string) =>
  addon.writePcd(view, params, path);
/** Writes PTX: one raster per scan. */
export const writePtx = (view: CloudViewInput, params: PtxWriteParams, path: string) =>
  addon.writePtx(view, params, path);
/** Writes E57: one scan per scan_index, every column. */
export const writeE57 = (view: CloudViewInput, params: E57WriteParams, path: string) =>
  addon.writeE57(view, params, path);
