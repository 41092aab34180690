import type { DType, NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<ReadersNative>();

/** stored = file * unit_scale - shift, metres. */
export interface PositionFrame {
  readonly unit_scale: number;
  readonly shift: readonly [number, number, number];
}

export interface SourceColumn {
  /** Name in the file; LAS: snake_case name of the standard dimension. */
  readonly name: string;
  readonly description: string;
  /** True if the format itself does not define the column (LAS extra bytes, PLY and PCD properties). */
  readonly extra: boolean;
  readonly column: NativeColumn;
}

/** Result of every reader. Positions are finite and in the stored frame; the caller owns all columns. */
export interface CloudTable {
  readonly positions: NativeColumn;
  readonly columns: readonly SourceColumn[];
  /** A full channel of the column `rgb`: 65535, or 65280 for 8-bit colours, which are stored times 256. */
  readonly color_full: number;
  /** Red, green and blue if the file has them as floats 0..1; else empty. */
  readonly unit_colors: readonly NativeColumn[];
  readonly nonfinite_dropped: number;
  readonly malformed_dropped: number;
  readonly warnings: readonly string[];
}

export interface Bounds {
  readonly min: readonly [number, number, number];
  readonly max: readonly [number, number, number];
}

/** Properties of a dimension in its Extra Bytes record that are not visible in its values. */
export interface LasExtraRecord {
  readonly name: string;
  readonly description: string;
  /** Type in the file. */
  readonly stored: DType;
  /** value = stored * scale + offset; null if the file declares none. */
  readonly scale: number | null;
  readonly offset: number | null;
  /** The eight bytes of the no-data value in hex; null if the file declares none. */
  readonly no_data: string | null;
}

export interface LasDimension {
  readonly name: string;
  readonly description: string;
  readonly extra: boolean;
  readonly dtype: DType;
  readonly record: LasExtraRecord | null;
}

/** Payloads of the GeoTIFF records of a LAS file, in hex. */
export interface GeotiffRecords {
  readonly directory: string;
  readonly doubles: string;
  readonly ascii: string;
}

export interface LasCrs {
  readonly epsg: number | null;
  readonly vertical_epsg: number | null;
  readonly is_geographic: boolean;
  /** Metres per horizontal unit; null when unknown or geographic. */
  readonly unit_m: number | null;
  readonly unit_name: string;
  readonly vertical_unit_m: number | null;
  readonly vertical_unit_name: string;
  readonly wkt: string;
  readonly citation: string;
  readonly geotiff: GeotiffRecords | null;
  readonly warnings: readonly string[];
}

export interface LasHeader {
  readonly version_major: number;
  readonly version_minor: number;
  readonly point_format: number;
  readonly compressed: boolean;
  readonly record_bytes: number;
  readonly gps_time_encoding: "" | "gps_week" | "adjusted_standard";
  readonly system_identifier: string;
  readonly generating_software: string;
  readonly scale: readonly [number, number, number];
  readonly offset: readonly [number, number, number];
  /** File units, as declared. */
  readonly declared_bounds: Bounds | null;
  readonly declared_point_count: number;
  readonly present_point_count: number;
  readonly dimensions: readonly LasDimension[];
  readonly crs: LasCrs;
  readonly warnings: readonly string[];
}

export interface LasReadParams {
  readonly frame: PositionFrame;
  readonly first_row: number;
  /** null = all */
  readonly row_count: number | null;
  /** Column names to leave out. */
  readonly skip_columns: readonly string[];
}

export type TextDelimiter = "comma" | "semicolon" | "tab" | "whitespace";
export interface TextReadParams {
  readonly delimiter: TextDelimiter;
  readonly decimal_comma: boolean;
  readonly skip_lines: number;
  readonly expected_columns: number;
  readonly x_index: number;
  readonly y_index: number;
  readonly z_index: number;
  readonly columns: readonly {
    readonly index: number;
    readonly name: string;
    readonly type: "auto" | "float" | "f64";
  }[];
  readonly frame: PositionFrame;
  /** 0 = all */
  readonly max_rows: number;
}
export interface TextSample {
  readonly lines: readonly string[];
  readonly file_bytes: number;
  readonly complete: boolean;
}

export interface ReadersNative {
  readLas(path: string, params: LasReadParams): NativeJob<CloudTable & { readonly header: LasHeader }>;
  readLasHeader(path: string): NativeJob<LasHeader>;
  readText(path: string, params: TextReadParams): NativeJob<CloudTable>;
  sampleText(path: string, maxLines: number): NativeJob<TextSample>;
  readPly(path: string, params: RecordReadParams): NativeJob<CloudTable>;
  readPlyHeader(path: string, maxRows: number): NativeJob<PlyHeader>;
  readPcd(path: string, params: RecordReadParams): NativeJob<PcdCloud>;
  readPcdHeader(path: string): NativeJob<PcdHeader>;
  readE57(path: string, params: ScanReadParams): NativeJob<ScanCloud>;
  readPcdSample(path: string, maxRows: number): NativeJob<PcdSample>;
  readE57Header(path: string): NativeJob<E57Header>;
  readE57Sample(path: string, scanIndex: number, maxRows: number): NativeJob<E57Sample>;
  readPtx(path: string, params: ScanReadParams): NativeJob<ScanCloud>;
  readPtxHead(path: string, maxRows: number, maxBytes: number): NativeJob<PtxHead>;
}

export interface ScanReadParams {
  readonly frame: PositionFrame;
  /** The only scan to read; null = all. */
  readonly scan_index: number | null;
}
/** One scanner position of a file. Angles are degrees, zenith 0 = up, bearings clockwise from +y; null if the file
 * declares none. */
export interface ScanInfo {
  readonly scan_index: number;
  /** "" if the file has none. */
  readonly name: string;
  readonly row_count: number;
  readonly miss_count: number;
  readonly unplaceable_miss_count: number;
  /** Angle between the scanner's axis and the vertical. */
  readonly tilt: number;
  /** True if the file places the scan by a pose. */
  readonly has_pose: boolean;
  /** Scanner position, stored frame, metres; null if it is not known: Cartesian points without a pose. */
  readonly origin: readonly [number, number, number] | null;
  /** Rows and columns of the raster, 0 = none. */
  readonly n_theta: number;
  readonly n_phi: number;
  readonly theta_min: number | null;
  readonly theta_max: number | null;
  readonly phi_min: number | null;
  readonly phi_max: number | null;
}
export interface ScanCloud extends CloudTable {
  readonly scans: readonly ScanInfo[];
  /** For E57 files that declare a coordinate system. */
  readonly crs?: LasCrs | null;
  /** Misses without a direction; they are placed at their scanner. */
  readonly unplaceable_miss_count: number;
}
export interface E57HeaderScan {
  readonly name: string;
  /** As declared; may be wrong in a damaged file. */
  readonly point_count: number;
  /** File frame, metres; null if it is not known: Cartesian points without a pose. */
  readonly origin: readonly [number, number, number] | null;
  /** Unit quaternion x y z w; null without a pose. */
  readonly rotation: readonly [number, number, number, number] | null;
  /** File frame; null if the file declares none. */
  readonly bounds: Bounds | null;
  /** Declared rows and columns, 0 = none. */
  readonly n_theta: number;
  readonly n_phi: number;
  readonly may_have_misses: boolean;
  readonly fields: readonly { readonly name: string; readonly is_integer: boolean; readonly is_text: boolean }[];
}
export interface E57Header {
  readonly scans: readonly E57HeaderScan[];
  /** Null if the file declares no coordinate system. */
  readonly crs: LasCrs | null;
  readonly image_count: number;
  readonly warnings: readonly string[];
}
export interface E57Sample {
  /** File frame; null for a miss. */
  readonly positions: readonly (readonly [number, number, number] | null)[];
  /** Values per field of the scan, in file order; none for text fields. */
  readonly values: readonly (readonly number[])[];
}
export interface PtxHead {
  readonly scans: readonly {
    readonly n_theta: number;
    readonly n_phi: number;
    /** File frame; null if the matrix overflows. */
    readonly origin: readonly [number, number, number] | null;
    readonly has_empty_cells: boolean;
  }[];
  /** True if the search reached the end of the file. */
  readonly complete: boolean;
  /** First cells of the first scan; `position` in the file frame, null for an empty cell. */
  readonly sample: readonly {
    readonly position: readonly [number, number, number] | null;
    readonly words: readonly string[];
  }[];
  readonly warnings: readonly string[];
}

export interface RecordReadParams {
  readonly frame: PositionFrame;
  readonly first_row: number;
  /** null = all */
  readonly row_count: number | null;
}
export interface PlyProperty {
  readonly name: string;
  /** Type of the value, or of the values of a list. */
  readonly dtype: DType;
  readonly is_list: boolean;
}
export interface PlyHeader {
  readonly format: string;
  /** Lines of the header. */
  readonly line_count: number;
  readonly elements: readonly {
    readonly name: string;
    readonly count: number;
    readonly properties: readonly PlyProperty[];
  }[];
  readonly comments: readonly string[];
  /** Raw values of the first vertices; empty if lists of other elements precede them. */
  readonly sample_rows: readonly (readonly string[])[];
}
export interface PcdHeader {
  readonly version: string;
  readonly data: "ascii" | "binary" | "binary_compressed";
  readonly width: number;
  readonly height: number;
  readonly points: number;
  readonly fields: readonly { readonly name: string; readonly dtype: DType; readonly count: number }[];
  /** Sensor position, file units; null without a VIEWPOINT line. */
  readonly viewpoint: readonly [number, number, number] | null;
  readonly warnings: readonly string[];
}
export interface PcdSample {
  /** Columns of a point: fields with COUNT > 1 and packed colours are split, padding is left out. */
  readonly columns: readonly { readonly name: string; readonly dtype: DType }[];
  readonly rows: readonly (readonly string[])[];
}
export interface PcdCloud extends CloudTable {
  /** The VIEWPOINT is the default 0 0 0 1 0 0 0, which states no position. */
  readonly default_viewpoint: boolean;
  /** Sensor position, stored frame, metres; null without a VIEWPOINT line. */
  readonly scan_origin: readonly [number, number, number] | null;
}

/** Reads LAS points into columns; see cpp/io/las.h for their names. */
export const readLas = (path: string, params: LasReadParams) => addon.readLas(path, params);
/** Reads header, records and CRS of LAS and LAZ. */
export const readLasHeader = (path: string) => addon.readLasHeader(path);
/** Reads a text table into columns. */
export const readText = (path: string, params: TextReadParams) => addon.readText(path, params);
/** Reads the first lines of a text file. */
export const sampleText = (path: string, maxLines: number) => addon.sampleText(path, maxLines);
/** Reads PLY vertices into columns. */
export const readPly = (path: string, params: RecordReadParams) => addon.readPly(path, params);
export const readPlyHeader = (path: string, maxRows: number) => addon.readPlyHeader(path, maxRows);
/** Reads PCD points into columns. */
export const readPcd = (path: string, params: RecordReadParams) => addon.readPcd(path, params);
export const readPcdHeader = (path: string) => addon.readPcdHeader(path);
/** Reads the first points of a PCD file as text. */
export const readPcdSample = (path: string, maxRows: number) => addon.readPcdSample(path, maxRows);
/** Reads E57 scans into columns; see cpp/io/e57.h for their names. */
export const readE57 = (path: string, params: ScanReadParams) => addon.readE57(path, params);
export const readE57Header = (path: string) => addon.readE57Header(path);
/** Reads the first points of one E57 scan. */
export const readE57Sample = (path: string, scanIndex: number, maxRows: number) =>
  addon.readE57Sample(path, scanIndex, maxRows);
/** Reads PTX scans into columns. */
export const readPtx = (path: string, params: ScanReadParams) => addon.readPtx(path, params);
/** Finds the scans in the first `maxBytes` of a PTX file, and reads its first cells. */
export const readPtxHead = (path: string, maxRows: number, maxBytes: number) =>
  addon.readPtxHead(path, maxRows, maxBytes);
