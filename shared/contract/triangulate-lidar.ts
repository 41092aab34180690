import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { DEFAULT_SCAN_ASPECT, DEFAULT_SCAN_LMAX_M, MAX_SCAN_TRIANGLES, MAX_SCANS } from "../limits.ts";
import { Trajectory } from "./cloud-session/create.ts";
import { Warnings } from "./fields.ts";
import { BulkNumbers, LooseTriple, NumberList, Point, PointList } from "./geometry.ts";
import { idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { VoxelGrid } from "./voxel-grid.ts";

const angle = (meaning: string) => z.number().nullish().default(null).describe(meaning);
const lost = "a scan with a file and no session causes a 400: the file is older than every edit";

/** One scan of an angular triangulation. */
const ScanEntryObject = z
  .object({
    origin: LooseTriple.describe(
      "(3) scanner position, metres, true world; any other length: 400. Warnings tell of one that is far from the hits, or that the beams do not come from",
    ),
    session_id: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "open session whose surviving hits are used, in true world coordinates; misses are never used. Beam origins of its hits (beam_origins, scans with positions of their own) more than 1 mm apart: an error in the frame",
      ),
    file_path: z
      .string()
      .nullish()
      .default(null)
      .describe(`source file of the session, for information only; never read; ${lost}`),
    ascii_format: z
      .string()
      .nullish()
      .default(null)
      .describe("column names of that file; not used, as the file is not"),
    allow_file_source: z
      .boolean()
      .default(false)
      .describe("reserved: this service only reads sessions and inline points"),
    points: PointList.nullish()
      .default(null)
      .describe("(n, 3) inline points, metres, true world; used without a session_id"),
    colors: PointList.nullish().default(null).describe("(n, 3) colours of the points; triangulations have no colours"),
    scalar_columns: z
      .record(z.string(), BulkNumbers)
      .nullish()
      .default(null)
      .describe(
        "(n) values per inline point by column name. is_miss marks misses; target_index, target_count and timestamp together mark the returns of a pulse; origin_x, origin_y and origin_z are beam origins, which must be one place; any other length than that of the points: 400",
      ),
    n_theta: z.int().min(1).nullish().default(null).describe("zenith rows of the scan; null = estimated"),
    n_phi: z.int().min(1).nullish().default(null).describe("azimuth columns of the scan; null = estimated"),
    theta_min: angle("smallest zenith angle of the scan, degrees, 0 = straight up; null = that of the request"),
    theta_max: angle("largest zenith angle of the scan, degrees; null = that of the request"),
    phi_min: angle("first bearing of the scan, degrees clockwise from +y; null = that of the request"),
    phi_max: angle("last bearing of the scan, degrees; null = that of the request"),
    return_type: z.enum(["single", "multi"]).default("single").describe("for leaf area only; the columns decide here"),
    beam_exit_diameter: z.number().nullish().default(null).describe("for leaf area only, metres"),
    beam_divergence: z.number().nullish().default(null).describe("for leaf area only, mrad"),
    trajectory: Trajectory.nullish()
      .default(null)
      .describe("poses of a moving scanner; such a scan has no directions from one place: an error in the frame"),
  })
  .meta({ id: "ScanEntry", description: "one scan: its scanner position and the source of its points" });
export const ScanEntry = withIdleKeys(
  ScanEntryObject,
  idleUnless(({ session_id }) => !isSent(session_id), "points", "scalar_columns", "colors"),
);
export type ScanEntry = z.infer<typeof ScanEntry>;

