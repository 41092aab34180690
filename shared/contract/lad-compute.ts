import { z } from "zod";
import { errorCodes } from "../errors.ts";
import {
  DEFAULT_ELEMENT_WIDTH_M,
  DEFAULT_LAD_ASPECT,
  DEFAULT_LAD_LMAX_M,
  DEFAULT_MIN_VOXEL_HITS,
  MAX_LAD_SCANS,
  MAX_LAD_VOXELS,
} from "../limits.ts";
import { Warnings } from "./fields.ts";
import { BulkNumbers, Point, PointList } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, type Sent, withIdleKeys } from "./idle-keys.ts";
import { ProjectionSpec } from "./leaf-projection.ts";
import { PoseStream } from "./trajectory.ts";
import { Terrain, VoxelGrid } from "./voxel-grid.ts";

const perPulse = (what: string) => BulkNumbers.nullish().default(null).describe(`(n) ${what}`);

/** Values of inline pulses. */
export const PulseColumns = z
  .object({
    is_miss: perPulse("1 = miss: the pulse returned nothing, and its point lies anywhere along the beam; 0 = hit"),
    timestamp: perPulse("seconds; with return_type multi, rows of equal time are the returns of one pulse"),
    target_index: perPulse("number of the return in its pulse"),
    target_count: perPulse("number of returns of its pulse"),
    intensity: perPulse("energy of the return, any linear unit; for return_weights energy"),
    origin_x: perPulse("x of the beam origin, metres; the three together replace origin"),
    origin_y: perPulse("y of the beam origin, metres"),
    origin_z: perPulse("z of the beam origin, metres"),
  })
  .meta({ id: "PulseColumns", description: "values of inline pulses, one per point" });

const LadScanFields = z
  .object({
    session_id: z
      .string()
      .nullish()
      .default(null)
      .describe("open session with its misses; takes precedence over the other sources; an unknown one: 404"),
    file_path: z.string().nullish().default(null).describe("point cloud file with misses; needs allow_file_source"),
    ascii_format: z.string().nullish().default(null).describe("column names of a text file, separated by spaces"),
    allow_file_source: z
      .boolean()
      .default(false)
      .describe("true: read file_path if there is no session_id; a file lacks the edits of a session"),
    points: PointList.nullish()
      .default(null)
      .describe("(n) inline pulses, metres, true world: where each return or miss lies"),
    scalar_columns: PulseColumns.nullish().default(null).describe("values of the inline pulses"),
    origin: Point.describe(
      "scanner position, metres, true world; beam origins of the pulses and positions of merged scans replace it",
    ),
    trajectory: PoseStream.nullish()
      .default(null)
      .describe(
        "poses of a moving scanner, on the clock of the timestamps: the beam origin of each pulse, unless the pulses have their own; only its poses and lever_arm matter",
      ),
    return_type: z
      .enum(["single", "multi"])
      .default("single")
      .describe("multi: rows with one timestamp are one pulse; needs timestamp, target_index and target_count"),
    leaf_intensity: z
      .number()
      .positive()
      .nullish()
      .default(null)
      .describe(
        "intensity of a leaf that fills the beam and faces it, unit of the intensities of the source (of own scans 0..1: the reflectance of the leaves); needed by return_weights energy",
      ),
    label: z.string().max(200).nullish().default(null).describe("name of the scan in messages; null = its number"),
  })
  .meta({ id: "LadScan", description: "pulses of one scan, hits and misses, from a session, a file or inline" });
export const LadScan = withIdleKeys(
  LadScanFields,
  idleUnless(({ session_id }) => !isSent(session_id), "points", "scalar_columns"),
);
export type LadScan = z.infer<typeof LadScan>;

