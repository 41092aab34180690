import type { Job } from "../../jobs/job.ts";
import { type FittedTrajectory, missSphere, type OriginFit, originFit } from "../../native/beam-origins.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { Triple } from "../../sessions/column-names.ts";

/*
 * A beam ends at a hit whatever its origin, so nothing else tells a wrong one. The returns of a pulse lie on its beam, and
 * misses are placed at one distance from their scanner: both tell where the beams come from.
 */

/** Origins that are nearer to where the beams come from are not told, metres. */
const LEAST_SHIFT_M = 0.1;
/** Standard errors that tell a shift. */
const SURE = 6;
/** What explains the returns makes their distances from the beams smaller by this factor. */
const EXPLAINS = 3;
/** Returns farther beside their beams are told even if nothing explains it, metres. */
const LARGE_OFF_M = 0.1;
const FEWEST_MISSES = 100;
/** Part of the radius of a sphere of misses; beyond, the sphere is one through a plane, where misses were cut off. */
const INSIDE = 0.5;

/** Of rows with origins. */
export interface BeamRows {
  /** "Scan 2", or its label. */
  readonly name: string;
  readonly positions: NativeColumn;
  readonly is_miss: NativeColumn | null;
  readonly times: NativeColumn | null;
  readonly target_index: NativeColumn | null;
  /** One for all, or one each. */
  readonly origins: NativeColumn;
  /** From the frame of the positions to that of the request. */
  readonly shift: Triple;
}

const rounded = (metres: number) => Number(metres.toPrecision(3));
const beside = (metres: number) => `${Number(metres.toPrecision(2)) < 0.001 ? "less than 0.001" : rounded(metres)} m`;
const place = (at: Triple) => at.map((value) => Number(value.toFixed(2))).join(", ");
const lengthOf = (v: Triple) => Math.hypot(...v);
const plus = (a: Triple, b: Triple): Triple => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

/** Where the origins are from: the request, a trajectory, or the rows. Stored frame. */
type From = { readonly origin?: Triple; readonly trajectory?: FittedTrajectory };

/** Warns of beams that do not come from where they are taken to begin. */
export async function beamOriginWarnings(rows: BeamRows, from: From, job: Job): Promise<string[]> {
  const { times, target_index, is_miss } = rows;
  const { origin, trajectory = null } = from;
  if (times && target_index) {
    const fit = await job.quiet().track(() => originFit({ ...rows, times, target_index }, trajectory));
    const told = fitWarnings(rows, fit, from);
    if (told.length > 0) return told;
  }
  return origin && is_miss ? sphereWarnings(rows, is_miss, origin, job) : [];
}

function fitWarnings({ name, shift: frame }: BeamRows, fit: OriginFit, { origin, trajectory }: From): string[] {
  const { line_count, off_m, shift, shift_error_m, shifted_off_m, clock } = fit;
  if (line_count === 0) return [];
  const told = `${name}: the returns of pulses that have several do not lie on their beams, as these are taken to begin, but ${beside(off_m)} beside them (median of ${line_count} pulses)`;
  const clock_off = clock?.off_m ?? Number.POSITIVE_INFINITY;
  if (
    clock &&
    (clock.moved_m ?? 0) >= LEAST_SHIFT_M &&
    clock_off < Math.min(off_m / EXPLAINS, shifted_off_m, LARGE_OFF_M)
  )
    return [
      `${told}. With ${Number(clock.clock_s.toFixed(3))} s added to the times of the points it is ${beside(clock_off)}, and the origins move by ${rounded(clock.moved_m ?? 0)} m: the clocks of points and trajectory differ. GPS time is ahead of UTC by leap seconds, by 18 s since 2017.`,
    ];
  const what = origin ? "the origin" : trajectory ? "the trajectory" : "the beam origins";
  const far = lengthOf(shift);
  const meet = shifted_off_m < Math.min(off_m / EXPLAINS, LARGE_OFF_M);
  if (meet && far >= LEAST_SHIFT_M && far > SURE * shift_error_m) {
    const moved = `they meet ${rounded(far)} m from there`;
    if (origin)
      return [
        `${told}: ${moved}, at ${place(plus(plus(origin, shift), frame))}. Is the origin that of this scan, in the frame of its points?`,
      ];
    return [
      `${told}: ${moved}, moved by ${place(shift)}. Do ${what} and the points have one coordinate system, heights of one kind (above the ellipsoid or above the sea), and the right lever arm?`,
    ];
  }
  if (off_m >= LARGE_OFF_M)
    return [
      `${told}; ${clock ? "neither another place nor another clock explains" : "no other place explains"} it. Do ${what} and the points belong together?${origin ? " A scanner that moved needs a trajectory, or a beam origin for each point." : ""}`,
    ];
  return [];
}

async function sphereWarnings(
  { name, positions, shift: frame }: BeamRows,
  is_miss: NativeColumn,
  origin: Triple,
  job: Job,
): Promise<string[]> {
  const found = await job.quiet().track(() => missSphere({ positions, is_miss, origin }));
  const off: Triple = [found.center[0] - origin[0], found.center[1] - origin[1], found.center[2] - origin[2]];
  const far = lengthOf(off);
  if (found.count < FEWEST_MISSES || far < LEAST_SHIFT_M || far > INSIDE * found.radius_m) return [];
  if (found.spread_from_origin_m < SURE * found.spread_m) return [];
  return [
    `${name}: its misses all lie ${rounded(found.radius_m)} m from ${place(plus(found.center, frame))}, so its scanner was there, ${rounded(far)} m from the origin. Is the origin that of this scan, in the frame of its points? The beams are taken to begin at the origin.`,
  ];
}
