import { EXPORT_FORMATS } from "../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../shared/errors.ts";

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Which of a session's scalar columns a format writes. */
type Scalars =
  /** all, or only those the request lists */
  | "all"
  /** only those the request lists */
  | "asked"
  /** those that define the raster */
  | "raster"
  | "none";

interface FormatTraits {
  readonly colors: boolean;
  readonly intensity: boolean;
  /** Clock, beam origins and scalars. */
  readonly scalars: Scalars;
  /** For messages: the columns of a format that cannot store all of them. */
  readonly holds?: string;
}

const TABLE: FormatTraits = { colors: true, intensity: true, scalars: "asked" };
const ALL: FormatTraits = { colors: true, intensity: true, scalars: "all" };
const POSITIONS: FormatTraits = { colors: false, intensity: false, scalars: "none", holds: "positions only" };
const TRAITS: Readonly<Record<ExportFormat, FormatTraits>> = {
  las: ALL,
  laz: ALL,
  pcd: ALL,
  e57: ALL,
  txt: TABLE,
  csv: TABLE,
  asc: TABLE,
  ply: { ...TABLE, intensity: false },
  pts: { colors: true, intensity: true, scalars: "none", holds: "positions, intensity and colours" },
  ptx: { colors: true, intensity: true, scalars: "raster", holds: "positions, intensity and colours in a raster" },
  xyz: POSITIONS,
  obj: POSITIONS,
};
/** Columns that a PTX file expresses by the position of a point in its raster instead of storing them. */
export const RASTER_COLUMNS: readonly string[] = ["row_index", "column_index", "target_index", "is_miss", "scan_index"];

export const formatTraits = (format: ExportFormat): FormatTraits => TRAITS[format];
/** Whether a file states the coordinate system of its points. */
export const statesSystem = (format: ExportFormat): boolean => isLas(format) || format === "e57";

export const isLas = (format: ExportFormat): boolean => format === "las" || format === "laz";

/** Errors: invalid_argument, listing the supported formats. */
export function exportFormat(text: string): ExportFormat {
  const format = EXPORT_FORMATS.find((name) => name === text.toLowerCase());
  if (format) return format;
  throw new AppError("invalid_argument", `Unknown format "${text}"; use one of ${EXPORT_FORMATS.join(", ")}`);
}

/**
 * Refuses PTX, which stores a raster, for a cloud without one. `slugs` are the cloud's scalar columns, null for inline
 * points. Errors: invalid_argument.
 */
export function checkRaster(format: ExportFormat, slugs: readonly string[] | null): void {
  if (format !== "ptx") return;
  if (slugs === null) {
    throw new AppError(
      "invalid_argument",
      "ptx needs a raster, and inline points have none; export a session with the columns row_index and column_index, or choose pts, laz or pcd",
    );
  }
  const missing = ["row_index", "column_index"].filter((slug) => !slugs.includes(slug));
  if (missing.length === 0) return;
  throw new AppError(
    "invalid_argument",
    `ptx needs a raster, and the session has no ${missing.join(" and no ")}; E57 and PTX files contain them, and a column_plan assigns them in a text file. Without a raster, choose pts, laz or pcd`,
  );
}