export const ScanTriangulationRequest = z
  .object({
    scans: z
      .array(ScanEntry)
      .describe(`scans, each triangulated on its own; at least 1, at most ${MAX_SCANS}: else 400`),
    lmax: z
      .number()
      .positive()
      .default(DEFAULT_SCAN_LMAX_M)
      .describe("triangles whose longest edge exceeds this are dropped, metres"),
    max_aspect_ratio: z
      .number()
      .min(1)
      .default(DEFAULT_SCAN_ASPECT)
      .describe("triangles whose longest over shortest edge exceeds this are dropped"),
    theta_min: z.number().default(30).describe("smallest zenith angle of scans without their own, degrees"),
    theta_max: z.number().default(130).describe("largest zenith angle of scans without their own, degrees"),
    phi_min: z.number().default(0).describe("first bearing of scans without their own, degrees clockwise from +y"),
    phi_max: z.number().default(360).describe("last bearing of scans without their own, degrees"),
    grid: VoxelGrid.nullish()
      .default(null)
      .describe(
        "only the points inside its cells are triangulated, and the triangles binned into them; null = one cell around all points, and grid_warning",
      ),
    bin_grid: VoxelGrid.nullish()
      .default(null)
      .describe("grid that follows the terrain, used instead of `grid` if that is only its flat envelope; null = grid"),
    world_shift: NumberList.nullish()
      .default(null)
      .describe(
        "[x, y, z], metres: subtracted from every vertex in float64, before it is narrowed to float32; null = none; not three finite numbers: 400",
      ),
  })
  .meta({ id: "ScanTriangulationRequest" });
export type ScanTriangulationRequest = z.infer<typeof ScanTriangulationRequest>;

const count = (meaning: string) => z.int().describe(meaning);

export const TriangleDiagnostics = z
  .object({
    candidates: count("triangles of all scans before the filters; the sum of the other counts"),
    kept: count("candidates that passed every filter"),
    dropped_lmax: count("candidates whose longest edge exceeds lmax"),
    dropped_aspect: count("of the rest, those whose aspect ratio exceeds max_aspect_ratio"),
    dropped_degenerate: count("of the rest, those without area, or with two corners at one place"),
    dropped_separation: count("of the rest, those from a foreground to its background, in scans of several returns"),
  })
  .meta({ id: "TriangleDiagnostics", description: "candidate triangles by the first reason to drop them" });
export type TriangleDiagnostics = z.infer<typeof TriangleDiagnostics>;

const grade = (meaning: string) => z.enum(["High", "Medium", "Low", "n/a"]).describe(meaning);

export const EdgeEstimate = z
  .object({
    lmax: z.number().nullable().describe("suggested lmax, metres; null below 16 positive edges"),
    eta: z.number().describe("separability of short and long edges by Otsu's threshold, 0..1"),
    label: grade("eta: High from 0.7, Medium from 0.5, Low; n/a without lmax"),
    sep_ratio: z
      .number()
      .nullable()
      .describe("median of the long edges over that of the short ones; null if one class is empty"),
    sep_label: grade("sep_ratio: High from 4, Medium from 2, Low; n/a without it"),
    merged: z.boolean().describe("some scan looks like several scanner positions merged into one"),
    merged_message: z.string().nullable().describe("sentence for the user; null = not merged"),
  })
  .meta({ id: "EdgeEstimate", description: "filter suggested by the longest edges of all candidates" });
export type EdgeEstimate = z.infer<typeof EdgeEstimate>;

export const ScanSummary = z
  .object({
    points_used: count("hits that were triangulated: first returns, inside the grid"),
    later_returns: count("hits left out because they are not the first return of their pulse"),
    n_theta: count("zenith rows, given or estimated"),
    n_phi: count("azimuth columns, given or estimated"),
    estimated: z.boolean().describe("n_theta or n_phi was estimated from the number of points and the angles"),
  })
  .meta({ id: "ScanSummary", description: "what was read of one scan" });
export type ScanSummary = z.infer<typeof ScanSummary>;

const common = {
  method_used: z.literal("lidar").describe("lidar: angular triangulation"),
  grid_warning: z.boolean().describe("there was no grid: all points were triangulated"),
  grid_message: z.string().nullable().describe("sentence for the user; null = there was a grid"),
  warnings: Warnings.optional(),
};

