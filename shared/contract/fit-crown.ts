import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { MAX_FITTED_CROWNS, MAX_INSTANCE } from "../limits.ts";
import { checkedByService } from "./documented.ts";
import { Warnings } from "./fields.ts";
import { Point } from "./geometry.ts";
import { PointSource } from "./point-source.ts";

export const CROWN_SHAPES = ["ellipsoid", "prism", "cone", "alpha"] as const;
export type CrownShape = (typeof CROWN_SHAPES)[number];

export const CrownRequest = z
  .object({
    source: PointSource.describe(
      "session with the points and their labels (tree_instance, ground_class, wood_class); misses are never used",
    ),
    shape: checkedByService(z.string(), z.enum(CROWN_SHAPES)).describe(
      "ellipsoid: axes along x, y and z; prism: axis-aligned box; cone: upright, apex above its base; alpha: the solid that a ball of radius alpha cannot enter from outside, smoothed; any other value: 400",
    ),
    strictness: z
      .number()
      .default(0.5)
      .transform((value) => Math.min(1, Math.max(0, value)))
      .describe(
        "0..1, clamped. 0: the smallest solid that encloses every crown point. Above: at most the share 0.25 * strictness of them may lie outside, and only as far as each share left outside reduces the volume by at least four times that share, as strays do. Crowns of up to 20 points enclose them all. alpha without a given radius: the same share may lie outside",
      ),
    use_leaf_only: z
      .boolean()
      .default(false)
      .describe("true: only points with wood_class 2 are crown points, if the session has that column"),
    tree_instance_ids: z
      .array(z.int().min(1).max(MAX_INSTANCE))
      .nullish()
      .default(null)
      .describe(
        `trees to fit, by their tree_instance, at most ${MAX_FITTED_CROWNS} (more: 400); null, empty or a session without that column: the whole cloud is one tree`,
      ),
    ground_baseline: z
      .enum(["min_z", "ground_class"])
      .default("min_z")
      .describe(
        "where tree_height_m begins. min_z: the lowest point of the tree; ground_class: its lowest point with ground_class 1, else the lowest such point of the cloud in its horizontal extent, else as min_z",
      ),
    alpha: z
      .number()
      .nullish()
      .default(null)
      .describe(
        "alpha: radius of the ball, metres, > 0; null = the first of 3, 4, 5, 6, 8, 10, 14 and 20 mean distances to the nearest point whose solid is watertight and holds enough points; at 6 and 8, points that fill the solid evenly suffice. Where they do, the mesh is moved outward by the layer in which none of them happens to lie, a fraction of their spacing, so that its volume is that of what they fill; with a given alpha it is not. With another shape: 400",
      ),
  })
  .meta({ id: "CrownRequest" });
export type CrownRequest = z.infer<typeof CrownRequest>;

const metres = (what: string) => z.number().describe(`${what}, metres`);

export const CrownMetrics = z
  .object({
    tree_height_m: metres("highest enclosed crown point above the baseline"),
    crown_volume_m3: z.number().describe("volume of the solid, not of its mesh, cubic metres; alpha: of the mesh"),
    crown_center: Point.describe("centre of the solid's box, world frame, metres"),
    crown_dims_m: Point.describe("extents of the solid's box along x, y and z, metres"),
    crown_base_z: metres("lowest z of the solid, world frame"),
    crown_top_z: metres("highest z of the solid, world frame; the apex of a cone lies above the highest point"),
    surface_area_m2: z
      .number()
      .describe("surface of the solid, the base of a cone included, square metres; alpha: of the mesh"),
    num_points_used: z
      .int()
      .describe("crown points that the solid encloses; alpha: before smoothing, points at one place counted once"),
    num_vertices: z.int().describe("vertices of the mesh"),
    num_triangles: z.int().describe("triangles of the mesh"),
  })
  .meta({ id: "CrownMetrics", description: "metrics of one crown" });

const BoxParams = z
  .object({
    a_m: metres("semi-axis of an ellipsoid or half-extent of a prism along x"),
    b_m: metres("the same along y"),
    c_m: metres("the same along z"),
  })
  .meta({ id: "CrownBoxParams", description: "ellipsoid and prism" });
const ConeParams = z
  .object({ base_radius_m: metres("radius of the base"), height_m: metres("from the base to the apex") })
  .meta({ id: "CrownConeParams", description: "cone" });
const AlphaParams = z
  .object({
    alpha_m: metres("radius of the ball"),
    alpha_auto: z.boolean().describe("the radius was not given"),
    watertight: z.boolean().describe("every edge of the mesh joins two triangles; false: some edges join four or more"),
  })
  .meta({ id: "CrownAlphaParams", description: "alpha" });

export const FittedCrown = z
  .object({
    tree_instance_id: z.int().describe("tree; 0 = the whole cloud"),
    shape: z.enum(CROWN_SHAPES).describe("shape of the solid"),
    vertices: z.array(z.number()).describe("(3 * num_vertices) x, y, z of each vertex in turn, world frame, metres"),
    triangles: z
      .array(z.int())
      .describe("(3 * num_triangles) vertices of each triangle, from 0, counter-clockwise seen from outside; closed"),
    normals: z
      .array(z.number())
      .describe("(3 * num_vertices) outward unit normal of each vertex, rounded to six decimals"),
    metrics: CrownMetrics.describe("metrics of the crown"),
    params: z
      .union([BoxParams, ConeParams, AlphaParams])
      .describe(
        "ellipsoid and prism: a_m, b_m, c_m; cone: base_radius_m, height_m; alpha: alpha_m, alpha_auto, watertight",
      ),
  })
  .meta({ id: "FittedCrown", description: "the crown of one tree: a solid, its mesh and its metrics" });
export type FittedCrown = z.infer<typeof FittedCrown>;

export const CrownSuccess = z
  .object({
    success: z.literal(true).describe("at least one crown was fitted"),
    error: z.null().describe("null: success"),
    crowns: z.array(FittedCrown).describe("one per fitted tree, in the order of tree_instance_ids"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "CrownSuccess", description: "fitted crowns" });
export type CrownSuccess = z.infer<typeof CrownSuccess>;

export const CrownFailure = z
  .object({
    success: z.literal(false).describe("no crown was fitted"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    crowns: z.tuple([]).describe("empty"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "CrownFailure", description: "failure: no crown was fitted" });

/** JSON tail of a crown fit. */
export const CrownTail = z
  .discriminatedUnion("success", [CrownSuccess, CrownFailure])
  .meta({ id: "CrownTail", description: "result of a crown fit" });
export type CrownTail = z.infer<typeof CrownTail>;
