import { z } from "zod";
import { ColumnPlan } from "./column-plan.ts";
import { LooseTriple, Point, PointList } from "./geometry.ts";
import { PointSource } from "./point-source.ts";

const MAX_PREVIEW_ROWS = 100;
const DEFAULT_PREVIEW_ROWS = 20;

export const PreviewRequest = z.object({
  file_path: z.string().describe("absolute path; ~ is the home folder"),
  ascii_format: z.string().nullish().default(null).describe("column legend, space separated; overrides detection"),
  max_rows: z
    .int()
    .nullish()
    .transform((n) => Math.min(MAX_PREVIEW_ROWS, Math.max(1, n || DEFAULT_PREVIEW_ROWS)))
    .describe(`clamped to 1..${MAX_PREVIEW_ROWS}; 0, null or absent = ${DEFAULT_PREVIEW_ROWS}`),
});
export type PreviewRequest = z.infer<typeof PreviewRequest>;

export const PreviewColumn = z.object({
  index: z.int().describe("0-based source column"),
  header_name: z.string().nullable(),
  detected_role: z.string().describe("role of the column plan, extra or skip"),
  suggested_label: z.string(),
  suggested_slug: z.string(),
  type_hint: z.enum(["integer", "float", "categorical", "empty"]),
  remappable: z.boolean().describe("true for text files only"),
});

export const PreviewResponse = z.object({
  kind: z.string().describe("ascii, ply, pcd, las, e57; on failure the extension"),
  delimiter: z.enum(["comma", "whitespace", "tab", "semicolon"]).nullable().describe("null for non-text files"),
  has_header: z.boolean(),
  columns: z.array(PreviewColumn),
  sample_rows: z.array(z.array(z.string())).describe("raw tokens"),
  warning: z.string().nullable(),
  suggested_shift: Point.nullable().describe("file units; floor of the minimum when some |minimum| > 1e4"),
});
export type PreviewResponse = z.infer<typeof PreviewResponse>;

/** Answered with a PHX1 stream (shared/wire/phx1.ts). */
export const ImportByPathRequest = z.object({
  file_path: z.string().describe("absolute path; ~ is the home folder"),
  ascii_format: z.string().nullish().default(null),
  column_plan: ColumnPlan.nullish().default(null).describe("text files only; overrides legend, header and detection"),
  world_shift: LooseTriple.nullish()
    .default(null)
    .describe("(3) file units, subtracted from every point before float32; other lengths: 400"),
});
export type ImportByPathRequest = z.infer<typeof ImportByPathRequest>;

/**
 * What each holds. las, laz, pcd: every column, or those of `columns`. txt, csv, asc (laid out as txt): positions, colours,
 * intensity and the columns named; ply without intensity. pts: x y z intensity r g b, intensity in 12 bits. ptx: the same
 * but 16 bits, in a raster of row_index and column_index, misses as empty cells, a scan for every scan_index. xyz, obj:
 * positions. Numbers as text have six decimals; colours have 8 bits outside las and laz.
 */
export const EXPORT_FORMATS = ["las", "laz", "xyz", "txt", "csv", "ply", "obj", "asc", "pts", "ptx", "pcd"] as const;

export const ExportRequest = z.object({
  points: PointList.nullish().describe("(n, 3) metres, inline cloud"),
  colors: PointList.nullish().describe("(n, 3) 0..1, one per point"),
  source: PointSource.nullish().default(null).describe("takes precedence over points"),
  format: z
    .string()
    .default("laz")
    .describe(`${EXPORT_FORMATS.join(", ")}; any case; unknown ones: 400`),
  filename: z.string().nullish().default(null).describe("default pointcloud.<ext>; a wrong extension is replaced"),
  dest_path: z.string().nullish().default(null).describe("absolute file path; without it the bytes come back in data"),
  columns: z
    .array(z.string())
    .nullish()
    .default(null)
    .describe("ordered scalar slugs; absent ones are dropped; xyz, obj, pts and ptx have fixed columns"),
});
export type ExportRequest = z.infer<typeof ExportRequest>;

/** JSON tail of an export. */
export const ExportTail = z.object({
  success: z.boolean(),
  data: z.string().nullable().describe("base64; null with dest_path"),
  filename: z.string().describe("base name, empty on failure"),
  point_count: z.int(),
  has_colors: z.boolean(),
  format: z.string(),
  error: z.string().nullable(),
  code: z.string().optional().describe("name of the failure"),
  warnings: z.array(z.string()).optional(),
});
export type ExportTail = z.infer<typeof ExportTail>;
