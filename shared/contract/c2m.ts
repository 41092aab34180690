import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { MAX_DISTANCE_BANDS } from "../limits.ts";
import { Warnings } from "./fields.ts";
import { BulkNumbers, NumberList } from "./geometry.ts";
import { IcpTuning } from "./icp.ts";
import { pointsOfSource, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";

/** A mesh as flat lists. The service refuses wrong lengths and indices with a sentence (400). */
const meshVertices = BulkNumbers.describe(
  "(3 * V) x, y, z of each vertex in turn, metres, in the frame of the points; any other length: 400; empty: an error in the tail",
);
const meshIndices = BulkNumbers.describe(
  "(3 * T) vertices of each triangle, from 0; any other length, or an index beyond the vertices: 400; empty: an error in the tail",
);

const DistanceRequestObject = z
  .object({
    points: BulkNumbers.nullish()
      .default(null)
      .describe(
        "(3 * n) x, y, z of each point in turn, metres; a cluster at 800 m or more from the other points, beyond a gap of three times their radius, is left out as sky",
      ),
    source: PointSource.nullish()
      .default(null)
      .describe("points of a session, in true world coordinates; takes precedence over points; misses are never used"),
    mesh_vertices: meshVertices,
    mesh_indices: meshIndices,
    signed: z
      .boolean()
      .default(false)
      .describe("true: also compute the statistics of distances that are negative inside a closed mesh"),
    bands_m: NumberList.nullish()
      .default(null)
      .describe(
        `distances to count the points up to, metres, at least 0, at most ${MAX_DISTANCE_BANDS}; null = only the usual bands; others: 400`,
      ),
    write_column: z
      .boolean()
      .default(false)
      .describe(
        "true: also store the distance of each point as scalar column mesh_distance of the session (f32, metres; negative inside the mesh with signed, where sign_defined; NaN: misses and deleted points), replacing an earlier one. The octree lacks it until rebuild_octree. Without source, or with max_points: 400",
      ),
  })
  .meta({ id: "DistanceRequest" });
export const DistanceRequest = withIdleKeys(DistanceRequestObject, pointsOfSource);
export type DistanceRequest = z.infer<typeof DistanceRequest>;

/** Moves the mesh onto the points. */
const MeshRegisterRequestObject = IcpTuning.extend({
  points: DistanceRequest.shape.points,
  source: DistanceRequest.shape.source,
  mesh_vertices: meshVertices,
  mesh_indices: meshIndices,
}).meta({ id: "MeshRegisterRequest" });
export const MeshRegisterRequest = withIdleKeys(MeshRegisterRequestObject, pointsOfSource);
export type MeshRegisterRequest = z.infer<typeof MeshRegisterRequest>;

const metres = (what: string) => z.number().describe(`${what}, metres`);
const share = (threshold: string) =>
  z
    .number()
    .describe(
      `points whose distance is at most ${threshold} of the diagonal of the box of the measured points, percent 0..100`,
    );

const DistanceHistogram = z
  .object({
    bin_width_m: z.number().describe("width of a bin, metres; bin i begins at i * bin_width_m"),
    counts: z.array(z.int()).describe("(64) points per bin; the largest distance counts in the last one"),
  })
  .meta({ id: "DistanceHistogram", description: "distribution of the distances from 0 to the largest" });

const DistanceBand = z
  .object({
    limit_m: z.number().describe("threshold as requested, metres"),
    percent: z.number().describe("points whose distance is at most limit_m, percent 0..100"),
  })
  .meta({ id: "DistanceBand", description: "share of the points within a distance" });

const Spread = z.object({
  mean_distance: metres("mean"),
  rmse: metres("root mean square"),
  std_deviation: metres("standard deviation of the population"),
  min_distance: metres("smallest distance"),
  max_distance: metres("largest distance"),
  median_distance: metres("median"),
  percentile_90: metres("90th percentile, interpolated linearly"),
  percentile_95: metres("95th percentile, interpolated linearly"),
  percentile_99: metres("99th percentile, interpolated linearly"),
  points_within_1mm: share("0.1 %"),
  points_within_5mm: share("0.5 %"),
  points_within_10mm: share("1 %"),
  band_thresholds_m: z
    .tuple([z.number(), z.number(), z.number()])
    .describe("distances that points_within_1mm, _5mm and _10mm count up to, metres: the names are not their values"),
  bands: z.array(DistanceBand).optional().describe("with bands_m: their shares, in the order of the request"),
  histogram: DistanceHistogram.describe("distribution of the distances"),
});

export const DistanceSuccess = Spread.extend({
  success: z.literal(true).describe("the distances were computed"),
  error: z.null().describe("null: success"),
  point_count: z.int().describe("number of points measured"),
  sign_defined: z
    .boolean()
    .optional()
    .describe("with signed: whether inside and outside are defined; false for a mesh that is not closed"),
  signed_mean: z
    .number()
    .nullable()
    .optional()
    .describe("with signed: mean of the distances, negative inside, metres; null without sign_defined"),
  signed_std: z
    .number()
    .nullable()
    .optional()
    .describe("with signed: standard deviation of these distances (population), metres; null without sign_defined"),
  column: z
    .literal("mesh_distance")
    .optional()
    .describe("with write_column: name of the column with the distances; the octree lacks it until rebuild_octree"),
  warnings: Warnings.optional(),
}).meta({ id: "DistanceSuccess", description: "unsigned distances from points to the closest place of the mesh" });
export type DistanceSuccess = z.infer<typeof DistanceSuccess>;

export const DistanceFailure = z
  .object({
    success: z.literal(false).describe("no distances were computed"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "DistanceFailure", description: "failure: no distances were computed" });

/** JSON tail of a cloud-to-mesh distance. */
export const DistanceTail = z
  .discriminatedUnion("success", [DistanceSuccess, DistanceFailure])
  .meta({ id: "DistanceTail", description: "result of a cloud-to-mesh distance" });
export type DistanceTail = z.infer<typeof DistanceTail>;
