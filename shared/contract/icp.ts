import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { Warnings } from "./fields.ts";
import { Point } from "./geometry.ts";

/* Fields that the three registrations share. Source: the moving side. Target: the fixed side. */

const IcpMethod = z.enum(["point_to_point", "point_to_plane", "gicp"]);
const IcpInitial = z.enum(["centroid", "auto"]);

/** Tuning of a registration. */
export const IcpTuning = z.object({
  max_correspondence_distance: z
    .number()
    .positive()
    .nullish()
    .default(null)
    .describe(
      "metres; points farther apart are never matched. The residuals narrow this limit during the iterations. null = 5 % of the robust diagonal of the target",
    ),
  max_iterations: z
    .int()
    .min(1)
    .max(100_000)
    .default(100)
    .describe("iterations of all levels of detail together, run in batches of 20; below 20: one batch of that many"),
  rmse_threshold: z
    .number()
    .min(0)
    .default(1e-6)
    .describe("metres; a level of detail ends when a batch lowers its RMSE by less"),
  method: IcpMethod.default("gicp").describe(
    "gicp: plane to plane, the most accurate; point_to_plane: faster; point_to_point: for clouds without surfaces, needs a close start and almost full overlap",
  ),
  initial: IcpInitial.nullish()
    .default(null)
    .describe(
      "start of the iterations. centroid: centroid on centroid, or as the sides were sent if that fits better, for sides that are roughly aligned; auto: searched among all turns and shifts by matching the shape of the surfaces, for sides that overlap by about a third or more; where the search finds nothing, as centroid, with a warning. null = centroid; if the surfaces do not prove the pose right, it is checked by that search, and where that finds a pose at which the sides fit better and no other one comes near it, the iterations begin anew there, with a warning (not together with max_correspondence_distance)",
    ),
});
export type IcpTuning = z.infer<typeof IcpTuning>;

const IcpIteration = z
  .object({
    voxel_m: z.number().describe("edge of the voxels whose means were matched, metres; 0 = all points"),
    limit_m: z.number().describe("distance beyond which points were not matched, metres"),
    rmse: z.number().describe("root mean square distance of the matched points before the step, metres; 0 without any"),
    pair_count: z.int().describe("points of the source that were matched"),
  })
  .meta({ id: "IcpIteration", description: "one iteration of a registration" });

const FreeMotion = z
  .object({
    turn: Point.describe("rotation vector (axis times angle, scaled by the radius of the source): metres, relative"),
    shift: Point.describe("shift, metres, relative; turn and shift together have length 1"),
  })
  .meta({ id: "FreeMotion", description: "the motion that the surfaces hold least" });

const GlobalAlignment = z
  .object({
    outcome: z
      .enum(["found", "ambiguous", "none"])
      .describe(
        "found: the pose has at least 1.5 times the agreement of any other one; ambiguous: another one comes closer, as for symmetric shapes; none: no pose stands out from poses taken at random, so the start is that of centroid",
      ),
    voxel_m: z.number().describe("edge of the voxels at which the poses were compared, metres; 0 = too few points"),
    agreement: z
      .number()
      .describe(
        "share 0..1 of the surface of the source that lies on the target at the start pose, to half a voxel and 30 degrees; common directions of the surface count less, so that ground or a wall does not outvote the rest",
      ),
    rival_agreement: z.number().describe("the same of the next other pose; 0 without one"),
    rival_turn_deg: z.number().describe("turn from the start pose to that one, degrees"),
    rival_shift_m: z.number().describe("shift of the centroid of the source from the start pose to that one, metres"),
    match_count: z.int().describe("places of the two sides that were matched by shape"),
    consensus_count: z.int().describe("of these, how many the best pose brings within 1.5 voxels"),
  })
  .meta({ id: "GlobalAlignment", description: "search for a start among all turns and shifts" });

const PoseCheck = z
  .object({
    verdict: z
      .enum(["confirmed", "contradicted", "undecided"])
      .describe(
        "confirmed: the search finds this pose, and no other one comes near it; contradicted: it finds another one, at which the sides fit better; undecided: no pose stands out, or none that fits better than this one",
      ),
    turn_deg: z
      .number()
      .describe("turn from this pose to the one that was found, degrees; 0 if they are the same or none was found"),
    shift_m: z
      .number()
      .describe(
        "shift of the middle of the source from this pose to that one, metres; 0 if they are the same or none was found",
      ),
    agreement: z.number().describe("agreement 0..1 of the pose that was found, as in global_alignment"),
    rival_agreement: z.number().describe("the same of the next other pose; 0 without one"),
  })
  .meta({ id: "PoseCheck", description: "what a search among all turns and shifts says of a pose" });

