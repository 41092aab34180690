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
import { BulkNumbers, Point } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, type Sent, withIdleKeys } from "./idle-keys.ts";
import { LadScan, WoodSplit } from "./lad-scan.ts";
import { CaptureRecapture, CaptureRecaptureArea } from "./lad-views.ts";
import { ProjectionSpec } from "./leaf-projection.ts";
import { Terrain, VoxelGrid } from "./voxel-grid.ts";

const LadFields = z
  .object({
    scans: z
      .array(LadScan)
      .min(1)
      .max(MAX_LAD_SCANS)
      .describe(
        "scans to combine, each once (a session or file sent twice: 400); each needs misses with a direction: those of PTX files have none until they are recovered (backfill-misses)",
      ),
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
      .describe(
        "longest edge of a triangle of leaves, metres: below the distance of neighbouring leaves, and at least ten times the range noise, which turns triangles; only without gtheta_override and mesh",
      ),
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
        "true: G is gtheta_spec or gtheta; false: G of each voxel from the triangles of the mesh, or of an angular triangulation of the static scans: what they tell of the leaf inclinations, with those that the beams hardly see from a Beta distribution, azimuths taken as uniform",
      ),
    gtheta: z.number().nullish().default(null).describe("G of all voxels, above 0 and at most 1; otherwise: 400"),
    gtheta_spec: ProjectionSpec.nullish().default(null).describe("G by distribution or layer; replaces gtheta"),
    gtheta_per_beam: z
      .boolean()
      .default(false)
      .describe(
        "true: each beam has the G of its own angle, from a gtheta_spec with a distribution, or from triangles of the scans; with a constant G or a mesh: 400. false: of a gtheta_spec, the mean over the beams that reach the grid stands for all, with a warning where this matters (19 % too little for flat leaves seen from the side and from above); from triangles, each beam has its own all the same where G of the beams spreads by more than 15 %",
      ),
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
    wood_split: WoodSplit.nullish()
      .default(null)
      .describe(
        "split what a voxel intercepts by the share of wood in its labelled hits; G of own triangles is then that of hits that are no wood; null: all is leaf",
      ),
    check_clumping: z
      .boolean()
      .default(true)
      .describe(
        "trace the beams again through voxels of half the edges and warn if the leaf area rises, as leaves in clumps hide each other, by more than leaves of element_width would at random places; not done, with a warning, for leaves wider than half of a voxel's edge",
      ),
    fill_occluded: z.boolean().default(false).describe("true: estimate occluded voxels by kriging"),
    capture_recapture: CaptureRecapture.nullish()
      .default(null)
      .describe(
        "leaf area of the whole grid besides, from what several scanners see of the same places instead of voxels, so that clumps do not count; at least two static scans with return_type single; otherwise: 400",
      ),
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
    lad_std_total: orNull(
      "standard error of lad with lad_std, that the few leaves of the voxel (element_width) are turned and placed by chance as the scanners see them, and the error of gtheta from triangles of the scans, m2/m3",
    ),
    ci_valid: z.boolean().describe("the interval is one of 95 % (validity of Pimont et al. 2018)"),
    leaf_area_ci_lower: orNull(
      "lower end of the interval of leaf_area, 1.96 lad_std_total wide, square metres; null unless ci_valid",
    ),
    leaf_area_ci_upper: orNull("upper end, square metres; null unless ci_valid"),
    wad: orNull("surface of the wood, m2/m3; 0 where lad is not solved, null where it is filled").optional(),
    wood_area: orNull("surface of the wood, square metres").optional(),
    pad: orNull("lad + wad, m2/m3; null where lad is filled").optional(),
    wood_fraction: orNull("share of wood in the labelled hits, 0..1; null without any").optional(),
    wood_hit_count: z.int().optional().describe("number of hits inside that are wood"),
    leaf_hit_count: z.int().optional().describe("number of hits inside that are leaves"),
    wood_gtheta: z.number().optional().describe("projection of the wood over its whole surface, 0..1"),
  })
  .meta({ id: "LadCell", description: "leaf area of one voxel; its fields on wood only with wood_split" });
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
    has_wood_classification: z.boolean().describe("wood_split was asked for"),
    total_wood_area: orNull("surface of the wood in the same voxels, square metres; null without wood_split"),
    wood_gtheta: orNull("projection of wood over its whole surface, used in all voxels; null without wood_split"),
    wood_gtheta_source: z
      .literal("default")
      .nullable()
      .describe("default: axes of the wood in any direction; null without wood_split"),
    wood_axis_triangles: z.literal(0).describe("0: the axes of the wood are not measured"),
    method_used: z.literal("lidar").describe("method of the inversion"),
    is_multi_return: z.boolean().describe("a scan was declared to have several returns per pulse"),
    return_mode: z.enum(["single", "multi"]).describe("multi: rows of at least one scan were grouped to pulses"),
    return_weights: z.enum(["equal", "energy"]).describe("how the returns of a pulse were weighed"),
    hit_cosine: orNull("mean cosine at which beams meet leaves, as used by return_weights energy; null = not used"),
    element_width: z.number().describe("as requested, metres"),
    element_gain: orNull(
      "density that is found in voxels of this size over the true one of discs of element_width at random places, 1 and more; leaf area is not divided by it; null = they are wider than a voxel",
    ),
    gtheta_profile: z.array(z.number()).nullable().describe("(nz) G of each layer; null = from triangles"),
    gtheta_per_beam: z
      .boolean()
      .describe("each beam had its own G; gtheta and gtheta_profile are means over the beams"),
    gtheta_common_error: orNull(
      "standard error of the G of triangles of the scans that all voxels have in common, as a part of G: also that of total_leaf_area; in all intervals; null = G is taken as known",
    ),
    occlusion_threshold_m: z.number().describe("threshold applied, metres"),
    under_sampled_count: z.int().describe("number of occluded voxels"),
    occluded_leaf_area: z
      .number()
      .describe(
        "of those that min_voxel_hits beams reach, by these beams, square metres: uncertain voxel by voxel, not part of total_leaf_area",
      ),
    filled_count: z.int().describe("number of interpolated voxels"),
    opaque_floor: z
      .object({
        column_count: z.int().describe("number of such columns"),
        column_share: z.number().describe("of the columns with hits, 0..1; 0 without any"),
        leaf_area: z.number().describe("of their lowest voxels, square metres; part of total_leaf_area"),
      })
      .describe(
        "columns below whose lowest voxel no beam is seen though at least 30 would go on there: its hits are on something opaque, as the ground",
      ),
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
    clumping_check: z
      .object({
        voxel_count: z.int().describe("number of voxels whose eighths all have enough beams"),
        leaf_area: z.number().describe("of these voxels, square metres; with wood_split before the wood is taken off"),
        leaf_area_half_edges: z.number().describe("of the same from their eighths, square metres"),
        expected_rise: z
          .number()
          .describe("leaf_area_half_edges / leaf_area of leaves of element_width at random places, 1 and more"),
      })
      .nullable()
      .describe("voxels beside voxels of half the edges; null = not done"),
    capture_recapture: CaptureRecaptureArea.nullable().describe("leaf area by views; null = not requested"),
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
