import { z } from "zod";
import { SourceUnits } from "./cloud-session/create.ts";
import { ColumnPlan } from "./column-plan.ts";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, OverwriteFile, Warnings } from "./fields.ts";
import { Box, LooseTriple, Point, PointList } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";

const MAX_PREVIEW_ROWS = 100;
const DEFAULT_PREVIEW_ROWS = 20;

export const PreviewRequest = z
  .object({
    file_path: z.string().describe("absolute path of the file; ~ is the home folder"),
    ascii_format: z
      .string()
      .nullish()
      .default(null)
      .describe("column names of a text file, separated by spaces; overrides detection"),
    max_rows: z
      .int()
      .nullish()
      .transform((n) => Math.min(MAX_PREVIEW_ROWS, Math.max(1, n || DEFAULT_PREVIEW_ROWS)))
      .describe(
        `number of rows to show, clamped to 1..${MAX_PREVIEW_ROWS}; 0, null or absent = ${DEFAULT_PREVIEW_ROWS}`,
      ),
  })
  .meta({ id: "PreviewRequest" });
export type PreviewRequest = z.infer<typeof PreviewRequest>;

export const PreviewColumn = z
  .object({
    index: z.int().describe("index of the source column, from 0"),
    header_name: z.string().nullable().describe("name in the file; null if the file has no header"),
    detected_role: z.string().describe("detected role in a column plan: one of its roles, extra or skip"),
    suggested_label: z.string().describe("display name that an import would use"),
    suggested_slug: z.string().describe("stored name that an import would use"),
    type_hint: z.enum(["integer", "float", "categorical", "empty"]).describe("kind of the sampled values"),
    remappable: z.boolean().describe("true: a column plan can change the role; text files only"),
  })
  .meta({ id: "PreviewColumn", description: "a column of a file" });

/** Coordinate system that a file states. */
export const PreviewCrs = z
  .object({
    epsg: z.int().nullable().describe("EPSG code of the horizontal system; null = not stated, or not stated as a code"),
    name: z.string().nullable().describe("name of the system; null = not stated"),
    is_geographic: z.boolean().describe("true: x and y are angles in degrees"),
    unit_name: z.string().nullable().describe("name of the horizontal unit; null = not stated"),
    unit_m: z.number().nullable().describe("metres per horizontal unit; null = unknown or geographic"),
    vertical_epsg: z.int().nullable().describe("EPSG code of the vertical system; null = not stated"),
    vertical_unit_m: z.number().nullable().describe("metres per vertical unit; null = not stated"),
  })
  .meta({ id: "PreviewCrs", description: "coordinate system that a file states" });

/** Maximum number of scans that a preview or an import lists. */
export const MAX_LISTED_SCANS = 1000;

/** One scanner position as declared in the file, without reading its points. */
export const PreviewScan = z
  .object({
    scan_index: z.int().describe("index of the scan; pass it as scan_index to import this scan only"),
    name: z.string().nullable().describe("name in the file; null = no name"),
    point_count: z.number().describe("declared number of rows, including misses"),
    n_theta: z.number().describe("rows of the scan raster (zenith); 0 = not stated"),
    n_phi: z.number().describe("columns of the scan raster (azimuth); 0 = not stated"),
    origin: Point.nullable().describe(
      "scanner position in the units and frame of the file; without a pose the zero that spherical coordinates and misses are measured from; null if it is not known",
    ),
    rotation: z
      .tuple([z.number(), z.number(), z.number(), z.number()])
      .nullable()
      .describe(
        "rotation from scanner to file frame, unit quaternion (x, y, z, w); null if the file states no quaternion",
      ),
    has_misses: z.boolean().describe("E57: the scan has a field that can mark misses; PTX: an empty cell was found"),
    bounds: Box.nullable().describe("declared bounds after applying the pose, in the units and frame of the file"),
  })
  .meta({ id: "PreviewScan", description: "one scanner position as declared in the file" });

export const PreviewResponse = z
  .object({
    kind: z.string().describe("ascii, ply, pcd, las, e57 or ptx; on failure the file extension"),
    delimiter: z
      .enum(["comma", "whitespace", "tab", "semicolon"])
      .nullable()
      .describe("separator of a text file; null for other files"),
    has_header: z.boolean().describe("true: the file names its columns"),
    columns: z.array(PreviewColumn).describe("columns of the file, in order"),
    sample_rows: z
      .array(z.array(z.string()))
      .describe(
        "first rows as text, value i belongs to the column with index i; in a scan with a pose, x, y, z have the pose applied and are empty for a miss",
      ),
    warning: z.string().nullable().describe("problem or doubt about the file, a sentence for the user; null = none"),
    suggested_shift: Point.nullable().describe(
      "suggested world shift, file units: floor of the minimum coordinates if any of them exceeds 1e4 in magnitude; null = none needed. The minimum is taken from the header, otherwise from the first 200,000 rows (text), the sampled rows (ply, pcd), or the sampled rows and scanner positions (e57, ptx)",
    ),
    point_count: z
      .number()
      .nullish()
      .describe("declared number of rows, including misses; null = unknown until the file is read"),
    bounds: Box.nullish().describe("declared bounds, file units; null = none declared"),
    crs: PreviewCrs.nullish().describe("coordinate system stated in the file; null = none"),
    detected_units: SourceUnits.nullish().describe("unit of the coordinates, a value for source_units; null = unknown"),
    units_certain: z
      .boolean()
      .optional()
      .describe("true: the file or its format states the unit; false: it is guessed or unknown"),
    scans: z
      .array(PreviewScan)
      .optional()
      .describe(`scanner positions of an e57 or ptx file, at most ${MAX_LISTED_SCANS}; absent for other formats`),
    scan_count: z.int().optional().describe("number of scans found"),
    scan_list_complete: z
      .boolean()
      .optional()
      .describe(
        "false: the list is incomplete, or the file may contain more than scan_count scans (a PTX file is searched up to 256 MiB)",
      ),
  })
  .meta({ id: "PreviewResponse" });