const LadFields = z
  .object({
    scans: z.array(LadScan).min(1).max(MAX_LAD_SCANS).describe("scans to combine; each needs misses"),
    grid: VoxelGrid.describe(`voxels, at most ${MAX_LAD_VOXELS}; more: 400 with the finest grid that fits`),
    terrain_follow: z
      .boolean()
      .default(false)
      .describe("true: raise the columns to dem, or as grid.column_offsets say; without either: 400"),
    safety_fraction: z
      .number()
      .min(0)
      .default(0.1)
      .describe("clearance above dem, as a fraction of the height of a voxel"),
    dem: Terrain.nullish().default(null).describe("terrain of terrain_follow, true world; not used without it"),
    lmax: z
      .number()
      .positive()
      .default(DEFAULT_LAD_LMAX_M)
      .describe("longest edge of a triangle of leaves, metres; only without gtheta_override and mesh"),
    max_aspect_ratio: z
      .number()
      .min(1)
      .default(DEFAULT_LAD_ASPECT)
      .describe("largest longest / shortest edge of such a triangle"),
    min_voxel_hits: z
      .int()
      .min(1)
      .nullish()
      .default(null)
      .describe(`beams that must reach a voxel; null = ${DEFAULT_MIN_VOXEL_HITS}, with a warning`),
    element_width: z
      .number()
      .default(DEFAULT_ELEMENT_WIDTH_M)
      .describe("width of a leaf or needle, metres; <= 0: only the sampling error; the values do not depend on it"),
    gtheta_override: z
      .boolean()
      .default(false)
      .describe(
        "true: G is gtheta_spec or gtheta; false: G of each voxel from the triangles of the mesh, or of an angular triangulation of the static scans, weighed for leaves that the beams graze, whose azimuths are taken as uniform",
      ),
    gtheta: z.number().nullish().default(null).describe("G of all voxels, above 0 and at most 1; otherwise: 400"),
    gtheta_spec: ProjectionSpec.nullish().default(null).describe("G by distribution or layer; replaces gtheta"),
    mesh_vertices: BulkNumbers.nullish()
      .default(null)
      .describe(
        "(3 * V) triangles of leaves to use instead of an own triangulation: x, y, z of each vertex, metres, true world",
      ),
    mesh_indices: BulkNumbers.nullish().default(null).describe("(3 * T) vertices of each triangle, from 0"),
    mesh_scan_ids: BulkNumbers.nullish()
      .default(null)
      .describe("(T) the scan that each triangle was seen from, its place in scans; any other number: 400"),
    return_weights: z
      .enum(["equal", "energy"])
      .default("equal")
      .describe(
        "of the returns of a pulse. equal: each return and miss counts alike, biased where leaves intercept pulses in parts; energy: by intensity over leaf_intensity and the mean cosine at which the beams meet leaves, which follows from G; only scans with return_type multi",
      ),
    occlusion_threshold_m: z
      .number()
      .min(0)
      .nullish()
      .default(null)
      .describe("a voxel with less path of all beams together is occluded, metres; null = 100 x its mean edge"),
    fill_occluded: z.boolean().default(false).describe("true: estimate occluded voxels by kriging"),
  })
  .meta({ id: "LadRequest" });
const hasPulses = ({ scans }: Sent) =>
  !Array.isArray(scans) || scans.some((scan: Sent) => scan?.return_type === "multi");
/** Offsets of columns say more than a terrain. */
const followsDem = ({ terrain_follow, grid }: Sent) =>
  terrain_follow === true && !isSent((grid as Sent | undefined)?.column_offsets);
export const LadRequest = withIdleKeys(
  LadFields,
  idleByAll(
    idleUnless(followsDem, "dem"),
    idleUnless(hasPulses, "return_weights"),
    idleUnless((sent) => followsDem(sent) && isSent(sent.dem), "safety_fraction"),
    idleUnless(
      ({ gtheta_override, mesh_vertices }) => gtheta_override !== true && !isSent(mesh_vertices),
      "lmax",
      "max_aspect_ratio",
    ),
  ),
);
export type LadRequest = z.infer<typeof LadRequest>;

const orNull = (what: string) => z.number().nullable().describe(what);

export const LadCell = z
  .object({
    index: z.int().describe("i + nx * (j + ny * k)"),
    center: Point.describe(
      "centre in the unrotated lattice with the offset of its column, metres, true world; rotate about grid_center by grid_rotation",
    ),
    size: Point.describe("edges, metres"),
    leaf_area: z.number().describe("one-sided leaf area, square metres"),
    lad: z.number().describe("leaf area density, m2/m3; 0 where it is neither solved nor filled"),
    gtheta: z.number().describe("leaf projection function used, 0..1; 0 = no triangles"),
    hit_count: z.int().describe("number of hits inside"),
    beam_count: z
      .int()
      .describe(
        "number of beams that reach the voxel: with a return inside or behind it; by energy, the sum of the shares of them that do, rounded",
      ),
    relative_density_index: orNull("share of the beams intercepted inside, 0..1; null without beams"),
    mean_path_length: orNull("mean chord of these beams, metres; null without beams"),
    path_length_total: z.number().describe("sum of the chords of these beams, metres"),
    under_sampled: z
      .boolean()
      .describe("occluded: beams reach it, but fewer than min_voxel_hits or with less path than the threshold"),
    lad_filled: z.boolean().describe("lad is interpolated"),
    lad_solved: z.boolean().describe("lad is a solution of the inversion"),
    lad_variance: orNull("sampling variance of lad, (m2/m3)^2; null = unknown"),
    lad_std: orNull("its square root, m2/m3"),
    ci_valid: z.boolean().describe("the interval is one of 95 % (validity of Pimont et al. 2018)"),
    leaf_area_ci_lower: orNull("lower end of the interval of leaf_area, square metres; null unless ci_valid"),
    leaf_area_ci_upper: orNull("upper end, square metres; null unless ci_valid"),
  })
  .meta({ id: "LadCell", description: "leaf area of one voxel" });
