import { z } from "zod";
import { ColumnPlan } from "../column-plan.ts";
import { Box, LooseTriple, Point } from "../geometry.ts";
import { OctreeBlock } from "../octree.ts";

/** Metres per unit. */
export const SOURCE_UNITS = { m: 1, km: 1000, cm: 0.01, mm: 0.001, ft: 0.3048, ftUS: 1200 / 3937, in: 0.0254 } as const;

export const DEFAULT_MISS_DISTANCE_M = 1001;

export const CreateSessionRequest = z.object({
  source_path: z.string().describe("absolute path; ~ is the home folder"),
  ascii_format: z.string().nullish().default(null).describe("column legend of a text file"),
  column_plan: ColumnPlan.nullish().default(null).describe("text files only; wins over everything"),
  world_shift: LooseTriple.nullish()
    .default(null)
    .describe("(3) metres, subtracted from every point and beam origin; zeros = none"),
  miss_distance_threshold: z
    .number()
    .positive()
    .nullish()
    .transform((d) => d ?? DEFAULT_MISS_DISTANCE_M)
    .describe(`metres; distance fallback of miss detection, default ${DEFAULT_MISS_DISTANCE_M}`),
  origin: LooseTriple.nullish().default(null).describe("(3) scanner position, true world, source units"),
  source_units: z
    .string()
    .nullish()
    .default(null)
    .describe(`${Object.keys(SOURCE_UNITS).join(", ")}; null = not asked, taken as metres`),
  drop_slugs: z.array(z.string()).nullish().default(null).describe("scalar columns to leave out, any case"),
  role_overrides: z.record(z.string(), z.string()).nullish().default(null).describe("slug -> canonical role"),
  scalar_labels: z.record(z.string(), z.string()).nullish().default(null).describe("slug -> display label"),
  scan_index: z.int().min(0).nullish().default(null).describe("one position of a multi-scan file; null = all"),
});
export type CreateSessionRequest = z.infer<typeof CreateSessionRequest>;

/** Pose stream of a moving scanner; attitude is a Hamilton quaternion body to world, scalar last. */
export const Trajectory = z.object({
  poses: z.array(
    z.object({
      t: z.number().describe("seconds, strictly increasing"),
      x: z.number().describe("metres, true world"),
      y: z.number().describe("metres, true world"),
      z: z.number().describe("metres, true world"),
      qx: z.number(),
      qy: z.number(),
      qz: z.number(),
      qw: z.number(),
    }),
  ),
  frame: z.object({
    crs: z.string().nullable(),
    up_axis: z.literal("z"),
    body_convention: z.enum(["FLU", "FRD"]),
    time_ref: z.string().nullable(),
  }),
  lever_arm: Point.describe("metres, body frame"),
  boresight_rpy: Point.describe("radians, intrinsic Z-Y-X"),
  source_format: z.enum(["pose_csv", "sbet", "las_extrabytes", "reconstructed", "simulated"]),
});

const PHI =
  "degrees, bearing clockwise from +y of the true world: atan2(dx, dy); 0 <= phi_min < 360, phi_max - phi_min <= 360";

export const ScanParams = z.object({
  origin: Point.optional().describe("metres, true world"),
  n_theta: z.int().optional().describe("rows of the raster"),
  n_phi: z.int().optional().describe("columns of the raster"),
  theta_min: z.number().optional().describe("degrees from the zenith, 0 = straight up"),
  theta_max: z.number().optional().describe("degrees from the zenith, 0 = straight up"),
  phi_min: z.number().optional().describe(PHI),
  phi_max: z.number().optional().describe(PHI),
  tilt_roll_deg: z.number().optional(),
  tilt_pitch_deg: z.number().optional(),
  azimuth_offset_deg: z.number().optional(),
  trajectory: Trajectory.optional(),
});

/** One scanner position of a file with several, as it was read. Angles are those of `ScanParams`; null = not stated. */
export const ImportedScan = z.object({
  scan_index: z.int().describe("in the file, and in column scan_index when several were read"),
  name: z.string().nullable(),
  row_count: z.int().describe("rows in the session, misses included"),
  miss_count: z.int(),
  unplaceable_miss_count: z.int().describe("misses without a direction: they lie at the scanner"),
  origin: Point.nullable().describe("metres, true world; null without a pose"),
  n_theta: z.int().describe("rows of the raster; 0 = the points carry none"),
  n_phi: z.int().describe("columns of the raster; 0 = the points carry none"),
  theta_min: z.number().nullable(),
  theta_max: z.number().nullable(),
  phi_min: z.number().nullable(),
  phi_max: z.number().nullable(),
});

/** JSON tail of a session create. `point_count` is the octree's: surviving hits. */
export const CreateSessionTail = OctreeBlock.extend({
  session_id: z.string(),
  total_count: z.int().describe("all rows, misses included"),
  world_shift: Point.nullable().describe("metres; true world = stored + world_shift"),
  source_units: z.string().nullable(),
  source_unit_scale: z.number().nullable().describe("metres per source unit"),
  crs_epsg: z.int().nullable().optional().describe("EPSG code of the file's horizontal system; null = not stated"),
  ground_z: z.number().nullable().describe("metres, stored frame; 0.5 percentile of hit z"),
  robust_extent: Point.nullable().describe("metres; p99 - p1 of hits per axis"),
  point_spacing: z.number().nullable().optional().describe("metres; median nearest-neighbour distance of hits"),
  has_misses: z.boolean(),
  miss_slug: z.literal("is_miss"),
  miss_count: z.int().optional(),
  miss_octree_cache_id: z.string().nullable(),
  autodetected_misses: z.int().optional(),
  unplaceable_miss_count: z.int().optional(),
  scan_origin: Point.optional().describe("metres, true world"),
  scan_params: ScanParams.optional().describe("of the first scan that was read"),
  scans: z
    .array(ImportedScan)
    .optional()
    .describe("e57 and ptx: the scans that were read, at most the first 1000; other formats: absent"),
  gps_time_encoding: z.enum(["adjusted_standard", "gps_week"]).optional(),
  warnings: z.array(z.string()).optional(),
  cached: z.boolean().optional(),
  robust_bounds: Box.nullable().optional().describe("stored frame, p1..p99 of hits"),
});
export type CreateSessionTail = z.infer<typeof CreateSessionTail>;
