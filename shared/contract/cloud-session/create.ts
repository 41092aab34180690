import { z } from "zod";
import { MAX_ASCII_FORMAT_CHARS, MAX_LABEL_CHARS } from "../../limits.ts";
import { ColumnPlan, ColumnRole } from "../column-plan.ts";
import { checkedByService } from "../documented.ts";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings, WorldShift } from "../fields.ts";
import { Box, LooseTriple, Point } from "../geometry.ts";
import { OctreeBlock } from "../octree.ts";

/** Metres per unit. */
export const SOURCE_UNITS = { m: 1, km: 1000, cm: 0.01, mm: 0.001, ft: 0.3048, ftUS: 1200 / 3937, in: 0.0254 } as const;
export const SOURCE_UNIT_NAMES: Readonly<Record<keyof typeof SOURCE_UNITS, string>> = {
  m: "metres",
  km: "kilometres",
  cm: "centimetres",
  mm: "millimetres",
  ft: "feet",
  ftUS: "US survey feet",
  in: "inches",
};

export const DEFAULT_MISS_DISTANCE_M = 1001;

/** A `source_units` value. */
export const SourceUnits = z.enum(Object.keys(SOURCE_UNITS) as (keyof typeof SOURCE_UNITS)[]);
export type SourceUnits = z.infer<typeof SourceUnits>;

export const CreateSessionRequest = z
  .object({
    source_path: z.string().describe("absolute path of the file; ~ is the home folder"),
    ascii_format: z
      .string()
      .max(MAX_ASCII_FORMAT_CHARS)
      .nullish()
      .default(null)
      .describe("column names of a text file, separated by spaces; overrides detection"),
    column_plan: ColumnPlan.nullish()
      .default(null)
      .describe("column layout, text files only; overrides ascii_format, header and detection"),
    world_shift: LooseTriple.nullish()
      .default(null)
      .describe("(3) metres, subtracted from every point and beam origin; zeros or null = no shift"),
    miss_distance_threshold: z
      .number()
      .positive()
      .nullish()
      .transform((d) => d ?? DEFAULT_MISS_DISTANCE_M)
      .describe(
        `points farther from the scanner than this are misses, unless column is_miss marks any; metres; default ${DEFAULT_MISS_DISTANCE_M}`,
      ),
    origin: LooseTriple.nullish().default(null).describe("(3) scanner position, true world, in source units"),
    source_units: checkedByService(z.string(), SourceUnits)
      .nullish()
      .default(null)
      .describe(
        "unit of the coordinates in the file, which are converted to metres; null = taken as metres; any other value: 400",
      ),
    drop_slugs: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe("names of the scalar columns that are not imported, in any case"),
    role_overrides: z
      .record(z.string(), checkedByService(z.string(), ColumnRole))
      .nullish()
      .default(null)
      .describe("role that replaces the detected one, by column name; not x, y or z; any other value: 400"),
    scalar_labels: z
      .record(z.string(), z.string().max(MAX_LABEL_CHARS))
      .nullish()
      .default(null)
      .describe("display label, by column name"),
    scan_index: z
      .int()
      .min(0)
      .nullish()
      .default(null)
      .describe("index of the scan to import from a file with several; null = all"),
  })
  .meta({ id: "CreateSessionRequest" });
export type CreateSessionRequest = z.infer<typeof CreateSessionRequest>;

/** Poses of a moving scanner. The attitude is a Hamilton quaternion from body to world, scalar last. */
export const Trajectory = z
  .object({
    poses: z
      .array(
        z.object({
          t: z.number().describe("time, seconds, strictly increasing"),
          x: z.number().describe("position, metres, true world"),
          y: z.number().describe("position, metres, true world"),
          z: z.number().describe("position, metres, true world"),
          qx: z.number().describe("attitude, quaternion from body to world, i component"),
          qy: z.number().describe("attitude, quaternion from body to world, j component"),
          qz: z.number().describe("attitude, quaternion from body to world, k component"),
          qw: z.number().describe("attitude, quaternion from body to world, scalar component"),
        }),
      )
      .describe("poses, ordered by time"),
    frame: z
      .object({
        crs: z.string().nullable().describe("coordinate system of the positions; null = not stated"),
        up_axis: z.literal("z").describe("axis that points up"),
        body_convention: z
          .enum(["FLU", "FRD"])
          .describe("body axes. FLU: forward, left, up; FRD: forward, right, down"),
        time_ref: z.string().nullable().describe("origin of the times; null = not stated"),
      })
      .describe("reference systems of the poses"),
    lever_arm: Point.describe("optical centre of the scanner, metres, body frame"),
    boresight_rpy: Point.describe(
      "misalignment of the scanner as (roll, pitch, yaw), radians, intrinsic Z-Y-X rotation",
    ),
    source_format: z
      .enum(["pose_csv", "sbet", "las_extrabytes", "reconstructed", "simulated"])
      .describe("source of the poses"),
  })
  .meta({
    id: "Trajectory",
    description: "poses of a moving scanner; the attitude is a Hamilton quaternion, scalar last",
  });

const PHI =
  "bearing atan2(dx, dy), degrees clockwise from +y, true world; 0 <= phi_min < 360, phi_max - phi_min <= 360";

