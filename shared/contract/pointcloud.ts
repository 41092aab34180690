import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { SourceUnits } from "./cloud-session/create.ts";
import { ColumnPlan } from "./column-plan.ts";
import { checkedByService } from "./documented.ts";
import { ErrorText, Warnings } from "./fields.ts";
import { Box, LooseTriple, Point, PointList } from "./geometry.ts";
import { PointSource } from "./point-source.ts";

const MAX_PREVIEW_ROWS = 100;
const DEFAULT_PREVIEW_ROWS = 20;

export const PreviewRequest = z
  .object({
    file_path: z.string().describe("absolute path; ~ is the home folder"),
    ascii_format: z.string().nullish().default(null).describe("column legend, space separated; overrides detection"),
    max_rows: z
      .int()
      .nullish()
      .transform((n) => Math.min(MAX_PREVIEW_ROWS, Math.max(1, n || DEFAULT_PREVIEW_ROWS)))
      .describe(`clamped to 1..${MAX_PREVIEW_ROWS}; 0, null or absent = ${DEFAULT_PREVIEW_ROWS}`),
  })
  .meta({ id: "PreviewRequest" });
export type PreviewRequest = z.infer<typeof PreviewRequest>;

export const PreviewColumn = z
  .object({
    index: z.int().describe("0-based source column"),
    header_name: z.string().nullable().describe("name in the file; null without a header"),
    detected_role: z.string().describe("role of the column plan, extra or skip"),
    suggested_label: z.string().describe("display name that an import would give"),
    suggested_slug: z.string().describe("stored name that an import would give"),
    type_hint: z.enum(["integer", "float", "categorical", "empty"]).describe("what the sampled values look like"),
    remappable: z.boolean().describe("true for text files only"),
  })
  .meta({ id: "PreviewColumn", description: "one column of a file" });

/** The system that a file says its coordinates are in. */
export const PreviewCrs = z
  .object({
    epsg: z.int().nullable().describe("EPSG code of the horizontal system; null = not stated as a code"),
    name: z.string().nullable().describe("name of the system; null = not stated"),
    is_geographic: z.boolean().describe("x and y are angles in degrees"),
    unit_name: z.string().nullable().describe("name of the horizontal unit; null = not stated"),
    unit_m: z.number().nullable().describe("metres per horizontal unit; null when unknown or geographic"),
    vertical_epsg: z.int().nullable().describe("EPSG code of the vertical system; null = not stated"),
    vertical_unit_m: z.number().nullable().describe("metres per vertical unit; null = not stated"),
  })
  .meta({ id: "PreviewCrs", description: "the system that a file says its coordinates are in" });

/** Most scans that a preview or an import lists one by one. */
export const MAX_LISTED_SCANS = 1000;

/** One scanner position as the file declares it; nothing is read of its points. */
export const PreviewScan = z
  .object({
    scan_index: z.int().describe("scan_index of an import that takes this one alone"),
    name: z.string().nullable().describe("as the file names it; null = no name"),
    point_count: z.number().describe("rows as declared, misses included"),
    n_theta: z.number().describe("rows of the raster (zenith); 0 = not stated"),
    n_phi: z.number().describe("columns of the raster (azimuth); 0 = not stated"),
    origin: Point.nullable().describe("scanner position, file units and frame; null without a pose"),
    rotation: z
      .tuple([z.number(), z.number(), z.number(), z.number()])
      .nullable()
      .describe("scanner to file frame, unit quaternion x y z w; null where the file gives no quaternion"),
    has_misses: z.boolean().describe("E57: the scan can mark cells as misses; PTX: an empty cell was seen"),
    bounds: Box.nullable().describe("file units and frame: box around the declared one after the pose"),
  })
  .meta({ id: "PreviewScan", description: "one scanner position as the file declares it" });

export const PreviewResponse = z
  .object({
    kind: z.string().describe("ascii, ply, pcd, las, e57, ptx; on failure the extension"),
    delimiter: z.enum(["comma", "whitespace", "tab", "semicolon"]).nullable().describe("null for non-text files"),
    has_header: z.boolean().describe("the file names its columns"),
    columns: z.array(PreviewColumn).describe("columns of the file, in order"),
    sample_rows: z
      .array(z.array(z.string()))
      .describe(
        "first rows as the file has them, value i belongs to column index i; x, y, z of a scan with a pose are moved by it and empty for a miss",
      ),
    warning: z.string().nullable().describe("what is wrong or doubtful, a sentence for the user; null = nothing"),
    suggested_shift: Point.nullable().describe(
      "file units; floor of the minimum when some |minimum| > 1e4. The minimum is the header's; without one that of the first 200,000 rows (text), the sampled rows (ply, pcd) or these and the scanner positions (e57, ptx)",
    ),
    point_count: z.number().nullish().describe("rows as declared, misses included; null = only reading would tell"),
    bounds: Box.nullish().describe("file units, as declared; null where the file declares none"),
    crs: PreviewCrs.nullish().describe("coordinate system that the file states; null = none"),
    detected_units: SourceUnits.nullish().describe("a source_units value of the import; null = unknown"),
    units_certain: z.boolean().optional().describe("true: the file or its format says so; false: a guess or unknown"),
    scans: z
      .array(PreviewScan)
      .optional()
      .describe(`e57 and ptx: the scanner positions, at most ${MAX_LISTED_SCANS}; other formats: absent`),
    scan_count: z.int().optional().describe("scans found"),
    scan_list_complete: z
      .boolean()
      .optional()
      .describe(
        "false: there may be more than scan_count (a large PTX is walked up to 256 MiB), or not all are listed",
      ),
  })
  .meta({ id: "PreviewResponse" });
