import { z } from "zod";
import { ColumnPlan, ColumnRole } from "../column-plan.ts";
import { checkedByService } from "../documented.ts";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings, WorldShift } from "../fields.ts";
import { Box, LooseTriple, Point } from "../geometry.ts";
import { OctreeBlock } from "../octree.ts";

/** Metres per unit. */
export const SOURCE_UNITS = { m: 1, km: 1000, cm: 0.01, mm: 0.001, ft: 0.3048, ftUS: 1200 / 3937, in: 0.0254 } as const;

export const DEFAULT_MISS_DISTANCE_M = 1001;

/** A `source_units` value. */
export const SourceUnits = z.enum(Object.keys(SOURCE_UNITS) as (keyof typeof SOURCE_UNITS)[]);
export type SourceUnits = z.infer<typeof SourceUnits>;

export const CreateSessionRequest = z
  .object({
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
    source_units: checkedByService(z.string(), SourceUnits)
      .nullish()
      .default(null)
      .describe("unit of the file's coordinates, which become metres; null = not asked, taken as metres; others: 400"),
    drop_slugs: z.array(z.string()).nullish().default(null).describe("scalar columns to leave out, any case"),
    role_overrides: z
      .record(z.string(), checkedByService(z.string(), ColumnRole))
      .nullish()
      .default(null)
      .describe("slug -> role that the column gets instead of the detected one; not x, y or z; others: 400"),
    scalar_labels: z.record(z.string(), z.string()).nullish().default(null).describe("slug -> display label"),
    scan_index: z.int().min(0).nullish().default(null).describe("one position of a multi-scan file; null = all"),
  })
  .meta({ id: "CreateSessionRequest" });
export type CreateSessionRequest = z.infer<typeof CreateSessionRequest>;

/** Pose stream of a moving scanner; attitude is a Hamilton quaternion body to world, scalar last. */
export const Trajectory = z
  .object({
    poses: z
      .array(
        z.object({
          t: z.number().describe("seconds, strictly increasing"),
          x: z.number().describe("metres, true world"),
          y: z.number().describe("metres, true world"),
          z: z.number().describe("metres, true world"),
          qx: z.number().describe("quaternion body to world, i"),
          qy: z.number().describe("quaternion body to world, j"),
          qz: z.number().describe("quaternion body to world, k"),
          qw: z.number().describe("quaternion body to world, scalar"),
        }),
      )
      .describe("poses in order of time"),
    frame: z
      .object({
        crs: z.string().nullable().describe("coordinate system of the positions; null = not stated"),
        up_axis: z.literal("z").describe("axis that points upwards"),
        body_convention: z.enum(["FLU", "FRD"]).describe("axes of the body: forward left up, or forward right down"),
        time_ref: z.string().nullable().describe("origin of the times; null = not stated"),
      })
      .describe("what the numbers of the poses are relative to"),
    lever_arm: Point.describe("optical centre of the scanner, metres, body frame"),
    boresight_rpy: Point.describe("misalignment of the scanner (roll, pitch, yaw), radians, intrinsic Z-Y-X"),
    source_format: z
      .enum(["pose_csv", "sbet", "las_extrabytes", "reconstructed", "simulated"])
      .describe("where the poses come from"),
  })
  .meta({
    id: "Trajectory",
    description: "pose stream of a moving scanner; attitude is a Hamilton quaternion, scalar last",
  });

const PHI =
  "degrees, bearing clockwise from +y of the true world: atan2(dx, dy); 0 <= phi_min < 360, phi_max - phi_min <= 360";