export const ScanParams = z
  .object({
    origin: Point.optional().describe("scanner position, metres, true world"),
    n_theta: z.int().optional().describe("number of rows of the scan raster (zenith)"),
    n_phi: z.int().optional().describe("number of columns of the scan raster (azimuth)"),
    theta_min: z.number().optional().describe("smallest zenith angle, degrees; 0 = straight up"),
    theta_max: z.number().optional().describe("largest zenith angle, degrees; 0 = straight up"),
    phi_min: z.number().optional().describe(PHI),
    phi_max: z.number().optional().describe(PHI),
    tilt_roll_deg: z.number().optional().describe("roll of the scanner, degrees"),
    tilt_pitch_deg: z.number().optional().describe("pitch of the scanner, degrees"),
    azimuth_offset_deg: z.number().optional().describe("offset added to every bearing, degrees"),
    trajectory: Trajectory.optional().describe("poses of a moving scanner"),
  })
  .meta({ id: "ScanParams", description: "scanner position and scan raster" });

/** One imported scan of a file with several scanner positions. Angles as in `ScanParams`; null = not stated. */
export const ImportedScan = z
  .object({
    scan_index: z
      .int()
      .describe("index of the scan in the file; also its value in column scan_index if several scans were imported"),
    name: z.string().nullable().describe("name in the file; null = no name"),
    row_count: z.int().describe("number of its rows in the session, including misses"),
    miss_count: z.int().describe("number of misses (sky points) among them"),
    unplaceable_miss_count: z.int().describe("number of misses without a direction; they are placed at the scanner"),
    origin: Point.nullable().describe(
      "scanner position, metres, true world; without a pose the zero that spherical coordinates and misses are measured from; null if it is not known",
    ),
    n_theta: z.int().describe("number of rows of the scan raster; 0 = the points have no raster indices"),
    n_phi: z.int().describe("number of columns of the scan raster; 0 = the points have no raster indices"),
    theta_min: z.number().nullable().describe("smallest zenith angle, degrees; null = not stated"),
    theta_max: z.number().nullable().describe("largest zenith angle, degrees; null = not stated"),
    phi_min: z.number().nullable().describe("first bearing, degrees clockwise from +y; null = not stated"),
    phi_max: z.number().nullable().describe("last bearing, degrees clockwise from +y; null = not stated"),
  })
  .meta({ id: "ImportedScan", description: "one imported scan of a file with several scanner positions" });

export const ConstantDimension = z
  .object({
    name: z.string().describe("field of the LAS point record, for example classification; rgb: colours, all black"),
    value: z.number().describe("its value in every point, in the unit of the field"),
  })
  .meta({ id: "ConstantDimension", description: "LAS field that has the same value in every point" });

/** JSON tail of create. `point_count` is that of the octree: hits only. */
export const CreateSessionTail = OctreeBlock.extend({
  session_id: SessionId,
  total_count: TotalCount,
  world_shift: WorldShift,
  source_units: z.string().nullable().describe("source_units of the request; null = none given"),
  source_unit_scale: z.number().nullable().describe("metres per source unit; null = no source_units given"),
  crs_epsg: z
    .int()
    .nullable()
    .optional()
    .describe("EPSG code of the file's horizontal coordinate system; null = not stated"),
  ground_z: z
    .number()
    .nullable()
    .describe("estimated ground height: 0.5th percentile of the z of all hits, metres, stored frame"),
  robust_extent: Point.nullable().describe("99th - 1st percentile of the hits per axis, metres"),
  point_spacing: z
    .number()
    .nullable()
    .optional()
    .describe(
      "median nearest-neighbour distance of the hits, metres; where at least half of them share their position with another (see warnings), the median distance to the nearest other position",
    ),
  has_misses: z.boolean().describe("true: some rows are misses (sky points)"),
  miss_slug: z.literal("is_miss").describe("name of the column that marks misses"),
  miss_count: z.int().optional().describe("number of rows that are misses"),
  miss_octree_cache_id: MissOctreeCacheId,
  autodetected_misses: z
    .int()
    .optional()
    .describe("number of misses that were detected although no column of the file marks them"),
  unplaceable_miss_count: z
    .int()
    .optional()
    .describe("number of misses without a direction; they are placed at the scanner"),
  scan_origin: Point.optional().describe("position of the first scanner, metres, true world"),
  scan_params: ScanParams.optional().describe("parameters of the first imported scan"),
  scans: z
    .array(ImportedScan)
    .optional()
    .describe("imported scans of an e57 or ptx file, at most the first 1000; absent for other formats"),
  constant_dimensions: z
    .array(ConstantDimension)
    .optional()
    .describe(
      "LAS fields that have one value in every point: not columns of the session, and written back by las and laz exports; absent if there are none",
    ),
  gps_time_encoding: z
    .enum(["adjusted_standard", "gps_week"])
    .optional()
    .describe(
      "meaning of the times in a LAS file. adjusted_standard: GPS seconds - 1e9; gps_week: seconds of the GPS week",
    ),
  warnings: Warnings.optional(),
  cached: z.boolean().optional().describe("true: the octree was already in the cache"),
  robust_bounds: Box.nullable()
    .optional()
    .describe("1st to 99th percentile of the hits per axis, metres, stored frame"),
}).meta({ id: "CreateSessionTail" });
export type CreateSessionTail = z.infer<typeof CreateSessionTail>;