/** Meta of the frame. */
export const ScanTriangulationSuccess = z
  .object({
    ...common,
    success: z.literal(true).describe("there is a mesh"),
    error: z.null().describe("null: success"),
    num_triangles: count("number of triangles"),
    num_vertices: count("number of vertices, including those whose triangles the grid or the cap dropped"),
    surface_area: z.number().describe("area of the triangles, square metres"),
    cap_lmax: z.number().describe("longest edge in the frame, metres"),
    cap_aspect: z
      .number()
      .describe(
        `4 if more than ${MAX_SCAN_TRIANGLES} triangles were found: of those with an aspect ratio up to 4 the frame has the ${MAX_SCAN_TRIANGLES} with the shortest longest edges; else 1e9`,
      ),
    candidate_count: count("triangles of all scans before the filters"),
    dropped_outside: count("triangles whose centroid lies in no cell of the grid"),
    estimate: EdgeEstimate,
    diagnostics: TriangleDiagnostics,
    scans: z.array(ScanSummary).describe("what was read of each scan, in the order of the request"),
    world_shift: Point.describe("metres; coordinates of the points = those of the buffers + world_shift"),
  })
  .meta({ id: "ScanTriangulationSuccess", description: "a mesh of the surfaces that scans see" });
export type ScanTriangulationSuccess = z.infer<typeof ScanTriangulationSuccess>;

export const ScanTriangulationFailure = z
  .object({
    ...common,
    success: z.literal(false).describe("there is no mesh"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    diagnostics: TriangleDiagnostics,
  })
  .meta({ id: "ScanTriangulationFailure", description: "failure: no triangle was left" });
export type ScanTriangulationFailure = z.infer<typeof ScanTriangulationFailure>;

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);

/** Buffers of the frame; absent on failure. */
export const ScanTriangulationBuffers = z
  .object({
    vertices: buffer(
      "f32 (3 * num_vertices) x, y, z of each vertex, metres, true world minus world_shift; points whose coordinates round to the same 1e-5 m are one vertex",
    ),
    triangles: buffer(
      "u32 (3 * num_triangles) vertices of each triangle, from 0, counter-clockwise seen from its scanner",
    ),
    triangle_scan_ids: buffer("u32 (num_triangles) scan of each triangle, its index in the request"),
    triangle_cell_ids: buffer("u32 (num_triangles) cell of each triangle's centroid, i + nx (j + ny k)"),
  })
  .meta({ id: "ScanTriangulationBuffers", description: "arrays of the frame" });

/** Form in which the documentation shows the PHB1 frame. */
export const ScanTriangulationFrame = z
  .object({
    meta: z
      .discriminatedUnion("success", [ScanTriangulationSuccess, ScanTriangulationFailure])
      .describe("scalars of the frame"),
    buffers: ScanTriangulationBuffers,
  })
  .meta({ id: "ScanTriangulationFrame", description: "PHB1 frame: scalars and arrays" });

/** Verdict on the limit of length. */
export const SpacingVerdict = z
  .object({
    success: z.boolean().describe("false: the reason is in error; only lmax and n_points are set besides"),
    median_spacing: z
      .number()
      .nullable()
      .describe("median distance from a point inside the grid to the nearest other one, metres; null = none"),
    lmax: z.number().describe("lmax of the request, metres"),
    ratio: z.number().nullable().describe("lmax / median_spacing; null = none"),
    n_points: count("hits inside the grid, of all scans"),
    likely_bridging: z.boolean().describe("the ratio is 3 or more: triangles probably bridge gaps between surfaces"),
    message: z.string().nullable().describe("sentence for the user; null on failure"),
    warnings: Warnings,
    error: z.string().nullable().describe("reason for the failure, a sentence for the user; null = success"),
    code: z.enum(errorCodes).optional().describe("error code; failures only"),
  })
  .meta({ id: "SpacingVerdict", description: "is lmax plausible for the spacing of the points?" });
export type SpacingVerdict = z.infer<typeof SpacingVerdict>;
