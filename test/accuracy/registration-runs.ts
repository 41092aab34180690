// Single registrations of two clouds, each with the check of its pose as the service makes it.
import type { IcpMethod, IcpPose } from "../../backend/native/registration.ts";
import {
  type IcpCheck,
  icpAdvance,
  icpCheck,
  icpPrepare,
  icpRelease,
  icpResult,
} from "../../backend/native/registration.ts";
import { needsSearch, qualityWarning, rmseRatio } from "../../backend/services/registration/icp-warnings.ts";
import { positions } from "./native.ts";
import { composed, placed } from "./pose-errors.ts";

/** Whether the answer calls a pose wrong, or says that another one was kept instead. */
export const isNamed = (pose: CheckedPose) =>
  (pose.kept_start && pose.check?.verdict !== "confirmed") ||
  qualityWarning(pose, rmseRatio(pose), pose.check) !== null;

/** A pose, and what a search among all poses says of it where its surfaces do not prove it right. */
export interface CheckedPose extends IcpPose {
  readonly check: IcpCheck | null;
}

/** From a start, or with null searched. */
export async function register(
  sides: readonly [Float64Array, Float64Array],
  method: IcpMethod,
  start: readonly number[] | null,
): Promise<CheckedPose> {
  const [fixed, moving] = sides.map((xyz) => ({
    positions: positions(xyz),
    skip: null,
    shift: [0, 0, 0] as const,
    stride: 1,
  }));
  if (!fixed || !moving) throw new Error("two sides are needed");
  const initial = start ? ("centroid" as const) : ("auto" as const);
  const tuning = { max_correspondence_distance: null, rmse_threshold: 1e-6, max_iterations: 100 };
  const params = { method, initial, start, ...tuning };
  const registration = await icpPrepare(fixed, moving, params).promise;
  try {
    while (!(await icpAdvance(registration, 20).promise).finished);
    const pose = await icpResult(registration).promise;
    return { ...pose, check: needsSearch(pose) ? await icpCheck(registration).promise : null };
  } finally {
    icpRelease(registration);
    for (const { positions: column } of [fixed, moving]) column.release();
  }
}

/** The motion of the source at its place to the target, found from the source as a start moves it. */
export async function searched(
  sides: readonly [Float64Array, Float64Array],
  start: readonly number[],
): Promise<CheckedPose> {
  const moved = Float64Array.from(sides[1]);
  for (let i = 0; i < moved.length; i += 3)
    moved.set(placed(start, [moved[i] ?? 0, moved[i + 1] ?? 0, moved[i + 2] ?? 0]), i);
  const pose = await register([sides[0], moved], "gicp", null);
  return { ...pose, matrix: composed(pose.matrix, start) };
}
