import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, OverwriteFile, Warnings } from "./fields.ts";
import { BulkNumbers, LooseTriple, PointList } from "./geometry.ts";
import { idleByAll, idleUnless, withIdleKeys } from "./idle-keys.ts";
import { EXPORT_FORMATS } from "./pointcloud.ts";
import { VoxelGrid } from "./voxel-grid.ts";

const count = (what: string) =>
  z.int().min(1).max(100_000_000).nullish().default(null).describe(`number of ${what} of the raster; null = estimated`);
const degrees = (what: string, otherwise: number) => z.number().default(otherwise).describe(`${what}, degrees`);

/** How the scanner looked: only the bundle and PTX need it. */
const Sweep = {
  scan_pattern: z
    .enum(["raster", "spinning_multibeam", "risley_prism"])
    .default("raster")
    .describe("how the beam moved; a bundle cannot hold risley_prism"),
  beam_elevation_angles_deg: z
    .array(z.number().min(-90).max(90))
    .max(4096)
    .nullish()
    .default(null)
    .describe("elevation of each beam of a spinning multibeam scanner, degrees above the horizon"),
  n_theta: count("rows"),
  n_phi: count("columns"),
  theta_min: degrees("smallest zenith angle of the sweep", 0),
  theta_max: degrees("largest zenith angle of the sweep", 180),
  phi_min: degrees("first bearing of the sweep, clockwise from +y", 0),
  phi_max: degrees("last bearing of the sweep, clockwise from +y", 360),
  beam_exit_diameter: z.number().min(0).nullish().default(null).describe("diameter of the beam at the scanner, metres"),
  beam_divergence: z
    .number()
    .min(0)
    .nullish()
    .default(null)
    .describe("divergence of the beam, mrad: half angle at 1/e2, as in the settings of a scan"),
  scan_azimuth_offset: z.number().nullish().default(null).describe("heading of the scanner, degrees clockwise from +y"),
  tilt_roll_deg: degrees("roll of the scanner, applied first", 0),
  tilt_pitch_deg: degrees("pitch of the scanner", 0),
  scanner_model: z
    .string()
    .max(200)
    .nullish()
    .default(null)
    .describe("id of the instrument; null and generic: unknown"),
  return_mode: z.enum(["single", "multi"]).nullish().default(null).describe("returns recorded per pulse"),
  return_selection: z
    .string()
    .max(50)
    .nullish()
    .default(null)
    .describe("which return a single-return scanner records: strongest, first, last"),
  max_returns: z.int().min(1).nullish().default(null).describe("most returns of a pulse of a multi-return scanner"),
};

export const ScanExportEntry = z
  .object({
    origin: LooseTriple.describe(
      "position of the scanner, metres, in the frame of the written points; any length other than 3: the export fails",
    ),
    label: z.string().max(1000).nullish().default(null).describe("name of the object, for file names and progress"),
    session_id: z.string().nullish().default(null).describe("open session whose points are written; preferred"),
    points: PointList.nullish().default(null).describe("(n, 3) inline points, metres; used without a session_id"),
    scalar_columns: z
      .record(z.string().max(200), BulkNumbers)
      .nullish()
      .default(null)
      .describe("(n) values of each inline point by column; a column of another length is left out with a warning"),
    file_path: z
      .string()
      .nullish()
      .default(null)
      .describe("file to read; used without a session_id and points, and only with allow_file_source"),
    ascii_format: z.string().nullish().default(null).describe("column names of a text file, separated by spaces"),
    allow_file_source: z.boolean().default(false).describe("true: file_path may be read; it knows no edits"),
    translation: LooseTriple.nullish().default(null).describe("(3) metres, added to every point"),
    columns: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe(
        "scalar columns to write, in order; unknown names are skipped, with a warning; null = is_miss, timestamp, target_index, target_count where present",
      ),
    ...Sweep,
  })
  .meta({ id: "ScanExportEntry" });
export type ScanExportEntry = z.infer<typeof ScanExportEntry>;

const ScanExportFields = z
  .object({
    scans: z.array(ScanExportEntry).max(10_000).describe("objects to export"),
    base_name: z
      .string()
      .nullish()
      .default(null)
      .describe("common name of the files, without folder and extension; empty = scans"),
    base_position: z
      .enum(["prefix", "suffix"])
      .default("prefix")
      .describe("base_name stands before or after the label in the names of data files"),
    include_misses: z.boolean().default(true).describe("false: leave out misses (sky points) and the column is_miss"),
    write_xml: z
      .boolean()
      .default(true)
      .describe("true: a bundle, an XML file and an xyz file per scan. false: one file per object in data_format"),
    data_format: checkedByService(z.string(), z.enum(EXPORT_FORMATS))
      .default("xyz")
      .describe("format of the data files if write_xml is false; an unknown format: the export fails"),
    grids: z.array(VoxelGrid).max(10_000).nullish().default(null).describe("voxel grids, written to the XML only"),
    dest_dir: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "absolute path of an existing folder for the files; required for more than one scan; null = contents in the answer",
      ),
    overwrite: OverwriteFile,
  })
  .meta({ id: "ScanExportRequest" });
export const ScanExportRequest = withIdleKeys(
  ScanExportFields,
  idleByAll(
    idleUnless(({ write_xml }) => write_xml === false, "data_format"),
    idleUnless(({ write_xml }) => write_xml !== false, "grids"),
  ),
);
export type ScanExportRequest = z.infer<typeof ScanExportRequest>;

const cells = (what: string) => z.int().describe(`number of ${what}`);
const RasterSummary = z
  .object({
    rows: cells("rows of the raster"),
    cols: cells("columns of the raster"),
    cells: cells("cells of the raster"),
    filled: cells("cells with a point"),
    collapsed: cells("points left out because another point has their cell"),
    unplaced: cells("points outside the raster"),
    source: z.enum(["columns", "sweep"]).describe("row_index and column_index, or the angles of the sweep"),
  })
  .meta({ id: "ScanExportRaster", description: "raster of a PTX file" });

export const ScanExportFile = z
  .object({
    name: z.string().describe("file name without folder"),
    data: z.string().nullable().describe("contents, base64; null with dest_dir"),
    is_xml: z.boolean().describe("true: the description of the bundle"),
    written: z.boolean().describe("true: the file is in dest_dir"),
    bytes: z.int().describe("size of the file, bytes"),
    grid: RasterSummary.optional(),
  })
  .meta({ id: "ScanExportFile" });

/** JSON tail of a scan export. */
export const ScanExportTail = z
  .object({
    success: z.boolean().describe("false: nothing was written; the reason is in `error`"),
    files: z.array(ScanExportFile).describe("the files, data files in the order of the scans, the XML file first"),
    point_count: z.int().describe("number of points in the files"),
    scan_count: z.int().describe("number of objects exported"),
    error: ErrorText,
    code: FailureCode,
    warnings: Warnings.optional(),
  })
  .meta({ id: "ScanExportTail" });
export type ScanExportTail = z.infer<typeof ScanExportTail>;