const SurfaceAgreement = z
  .object({
    agreement: z
      .number()
      .describe(
        "of the flat places where both sides have a surface, the share 0..1 where it is the same one: within a fifth of the radius of 20 neighbours and 25 degrees; 0 without any. Common directions count less, so that ground or a wall, which lies on itself in many poses, does not outvote the rest. What only one side has, as with partial overlap, does not count",
      ),
    covered: z
      .number()
      .describe("share 0..1 of the flat surface of the source that has a surface of the target within 3 such radii"),
    place_count: z.int().describe("places compared, of both sides; few in foliage and in small clouds"),
    flat_count: z.int().describe("flat places of the source, up to 2000, whether or not they face a surface"),
  })
  .meta({ id: "SurfaceAgreement", description: "whether the sides show the same surfaces where they overlap" });

export const IcpSuccess = z
  .object({
    success: z.literal(true).describe("a pose was found; quality_warning and warnings tell whether to trust it"),
    error: z.null().describe("null: success"),
    transformation_matrix: z
      .array(z.number())
      .length(16)
      .describe(
        "rigid transform of the original source onto the target, 4 x 4 row-major, metres, in the common frame of both sides",
      ),
    translation: Point.describe("last column of the matrix, metres"),
    fitness: z
      .number()
      .describe(
        "share 0..1 of the source points with a target point within max_correspondence_distance; 1 is no proof of a right pose",
      ),
    rmse: z.number().describe("root mean square distance of these points to the target points, metres"),
    iterations: z.int().describe("upper bound of the iterations done: batches run times their length"),
    rmse_ratio: z.number().nullable().describe("rmse over the robust diagonal of the target; null if that is 0"),
    quality_warning: z
      .string()
      .nullable()
      .describe(
        "the pose is probably wrong: nothing overlaps; or where both sides have a surface it is not the same one, or hardly any surface of the source faces one of the target (surface_agreement); or rmse_ratio exceeds 0.02, unless initial: auto found the pose, no other one comes near it, and the surfaces agree, as with partial overlap; or a search found another pose at which the sides fit better (pose_check). A pose that the search confirms is not called wrong. null = nothing of this",
      ),
    method: IcpMethod.describe("method used"),
    start: z
      .enum(["centroid", "as_placed", "init_transform", "global"])
      .describe(
        "where the iterations began: centroid on centroid; as the sides were sent, which fitted better; init_transform; the pose that initial: auto found",
      ),
    global_alignment: GlobalAlignment.nullable().describe("with initial: auto, what was found; otherwise null"),
    iterations_done: z.int().describe("iterations done"),
    converged: z.boolean().describe("the last step at full detail was below 1e-4 of the point spacing"),
    kept_start: z
      .boolean()
      .describe("the iterations led to a pose that fits worse than the start: the matrix is that of the start"),
    correspondence_limit: z.number().describe("max_correspondence_distance in effect, metres"),
    final_limit: z.number().describe("limit at the end, narrowed by the residuals, metres"),
    overlap: z.number().describe("share 0..1 of the source points with a target point within final_limit"),
    overlap_rmse: z.number().describe("root mean square distance of the points that overlap, metres"),
    conditioning: z
      .number()
      .describe(
        "smallest over largest eigenvalue of the point-to-plane equations at the pose, turns scaled by the radius of the source: near 0, free_motion changes nothing that was measured",
      ),
    free_motion: FreeMotion.describe("the motion that the surfaces hold least"),
    surface_agreement: SurfaceAgreement.describe("how well the sides agree where they overlap, at the pose"),
    pose_check: PoseCheck.nullable().describe(
      "what a search among all turns and shifts says of the pose; null = none was needed, as at least 100 flat places face each other, no small part, 80 % of their surface is the same one (surface_agreement), and the pose has settled",
    ),
    history: z.array(IcpIteration).describe("the iterations, coarse to fine"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "IcpSuccess", description: "pose of a registration and how well it fits" });
export type IcpSuccess = z.infer<typeof IcpSuccess>;

export const IcpFailure = z
  .object({
    success: z.literal(false).describe("no pose was found"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "IcpFailure", description: "failure: no pose was found" });

/** JSON tail of a registration. */
export const IcpTail = z
  .discriminatedUnion("success", [IcpSuccess, IcpFailure])
  .meta({ id: "IcpTail", description: "result of a registration" });
export type IcpTail = z.infer<typeof IcpTail>;
