import { z } from "zod";
import { errorCodes } from "../errors.ts";
import {
  DEFAULT_NORMAL_NEIGHBORS,
  DEFAULT_NORMAL_RADIUS_M,
  DEFAULT_POISSON_DEPTH,
  MAX_MESH_SOURCES,
  MAX_POISSON_DEPTH,
} from "../limits.ts";
import { checkedByService } from "./documented.ts";
import { Warnings } from "./fields.ts";
import { NumberList, Point, PointList } from "./geometry.ts";
import { fieldsOfMethods, idleByAll, idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";
import { VoxelGrid } from "./voxel-grid.ts";

export const TRIANGULATION_METHODS = ["ball_pivoting", "poisson", "alpha_shape", "delaunay"] as const;

/** Fields of each method. */
const METHOD_FIELDS = {
  ball_pivoting: ["radii", "normal_radius", "normal_max_nn"],
  poisson: ["depth", "normal_radius", "normal_max_nn"],
  alpha_shape: ["alpha"],
  delaunay: [],
};

const TriangulateFields = z
  .object({
    points: PointList.nullish()
      .default(null)
      .describe("(n, 3) inline points, hits only, metres; added to the points of `sources`"),
    source: PointSource.nullish()
      .default(null)
      .describe("points of a session, in true world coordinates; takes precedence over points; misses are never used"),
    sources: z
      .array(PointSource)
      .nullish()
      .default(null)
      .describe(
        `points of several sessions, meshed together with the inline points; takes precedence over source; at most ${MAX_MESH_SOURCES}, more: 400`,
      ),
    method: checkedByService(
      z.string().default("ball_pivoting"),
      z.enum(TRIANGULATION_METHODS).default("ball_pivoting"),
    ).describe(
      "ball_pivoting: a ball rolls over the points; poisson: screened Poisson reconstruction, closed where points support it; alpha_shape: boundary of the tetrahedra that a ball of radius alpha encloses; delaunay: triangulation in x and y with the heights of the points; any other value causes an error in the frame",
    ),
    crop_box: NumberList.nullish()
      .default(null)
      .describe(
        "[min x, min y, min z, max x, max y, max z], metres, frame of the points; faces included; null or empty = no crop; another length causes an error in the frame",
      ),
    crop_box_rotation_deg: z
      .number()
      .nullish()
      .default(null)
      .describe("rotation of the crop box about +z through its centre, degrees, counter-clockwise; null = 0"),
    grid: VoxelGrid.nullish()
      .default(null)
      .describe("keep the triangles whose centroid lies in a cell, and return their cells; null = keep all triangles"),
    radii: NumberList.nullish()
      .default(null)
      .describe(
        "ball_pivoting: radii of the balls, metres, positive; at most 16; null or empty = the median distance to the nearest point times 1, 2 and 4, or, on surfaces with gaps that these balls fall through (rows of a scan far apart), the 90th percentile of the gaps' radii times 1.4 and 2.8; in tiles of their own where the density varies",
      ),
    depth: z
      .number()
      .nullish()
      .default(DEFAULT_POISSON_DEPTH)
      .describe(
        `poisson: deepest level of the octree, 1 to ${MAX_POISSON_DEPTH}: its cells are 1.1 times the longest side / 2^depth wide; default ${DEFAULT_POISSON_DEPTH}; another value causes an error in the frame`,
      ),
    estimate_normals: z
      .boolean()
      .nullish()
      .default(true)
      .describe(
        "ball_pivoting and poisson need normals, which points do not carry: false causes an error in the frame",
      ),
    normal_radius: z
      .number()
      .nullish()
      .default(DEFAULT_NORMAL_RADIUS_M)
      .describe(
        `ball_pivoting, poisson: neighbours for a normal are at most this far away, metres; default ${DEFAULT_NORMAL_RADIUS_M}. If more than 5 % of the points have fewer than three, the nearest normal_max_nn points are used instead, and a warning says so`,
      ),
    normal_max_nn: z
      .number()
      .nullish()
      .default(DEFAULT_NORMAL_NEIGHBORS)
      .describe(`ball_pivoting, poisson: most neighbours for a normal, 3 to 1000; default ${DEFAULT_NORMAL_NEIGHBORS}`),
    alpha: z
      .number()
      .nullish()
      .default(null)
      .describe(
        "alpha_shape: radius of the ball, metres, positive; null = twice the mean distance to the nearest point or, where that is more, 1.4 times the 90th percentile of the radii of the surface's gaps (rows of a scan far apart, points of several scans); 0 or less causes an error in the frame",
      ),
    world_shift: NumberList.nullish()
      .default(null)
      .describe(
        "[x, y, z], metres: subtracted from every vertex in float64, before it is narrowed to float32; null = none; not three finite numbers: 400",
      ),
  })
  .meta({ id: "TriangulateRequest" });
export const TriangulateRequest = withIdleKeys(
  TriangulateFields,
  idleByAll(
    fieldsOfMethods("method", "ball_pivoting", METHOD_FIELDS),
    idleUnless(({ crop_box }) => isSent(crop_box), "crop_box_rotation_deg"),
    idleUnless(({ sources }) => !isSent(sources), "source"),
    idleUnless(({ source, sources }) => !isSent(source) || isSent(sources), "points"),
  ),
);
export type TriangulateRequest = z.infer<typeof TriangulateRequest>;

const common = {
  method_used: z.string().describe("method of the request"),
  warnings: Warnings.optional(),
};

export const MeshRelief = z
  .object({
    flat_share: z
      .number()
      .describe("of the places looked at (4096 vertices at most), where the vertices show a smooth surface, 0..1"),
    area_ratio: z
      .number()
      .describe("area of the triangles there over that of the surface under them, at least 1: noise makes them rough"),
    two_faced_share: z
      .number()
      .describe(
        "of that area, what faces against as much beside it, 0..1: both faces of a leaf, or of the solid that an alpha shape makes of a surface with noise",
      ),
    scatter_m: z.number().describe("of the vertices about the surface, root mean square, metres"),
    spacing_m: z.number().describe("of the vertices on the surface, metres"),
    far_share: z
      .number()
      .describe(
        "share 0..1 of the area of all triangles that is farther from every point than twice the median distance of a point from the 8th place nearest to it: drawn from sparse points, or over a hole",
      ),
  })
  .meta({
    id: "MeshRelief",
    description: "what of the area is noise or counted twice, before the grid; ratios are 1 and 0 without a flat place",
  });

/** Meta of the frame. */
export const TriangulateSuccess = z
  .object({
    ...common,
    success: z.literal(true).describe("the points were meshed"),
    error: z.null().describe("null: success"),
    num_triangles: z.int().describe("number of triangles; 0 if the grid contains none"),
    num_vertices: z.int().describe("number of vertices, including those whose triangles the grid dropped"),
    surface_area: z
      .number()
      .describe(
        "area of the triangles, square metres: with the roughness that noise gives them, and both faces of what is thin (relief)",
      ),
    relief: MeshRelief,
    points_used: z.int().describe("number of points after the crop and the limit max_points"),
    downsampled: z.boolean().describe("whether max_points left points out"),
    oriented_by: z
      .enum(["beam_origins", "centroid", "neighbors"])
      .optional()
      .describe(
        "ball_pivoting, poisson: what told the side of the normals. centroid (ball_pivoting): away from the mean of the points, where neighbours then agree. beam_origins (poisson): where each point was seen from, known for all points (column beam_origins, positions of the scanner); the two faces of a thin wall are then kept apart. Otherwise neighbors: as the neighbours, then outward",
      ),
    radii_m: z
      .array(z.number())
      .optional()
      .describe("ball_pivoting: radii used, metres; absent if the cloud was cut into tiles with their own"),
    tile_count: z.int().optional().describe("ball_pivoting: tiles with radii of their own; 1 = not cut"),
    filled_hole_count: z
      .int()
      .optional()
      .describe(
        "ball_pivoting with automatic radii: holes of at most 48 edges through which the balls fell and that were closed by triangles no wider than a ball of twice the largest radius; given radii leave all holes",
      ),
    depth_used: z
      .int()
      .optional()
      .describe("poisson: deepest level in use; cells are divided only where the points are dense enough"),
    alpha_m: z.number().optional().describe("alpha_shape: radius used, metres"),
    mean_spacing_m: z
      .number()
      .optional()
      .describe("alpha_shape: mean distance from a point to the nearest other one, metres"),
    volume_m3: z
      .number()
      .optional()
      .describe("alpha_shape: volume of the solid part before clean-up and grid, cubic metres"),
    world_shift: Point.describe("metres; coordinates of the points = those of the buffers + world_shift"),
  })
  .meta({ id: "TriangulateSuccess", description: "a mesh of points" });
export type TriangulateSuccess = z.infer<typeof TriangulateSuccess>;

export const TriangulateFailure = z
  .object({
    ...common,
    success: z.literal(false).describe("no mesh was made"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    num_triangles: z.literal(0).describe("0: there is no mesh"),
    num_vertices: z.literal(0).describe("0: there is no mesh"),
    points_used: z.int().optional().describe("number of points after the crop and the limit max_points, where known"),
  })
  .meta({ id: "TriangulateFailure", description: "failure: no mesh was made" });
export type TriangulateFailure = z.infer<typeof TriangulateFailure>;

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);

/** Buffers of the frame; absent on failure. */
export const TriangulateBuffers = z
  .object({
    vertices: buffer("f32 (3 * num_vertices) x, y, z of each vertex, metres, frame of the points minus world_shift"),
    indices: buffer(
      "u32 (3 * num_triangles) vertices of each triangle, from 0: counter-clockwise seen from above (delaunay), from outside (alpha_shape) or from where the normals of the points point to. No edge has more than two triangles, and those run along it in opposite directions: where more met, the mesh was cut, and vertices at one place appear more than once",
    ),
    normals: buffer("f32 (3 * num_vertices) unit normal of each vertex, the mean of its triangles weighted by area"),
    triangle_cell_ids: buffer(
      "u32 (num_triangles) cell of each triangle's centroid, i + nx (j + ny k); only with grid and at least one triangle",
    ),
  })
  .meta({ id: "TriangulateBuffers", description: "arrays of the frame" });

/** Form in which the documentation shows the PHB1 frame. */
export const TriangulateFrame = z
  .object({
    meta: z.discriminatedUnion("success", [TriangulateSuccess, TriangulateFailure]).describe("scalars of the frame"),
    buffers: TriangulateBuffers,
  })
  .meta({ id: "TriangulateFrame", description: "PHB1 frame: scalars and arrays" });
