import { addon, type NativeColumn } from "./addon.ts";
import type { NativeJob } from "./native-job.ts";

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

export interface LasWriteParams {
  readonly version: "1.2" | "1.4";
  /** LAZ */
  readonly compressed: boolean;
  readonly scale_m: number;
  readonly adjusted_standard_time: boolean;
  /** 0 = unknown */
  readonly epsg: number;
  readonly epsg_is_geographic: boolean;
  /** OGC WKT, "" = none */
  readonly wkt: string;
  readonly system_identifier: string;
  readonly generating_software: string;
  readonly creation_day_of_year: number;
  readonly creation_year: number;
}
export interface WriteResult {
  readonly point_count: number;
  readonly bytes: number;
  readonly warnings: readonly string[];
}
export type TextFormat = "xyz" | "txt" | "csv" | "ply" | "obj";

export interface WritersNative {
  writeLas(view: CloudViewInput, params: LasWriteParams, path: string): NativeJob<WriteResult>;
  writeText(view: CloudViewInput, format: TextFormat, path: string): NativeJob<WriteResult>;
}

/** LAS, streamed in blocks with flat memory. */
export const writeLas = (view: CloudViewInput, params: LasWriteParams, path: string) =>
  addon.writeLas(view, params, path);
/** Text formats, streamed in blocks with flat memory. */
export const writeText = (view: CloudViewInput, format: TextFormat, path: string) =>
  addon.writeText(view, format, path);