export type PreviewResponse = z.infer<typeof PreviewResponse>;

/** Request for a PHX1 stream (shared/wire/phx1.ts). */
export const ImportByPathRequest = z
  .object({
    file_path: z.string().describe("absolute path of the file; ~ is the home folder"),
    ascii_format: z
      .string()
      .nullish()
      .default(null)
      .describe("column names of a text file, separated by spaces; overrides detection"),
    column_plan: ColumnPlan.nullish()
      .default(null)
      .describe("column layout, text files only; overrides ascii_format, header and detection"),
    world_shift: LooseTriple.nullish()
      .default(null)
      .describe("(3) file units, subtracted from every point before conversion to float32; any other length: 400"),
  })
  .meta({ id: "ImportByPathRequest" });
export type ImportByPathRequest = z.infer<typeof ImportByPathRequest>;

/**
 * Contents of each format. las, laz, pcd: all columns, or those in `columns`. txt, csv, asc (same layout as txt):
 * positions, colours, intensity and `columns`. ply: the same without intensity. pts: x y z intensity r g b, intensity
 * with 12 bits. ptx: the same with 16 bits, as a raster by row_index and column_index with misses as empty cells, and
 * one scan per scan_index. e57: all columns, or those in `columns`; one scan per scan_index with its position as
 * pose, misses as invalid points with their direction. xyz, obj: positions only. Text has six decimals, and four in the
 * intensity of txt, csv and asc; warnings name columns in which that changes a value. Coordinates of las and laz have the
 * steps of a LAS source; else 1 mm, or 0.1 or 0.01 mm if all of an axis are multiples of that; else a tenth of the
 * spacing of the points if that is finer than 1 mm. A warning says how far points move where the range leaves no such
 * step. Colours have 16 bits in las and laz, 8 elsewhere. target_index that counts from 0 or marks misses is numbered again for the fields
 * return_number and number_of_returns of las and laz (misses: 1 of 1), and stays an extra dimension.
 */
export const EXPORT_FORMATS = [
  "las",
  "laz",
  "xyz",
  "txt",
  "csv",
  "ply",
  "obj",
  "asc",
  "pts",
  "ptx",
  "pcd",
  "e57",
] as const;

const ExportFields = z
  .object({
    points: PointList.nullish().describe("(n, 3) inline points, metres"),
    colors: PointList.nullish().describe("(n, 3) r, g, b of each inline point, 0..1"),
    source: PointSource.nullish().default(null).describe("points of a session; takes precedence over points"),
    format: checkedByService(z.string(), z.enum(EXPORT_FORMATS))
      .default("laz")
      .describe("file format, in any case; unknown formats: 400"),
    filename: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "file name in the response if there is no dest_path; null = pointcloud.<ext>; a wrong extension is replaced",
      ),
    dest_path: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "absolute path of the file to write, with the extension of the format, outside the service's own folders; null = return the file in data",
      ),
    overwrite: OverwriteFile,
    columns: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe(
        "names of the scalar columns to write, in order; unknown names are skipped, with a warning; null = the default of the format; ignored for xyz, obj, pts and ptx, whose columns are fixed",
      ),
    system_of: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "id of an open session whose coordinate system a LAS, LAZ or E57 file states, such as the cloud that the source was registered onto; none = the file states none; null = the system of the source; other formats state none",
      ),
  })
  .meta({ id: "ExportRequest" });
export const ExportRequest = withIdleKeys(
  ExportFields,
  idleByAll(
    idleUnless(({ source }) => !isSent(source), "points", "colors"),
    idleUnless(({ source }) => isSent(source), "columns", "system_of"),
    idleUnless(({ format }) => /^(la[sz]|e57)$/i.test(String(format)), "system_of"),
    idleUnless(({ dest_path }) => !isSent(dest_path) || dest_path === "", "filename"),
  ),
);
export type ExportRequest = z.infer<typeof ExportRequest>;

/** JSON tail of an export. */
export const ExportTail = z
  .object({
    success: z.boolean().describe("false: nothing was written; the reason is in `error`"),
    data: z.string().nullable().describe("contents of the file, base64; null with dest_path"),
    filename: z.string().describe("file name without folder; empty on failure"),
    point_count: z.int().describe("number of points in the file"),
    has_colors: z.boolean().describe("true: the file contains colours"),
    format: z.string().describe("format of the file, lower case; on failure the format of the request"),
    error: ErrorText,
    code: FailureCode,
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExportTail" });
export type ExportTail = z.infer<typeof ExportTail>;

/** Form of an upload. The file name of the part determines the format by its extension. */
export const ImportUpload = z
  .object({
    file: z.string().meta({
      format: "binary",
      contentMediaType: "application/octet-stream",
      description: "LAS or LAZ file; its file name must end in .las or .laz",
    }),
  })
  .meta({ id: "ImportUpload", description: "multipart form with one part" });

/** Form in which the documentation shows the PHX1 stream. */
export const PointStream = z
  .object({
    point_count: z.int().describe("number of points, without misses"),
    positions: z
      .array(z.number())
      .describe("f32 (3 * point_count) x, y, z of each point, file units, minus world_shift"),
    colors: z
      .array(z.number())
      .optional()
      .describe("f32 (3 * point_count) r, g, b of each point, 0..1; absent if the file has no colours"),
    intensity: z
      .array(z.number())
      .optional()
      .describe("f32 (point_count) intensity as in the file; absent if the file has none"),
  })
  .meta({ id: "PointStream", description: "PHX1 point stream: header and arrays" });
