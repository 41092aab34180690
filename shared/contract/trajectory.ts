import { z } from "zod";
import { DEFAULT_TARGET_POSES, MAX_TARGET_POSES } from "../limits.ts";
import { Trajectory } from "./cloud-session/create.ts";
import { Warnings } from "./fields.ts";
import { Point } from "./geometry.ts";

const { poses, frame, lever_arm, boresight_rpy, source_format } = Trajectory.shape;

/** Poses of a moving scanner in a request. The attitude is a Hamilton quaternion from body to world, scalar last. */
export const PoseStream = z
  .object({
    poses: poses.describe("poses with strictly increasing times; before the first and after the last, that one holds"),
    frame: frame
      .partial()
      .nullish()
      .default(null)
      .describe("reference systems of the poses, for information: attitudes are taken as they are"),
    lever_arm: Point.default([0, 0, 0]).describe(`${lever_arm.description}; default [0, 0, 0]`),
    boresight_rpy: Point.default([0, 0, 0]).describe(`${boresight_rpy.description}; default [0, 0, 0]`),
    source_format: source_format.default("pose_csv").describe(`${source_format.description}; default pose_csv`),
  })
  .meta({
    id: "PoseStream",
    description: "poses of a moving scanner: positions are interpolated linearly, attitudes by SLERP",
  });
export type PoseStream = z.infer<typeof PoseStream>;

export const TrajectoryParseRequest = z
  .object({
    path: z.string().describe("absolute path of the trajectory on the service's machine; ~ is the user's home folder"),
    format: z
      .string()
      .nullish()
      .default(null)
      .describe("sbet or out, in any case: both are SBET; null = the extension of the path; anything else: 400"),
    smrmsg_path: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "accuracy file of the trajectory (SMRMSG): its worst position error is reported in warnings; a file that cannot be read is reported there too",
      ),
    target_poses: z
      .int()
      .min(2)
      .max(MAX_TARGET_POSES)
      .default(DEFAULT_TARGET_POSES)
      .describe(
        `number of poses to thin out to: every ceil(n / target_poses)-th record is kept, and the last one; default ${DEFAULT_TARGET_POSES}`,
      ),
  })
  .meta({ id: "TrajectoryParseRequest" });
export type TrajectoryParseRequest = z.infer<typeof TrajectoryParseRequest>;

export const TrajectoryParseResponse = Trajectory.extend({
  warnings: Warnings,
}).meta({
  id: "TrajectoryParseResponse",
  description:
    "pose stream of a trajectory file: UTM eastings and northings, ellipsoid heights; attitudes count from true north, and a warning tells how far the north of the grid lies from it",
});
export type TrajectoryParseResponse = z.infer<typeof TrajectoryParseResponse>;