export const ScanParams = z
  .object({
    origin: Point.optional().describe("scanner position, metres, true world"),
    n_theta: z.int().optional().describe("rows of the raster"),
    n_phi: z.int().optional().describe("columns of the raster"),
    theta_min: z.number().optional().describe("degrees from the zenith, 0 = straight up"),
    theta_max: z.number().optional().describe("degrees from the zenith, 0 = straight up"),
    phi_min: z.number().optional().describe(PHI),
    phi_max: z.number().optional().describe(PHI),
    tilt_roll_deg: z.number().optional().describe("roll of the scanner, degrees"),
    tilt_pitch_deg: z.number().optional().describe("pitch of the scanner, degrees"),
    azimuth_offset_deg: z.number().optional().describe("degrees added to every bearing"),
    trajectory: Trajectory.optional().describe("of a moving scanner"),
  })
  .meta({ id: "ScanParams", description: "position and raster of a scan" });

/** One scanner position of a file with several, as it was read. Angles are those of `ScanParams`; null = not stated. */
export const ImportedScan = z
  .object({
    scan_index: z.int().describe("in the file, and in column scan_index when several were read"),
    name: z.string().nullable().describe("as the file names it; null = no name"),
    row_count: z.int().describe("rows in the session, misses included"),
    miss_count: z.int().describe("misses (sky points) among them"),
    unplaceable_miss_count: z.int().describe("misses without a direction: they lie at the scanner"),
    origin: Point.nullable().describe("scanner position, metres, true world; null without a pose"),
    n_theta: z.int().describe("rows of the raster; 0 = the points carry none"),
    n_phi: z.int().describe("columns of the raster; 0 = the points carry none"),
    theta_min: z.number().nullable().describe("degrees from the zenith; null = not stated"),
    theta_max: z.number().nullable().describe("degrees from the zenith; null = not stated"),
    phi_min: z.number().nullable().describe("degrees clockwise from +y; null = not stated"),
    phi_max: z.number().nullable().describe("degrees clockwise from +y; null = not stated"),
  })
  .meta({ id: "ImportedScan", description: "one scanner position of a file with several, as it was read" });

/** JSON tail of a session create. `point_count` is the octree's: surviving hits. */
export const CreateSessionTail = OctreeBlock.extend({
  session_id: SessionId,
  total_count: TotalCount,
  world_shift: WorldShift,
  source_units: z.string().nullable().describe("unit that the file was read in; null = not asked"),
  source_unit_scale: z.number().nullable().describe("metres per source unit"),
  crs_epsg: z.int().nullable().optional().describe("EPSG code of the file's horizontal system; null = not stated"),
  ground_z: z.number().nullable().describe("metres, stored frame; 0.5 percentile of hit z"),
  robust_extent: Point.nullable().describe("metres; p99 - p1 of hits per axis"),
  point_spacing: z.number().nullable().optional().describe("metres; median nearest-neighbour distance of hits"),
  has_misses: z.boolean().describe("some rows are misses (sky points)"),
  miss_slug: z.literal("is_miss").describe("column that marks the misses"),
  miss_count: z.int().optional().describe("rows that are misses"),
  miss_octree_cache_id: MissOctreeCacheId,
  autodetected_misses: z.int().optional().describe("misses that no column of the file marked"),
  unplaceable_miss_count: z.int().optional().describe("misses without a direction: they lie at the scanner"),
  scan_origin: Point.optional().describe("position of the first scanner, metres, true world"),
  scan_params: ScanParams.optional().describe("of the first scan that was read"),
  scans: z
    .array(ImportedScan)
    .optional()
    .describe("e57 and ptx: the scans that were read, at most the first 1000; other formats: absent"),
  gps_time_encoding: z
    .enum(["adjusted_standard", "gps_week"])
    .optional()
    .describe("what the times of a LAS file count: GPS seconds less 1e9, or seconds of the week"),
  warnings: Warnings.optional(),
  cached: z.boolean().optional().describe("the octree was in the cache already"),
  robust_bounds: Box.nullable().optional().describe("metres, stored frame, p1..p99 of hits"),
}).meta({ id: "CreateSessionTail" });
export type CreateSessionTail = z.infer<typeof CreateSessionTail>;