export type LadCell = z.infer<typeof LadCell>;

export const LadSuccess = z
  .object({
    success: z.literal(true).describe("the inversion was done"),
    error: z.null().describe("null: success"),
    cells: z.array(LadCell).describe("voxels of the kept columns, by index"),
    nx: z.int().describe("number of voxels along x"),
    ny: z.int().describe("number of voxels along y"),
    nz: z.int().describe("number of voxels along z"),
    grid_center: Point.describe("centre of the grid, metres, true world"),
    grid_size: Point.describe("extent of the grid, metres"),
    grid_rotation: z.number().describe("rotation of the grid about +z, degrees, counter-clockwise"),
    bounds: z.tuple([Point, Point]).describe("grid_center -+ grid_size / 2, without rotation and offsets, metres"),
    terrain_follow: z.boolean().describe("the columns were raised"),
    dropped_columns: z.int().describe("number of columns left out"),
    total_leaf_area: z.number().describe("square metres, solved voxels that are not occluded"),
    method_used: z.literal("lidar").describe("method of the inversion"),
    is_multi_return: z.boolean().describe("a scan was declared to have several returns per pulse"),
    return_mode: z.enum(["single", "multi"]).describe("multi: rows of at least one scan were grouped to pulses"),
    return_weights: z.enum(["equal", "energy"]).describe("how the returns of a pulse were weighed"),
    hit_cosine: orNull("mean cosine at which beams meet leaves, as used by return_weights energy; null = not used"),
    element_width: z.number().describe("as requested, metres"),
    gtheta_profile: z.array(z.number()).nullable().describe("(nz) G of each layer; null = from triangles"),
    occlusion_threshold_m: z.number().describe("threshold applied, metres"),
    under_sampled_count: z.int().describe("number of occluded voxels"),
    filled_count: z.int().describe("number of interpolated voxels"),
    occluded_by_layer: z.array(z.int()).describe("(nz) number of occluded voxels of each layer"),
    filled_leaf_area: z.number().describe("square metres in interpolated voxels; not part of total_leaf_area"),
    fill_method_used: z
      .enum(["kriging", "layer_mean", "none"])
      .nullable()
      .describe("how occluded voxels were filled; layer_mean: all by the mean of their layer; null = not requested"),
    group_ci_valid: z.boolean().describe("there are voxels with a valid interval"),
    group_lad_mean: orNull("mean lad of the voxels with a valid interval that are not occluded, m2/m3"),
    group_lad_ci_lower: orNull("lower end of the interval of this mean, m2/m3"),
    group_lad_ci_upper: orNull("upper end, m2/m3"),
    confidence_level: z.number().describe("of all intervals: 0.95"),
    had_miss_points: z.literal(true).describe("every scan has misses"),
    gapfilled_misses: z.literal(0).describe("0: misses are restored in the session before"),
    crs_epsg: z.int().nullable().describe("EPSG code of the sessions; null = unknown"),
    warnings: Warnings,
  })
  .meta({ id: "LadSuccess", description: "leaf area density of every voxel" });
export type LadSuccess = z.infer<typeof LadSuccess>;

export const LadFailure = z
  .object({
    success: z.literal(false).describe("nothing was computed"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "LadFailure", description: "failure: no leaf area density was computed" });

/** JSON tail of a leaf area density run. */
export const LadTail = z
  .discriminatedUnion("success", [LadSuccess, LadFailure])
  .meta({ id: "LadTail", description: "result of an inversion of leaf area density" });
export type LadTail = z.infer<typeof LadTail>;
