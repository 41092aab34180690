import { z } from "zod";
import { BulkNumbers } from "./geometry.ts";
import { LeafFields, LeafMeshFields } from "./qsm-leaves.ts";
import { QsmFields } from "./qsm-phyllotaxis.ts";
import { VoxelGrid } from "./voxel-grid.ts";

export const CellTarget = z
  .object({
    cell_id: z.int().min(0).describe("cell of the grid, i + nx (j + ny k)"),
    beta_mu: z
      .number()
      .positive()
      .describe("beta distribution of the inclination t (0..90 degrees): exponent of 1 - t / 90, plus one"),
    beta_nu: z.number().positive().describe("exponent of t / 90, plus one; the mean is 90 nu / (mu + nu) degrees"),
    ecc: z.number().min(0).lt(1).describe("eccentricity of the ellipse of azimuths, 0..1; 0 = uniform"),
    phi0_deg: z.number().describe("bearing of the long axis of that ellipse, degrees, clockwise from +y"),
    n_measured: z.int().min(0).default(0).describe("triangles that the target comes from"),
  })
  .meta({ id: "CellTarget", description: "distribution of leaf angles in a cell" });
export type CellTarget = z.infer<typeof CellTarget>;

const optional = (what: string) => BulkNumbers.nullish().default(null).describe(what);
const CELLS = "(T) cell of each triangle, i + nx (j + ny k); -1 and 4294967295 = in none";
const SEEN =
  "checked, and without effect: an azimuth and its opposite count as one, so the side from which a leaf was seen plays no part";

export const LeafTriangulation = z
  .object({
    vertices: BulkNumbers.describe("(3 * V) x, y, z of each vertex, metres, frame of the model"),
    indices: BulkNumbers.describe("(3 * T) vertices of each triangle, from 0"),
    triangle_cell_ids: BulkNumbers.describe(CELLS),
    triangle_scan_ids: optional(`(T) scan that saw each triangle, from 0; ${SEEN}`),
    scan_origins: optional(`(3 * S) scanner positions, metres; ${SEEN}`),
    grid: VoxelGrid.describe("cells of the triangles and of the leaves"),
  })
  .meta({ id: "LeafTriangulation", description: "triangles of a scan with leaves, and their cells" });
export type LeafTriangulation = z.infer<typeof LeafTriangulation>;

const frameOnly = "PHB1 form of triangulation";

export const LeafAnglesRequest = z
  .object({
    ...QsmFields,
    ...LeafFields,
    triangulation: LeafTriangulation.nullish()
      .default(null)
      .describe("triangles whose angles the leaves of each cell take; replaces cell_targets"),
    cell_targets: z
      .array(CellTarget)
      .nullish()
      .default(null)
      .describe("distributions instead of triangles; needs grid"),
    grid: VoxelGrid.nullish().default(null).describe("cells of cell_targets; 400 if its sizes or lists are wrong"),
    seed: z
      .int()
      .min(0)
      .max(2 ** 32)
      .default(0)
      .describe("same seed, same angles"),
    max_cell_leaves: z
      .int()
      .min(1)
      .nullable()
      .default(4000)
      .describe(
        "most leaves of a cell that are turned, chosen at random, with a warning; the time of a cell grows with the cube of them. null = all",
      ),
    tin_vertices: optional(`${frameOnly}: (3 * V) x, y, z of each vertex, metres`),
    tin_indices: optional(`${frameOnly}: (3 * T) vertices of each triangle, from 0`),
    tin_cell_ids: optional(`${frameOnly}: ${CELLS}`),
    tin_scan_ids: optional(`${frameOnly}: (T) scan of each triangle; ${SEEN}`),
    tin_scan_origins: optional(`${frameOnly}: (3 * S) scanner positions, metres; ${SEEN}`),
    grid_for_triangulation: VoxelGrid.nullish().default(null).describe(`${frameOnly}: its grid`),
  })
  .meta({ id: "LeafAnglesRequest" });
export type LeafAnglesRequest = z.infer<typeof LeafAnglesRequest>;

export const LeafAnglesResponse = z
  .object({
    ...LeafMeshFields,
    cell_targets: z
      .array(CellTarget)
      .nullable()
      .describe("distributions that were used: those of the request, or fitted to the triangles"),
    adjusted_count: z.int().describe("leaves that were turned"),
    cell_count: z.int().describe("cells with leaves and a distribution"),
  })
  .meta({ id: "LeafAnglesResponse", description: "mesh of leaves with the angles of measured ones" });
export type LeafAnglesResponse = z.infer<typeof LeafAnglesResponse>;
