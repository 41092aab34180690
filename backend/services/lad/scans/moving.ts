import type { PoseStream } from "../../../../shared/contract/trajectory.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import { type TrajectoryJoin, trajectoryJoin } from "../../../native/lad.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import type { BeamRows } from "../../run/beam-origins.ts";
import { rowOriginWarnings } from "../../run/origin-warnings.ts";
import { numbersColumn } from "../../run/points.ts";

const WEEK_S = 604_800;
/** Adjusted GPS time is GPS time less this, ASPRS LAS 1.4. */
const ADJUSTED_S = 1e9;
/** A smaller share of pulses within the trajectory is told. */
const COVERED_SHARE = 0.98;

/** The beam origins of a moving scan; the run owns the column. */
export interface MovingOrigins {
  readonly origins: NativeColumn;
  readonly warnings: readonly string[];
}

/**
 * Beam origins from a trajectory, less the shift of the scan; warns if the returns of pulses contradict them. Errors:
 * invalid_argument without usable times, for clocks that do not match and for poses that make no trajectory.
 */
export async function movingOrigins(
  rows: Omit<BeamRows, "origins">,
  trajectory: PoseStream,
  job: Job,
): Promise<MovingOrigins> {
  const { name, times, shift } = rows;
  if (!times) throw refused(`${name} has a trajectory but no time stamps, so the origins of its beams are not known.`);
  const flat = trajectory.poses.flatMap(({ t, x, y, z, qx, qy, qz, qw }) => [t, x, y, z, qx, qy, qz, qw]);
  const poses = job.adopt(numbersColumn(flat)).native;
  const params = { lever_arm: trajectory.lever_arm, shift };
  const joined = await job.quiet().track(() => trajectoryJoin(times, poses, params));
  const origins = job.adopt(new ColumnRef(joined.origins)).native;
  if (joined.untimed_count > 0) {
    throw refused(`${name} has ${joined.untimed_count} NaN time stamps; a moving scan needs one for every pulse.`);
  }
  const [first, last] = [trajectory.poses[0]?.t ?? 0, trajectory.poses.at(-1)?.t ?? 0];
  if (times.length > 0 && joined.outside_count === times.length) throw clocksApart(name, joined, first, last);
  const covered = times.length === 0 ? 1 : 1 - joined.outside_count / times.length;
  const share = (100 * covered).toFixed(1);
  const warnings =
    covered < COVERED_SHARE
      ? [`The trajectory of ${name} covers ${share} % of its points; the others get its first or last place.`]
      : [];
  warnings.push(...(await rowOriginWarnings({ ...rows, origins }, { poses, ...params }, job)));
  return { origins, warnings };
}

const refused = (message: string) => new AppError("invalid_argument", message);

/** Why no time stamp lies within the trajectory. */
function clocksApart(
  name: string,
  { first_time_s, last_time_s }: TrajectoryJoin,
  first: number,
  last: number,
): AppError {
  const [from, to] = [first_time_s ?? Number.NaN, last_time_s ?? Number.NaN];
  const offset = (from + to) / 2 - (first + last) / 2;
  const slack = Math.max(last - first, to - from) + 3600;
  const weeks = Math.round(offset / WEEK_S);
  const spans = `The time stamps of ${name} run from ${from} to ${to} s, its trajectory from ${first} to ${last} s`;
  if (Math.abs(Math.abs(offset) - ADJUSTED_S) <= slack) {
    return refused(
      `${spans}: they differ by ${offset.toFixed(0)} s, about 1e9. One of them is in adjusted GPS time; add or subtract 1e9 s.`,
    );
  }
  if (weeks !== 0 && slack < WEEK_S / 2 && Math.abs(offset - weeks * WEEK_S) <= slack) {
    return refused(
      `${spans}: they differ by ${weeks} weeks of 604800 s. One of them counts from the beginning of its week; shift it by ${weeks * WEEK_S} s.`,
    );
  }
  const gap = from > last ? from - last : first - to;
  return refused(
    `${spans}: they do not overlap, the gap is ${Number(gap.toPrecision(9))} s. Are they of one flight and one clock?`,
  );
}