export type PreviewResponse = z.infer<typeof PreviewResponse>;

/** Answered with a PHX1 stream (shared/wire/phx1.ts). */
export const ImportByPathRequest = z
  .object({
    file_path: z.string().describe("absolute path; ~ is the home folder"),
    ascii_format: z
      .string()
      .nullish()
      .default(null)
      .describe("column legend of a text file, space separated; overrides detection"),
    column_plan: ColumnPlan.nullish().default(null).describe("text files only; overrides legend, header and detection"),
    world_shift: LooseTriple.nullish()
      .default(null)
      .describe("(3) file units, subtracted from every point before float32; other lengths: 400"),
  })
  .meta({ id: "ImportByPathRequest" });
export type ImportByPathRequest = z.infer<typeof ImportByPathRequest>;

/**
 * What each holds. las, laz, pcd: every column, or those of `columns`. txt, csv, asc (laid out as txt): positions, colours,
 * intensity and the columns named; ply without intensity. pts: x y z intensity r g b, intensity in 12 bits. ptx: the same
 * but 16 bits, in a raster of row_index and column_index, misses as empty cells, a scan for every scan_index. xyz, obj:
 * positions. Numbers as text have six decimals; colours have 8 bits outside las and laz.
 */
export const EXPORT_FORMATS = ["las", "laz", "xyz", "txt", "csv", "ply", "obj", "asc", "pts", "ptx", "pcd"] as const;

export const ExportRequest = z
  .object({
    points: PointList.nullish().describe("(n, 3) metres, inline cloud"),
    colors: PointList.nullish().describe("(n, 3) 0..1, one per point"),
    source: PointSource.nullish().default(null).describe("takes precedence over points"),
    format: checkedByService(z.string(), z.enum(EXPORT_FORMATS))
      .default("laz")
      .describe("file format; any case; unknown ones: 400"),
    filename: z.string().nullish().default(null).describe("default pointcloud.<ext>; a wrong extension is replaced"),
    dest_path: z
      .string()
      .nullish()
      .default(null)
      .describe("absolute file path; without it the bytes come back in data"),
    columns: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe("ordered scalar slugs; absent ones are dropped; xyz, obj, pts and ptx have fixed columns"),
  })
  .meta({ id: "ExportRequest" });
export type ExportRequest = z.infer<typeof ExportRequest>;

/** JSON tail of an export. */
export const ExportTail = z
  .object({
    success: z.boolean().describe("false: nothing was written, `error` holds the reason"),
    data: z.string().nullable().describe("the file, base64; null with dest_path"),
    filename: z.string().describe("base name, empty on failure"),
    point_count: z.int().describe("points in the file"),
    has_colors: z.boolean().describe("the file has colours"),
    format: z.string().describe("format of the file, lower case; a failure repeats the request's"),
    error: ErrorText,
    code: z.enum(errorCodes).optional().describe("name of the failure"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExportTail" });
export type ExportTail = z.infer<typeof ExportTail>;

/** The form of an upload. The part carries the file's name, whose extension tells the kind. */
export const ImportUpload = z
  .object({
    file: z.string().meta({
      format: "binary",
      contentMediaType: "application/octet-stream",
      description: "a LAS or LAZ file; the file name ends in .las or .laz",
    }),
  })
  .meta({ id: "ImportUpload", description: "multipart form with one part" });

/** A PHX1 stream as the documentation shows it. */
export const PointStream = z
  .object({
    point_count: z.int().describe("points, misses left out"),
    positions: z.array(z.number()).describe("f32 (3 point_count) x, y, z, file units less world_shift"),
    colors: z.array(z.number()).optional().describe("f32 (3 point_count) r, g, b 0..1; absent without colours"),
    intensity: z.array(z.number()).optional().describe("f32 (point_count) as in the file; absent without intensity"),
  })
  .meta({ id: "PointStream", description: "a PHX1 point stream: its header and its arrays" });
