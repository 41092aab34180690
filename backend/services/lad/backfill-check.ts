import type {
  BackfillMissesRequest,
  BackfillMissesTail,
} from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { checkPulseClock, type DeclaredScan, type MissRoute, type PulseClock } from "../../native/misses.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { hasPlacedMisses } from "./scans/placed-misses.ts";
import { type PresentScan, presentScans, scanCount } from "./scans/present-scans.ts";

/** An origin that is farther than this from the one of the file is another place, metres. */
const SAME_PLACE_M = 0.01;
/** Fewest rows and columns that a raster is taken to have. */
const LEAST_STEPS = 10;
const ALL_DIRECTIONS_RAD = Math.PI;

/** A request that can be carried out. */
export interface CheckedBackfill {
  readonly session: CloudSession;
  readonly request: BackfillMissesRequest;
  /** Of the scanner: what the file states of a scan, else that of the request. */
  readonly origin: Triple;
  /** In the order in which they are tried. */
  readonly routes: readonly MissRoute[];
  /** Why the time stamps are not used; undefined if they are, or if there are none. */
  readonly clock: Exclude<PulseClock, "usable"> | undefined;
  /** About the origin. */
  readonly warnings: readonly string[];
}

const refused = (message: string) => new AppError("invalid_argument", message);

/**
 * The routes by which the misses of a session can be recovered, or the answer if it has misses already. Misses without a
 * direction do not count: they are recovered too. Errors: invalid_argument.
 */
export function checkBackfill(
  session: CloudSession,
  request: BackfillMissesRequest,
  job: Job,
): Promise<CheckedBackfill | BackfillMissesTail> {
  const given = originOf(request);
  requireSweep(request);
  return session.read(job, async (state) => {
    const moving = request.trajectory !== null;
    const misses = await notReturns(state, job);
    const scans = await presentScans(state, misses, job);
    const [scan] = scans.length === 1 && !moving ? scans : [];
    const origin = scan?.origin ?? given;
    if (misses && (await hasPlacedMisses(state, { misses, only: scan, origin }, job))) return alreadyThere(origin);
    const count = Math.max(scans.length, moving ? 0 : await scanCount(state, misses, job)); // merged ones state no positions
    if (!moving && count > 1) {
      throw refused(
        `the cloud holds ${count} scans, so its misses have no common origin: extract them by the column scan_index (exclude_values []) and recover each one`,
      );
    }
    const clock = await clockOf(state, request, origin, job);
    const grid = optionalExtra(state, "row_index") !== null && optionalExtra(state, "column_index") !== null;
    const timed = clock === "usable" || (moving && clock === "rounded");
    const routes = [
      ...(clock === "usable" || (timed && !grid) ? (["clock"] as const) : []),
      ...(grid && (!moving || timed) ? (["grid"] as const) : []),
      ...(!moving && request.n_theta && request.n_phi ? (["declared"] as const) : []),
    ];
    if (routes.length === 0) throw noRoute(clock, moving);
    if (!moving && !request.origin_known) {
      throw refused("origin_known is false: the misses of a scan that stood still need the position of the scanner");
    }
    return {
      session,
      request,
      origin,
      routes,
      clock: clock === "usable" ? undefined : clock,
      warnings: otherOrigin(scan, request),
    };
  });
}

function originOf({ origin }: BackfillMissesRequest): Triple {
  const [x, y, z] = origin;
  if (origin.length !== 3 || x === undefined || y === undefined || z === undefined || !origin.every(Number.isFinite)) {
    throw refused(`origin must be three finite numbers, not [${origin.slice(0, 10).join(", ")}]`);
  }
  return [x, y, z];
}

/** Limits in zenith that the request leaves out, degrees (contract sessions 14). */
const WHOLE_SWEEP = { theta_min: 0, theta_max: 180 } as const;

function requireSweep({ phi_min, phi_max, ...request }: BackfillMissesRequest): void {
  const { theta_min, theta_max } = zenithLimits(request);
  if (!(theta_min >= 0 && theta_min < theta_max && theta_max <= 180))
    throw refused(`theta_min ${theta_min} and theta_max ${theta_max} must lie in 0..180 degrees, theta_min below`);
  if (!(phi_min < phi_max && phi_max - phi_min <= 360))
    throw refused(`phi_min ${phi_min} must be below phi_max ${phi_max}, at most 360 degrees apart`);
}

const zenithLimits = ({ theta_min, theta_max }: Pick<BackfillMissesRequest, "theta_min" | "theta_max">) => ({
  theta_min: theta_min ?? WHOLE_SWEEP.theta_min,
  theta_max: theta_max ?? WHOLE_SWEEP.theta_max,
});

const alreadyThere = (origin: Triple): BackfillMissesTail => ({
  backfilled: 0,
  miss_count: 0,
  has_misses: true,
  scan_origin: [...origin],
  already_had_misses: true,
});

/** Tells an origin that the file contradicts. */
function otherOrigin(scan: PresentScan | undefined, { origin: given }: BackfillMissesRequest): string[] {
  if (!scan?.origin) return [];
  const off = Math.hypot(...scan.origin.map((value, k) => value - (given[k] ?? 0)));
  if (off <= SAME_PLACE_M) return [];
  const at = scan.origin.map((value) => Number(value.toFixed(3))).join(", ");
  return [
    `The position of scan ${scan.scan_index} in the file is used, ${at}: the origin of the request is ${Number(off.toPrecision(3))} m from it.`,
  ];
}

/** What the time stamps of the returns are good for; undefined without any. */
async function clockOf(
  state: CloudState,
  request: BackfillMissesRequest,
  origin: Triple,
  job: Job,
): Promise<PulseClock | undefined> {
  const times = fixedColumn(state, "timestamps");
  if (!times) return undefined;
  const positions = positionsColumn(state);
  const skip = await notReturns(state, job);
  const angle = request.trajectory ? ALL_DIRECTIONS_RAD : pulseAngle(request, positions.length);
  return job.track(() => checkPulseClock({ positions, times, skip }, { origin }, angle));
}

/** Mask of the rows that are no returns; null = all are. Deleted hits are returns. The run owns it. */
export async function notReturns(state: CloudState, job: Job) {
  const isMiss = optionalExtra(state, MISS_SLUG);
  if (!isMiss) return null;
  const { skip } = await surviving({ ...state, columns: without(state, "deleted") }, job);
  return skip;
}

const without = ({ columns }: CloudState, key: string) => new Map([...columns].filter(([name]) => name !== key));

/** Returns of one pulse are at most this far apart: two steps of the raster and the width of the beam, radians. */
function pulseAngle(request: BackfillMissesRequest, returns: number): number {
  const scan = declaredScan(request, [0, 0, 0]);
  const [theta, phi] = [scan.theta_max_rad - scan.theta_min_rad, scan.phi_max_rad - scan.phi_min_rad];
  const aspect = theta / phi;
  const columns = scan.columns || Math.max(LEAST_STEPS, Math.floor(Math.sqrt(returns / Math.max(aspect, 0.01))));
  const rows = scan.rows || Math.max(LEAST_STEPS, Math.floor(returns / columns));
  const step = Math.max(Math.abs(theta) / rows, Math.abs(phi) / columns);
  const beam = request.beam_divergence / 1000 + Math.atan(request.beam_exit_diameter);
  return Math.min(ALL_DIRECTIONS_RAD, Math.max(1e-9, 2 * step + beam));
}

/** The raster of the request with its attitude: heading first, then roll about +x, then pitch about +y. */
export function declaredScan(request: BackfillMissesRequest, origin: Triple): DeclaredScan {
  const heading = radians(request.azimuth_offset_deg);
  const { theta_min, theta_max } = zenithLimits(request);
  const tilted = (v: Triple) => pitched(rolled(v, radians(request.tilt_roll_deg)), radians(request.tilt_pitch_deg));
  return {
    origin,
    right: tilted([Math.cos(heading), -Math.sin(heading), 0]),
    ahead: tilted([Math.sin(heading), Math.cos(heading), 0]),
    up: tilted([0, 0, 1]),
    rows: request.n_theta ?? 0,
    columns: request.n_phi ?? 0,
    theta_min_rad: radians(theta_min),
    theta_max_rad: radians(theta_max),
    phi_min_rad: radians(request.phi_min),
    phi_max_rad: radians(request.phi_max),
  };
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const rolled = ([x, y, z]: Triple, a: number): Triple => [
  x,
  Math.cos(a) * y - Math.sin(a) * z,
  Math.sin(a) * y + Math.cos(a) * z,
];
const pitched = ([x, y, z]: Triple, a: number): Triple => [
  Math.cos(a) * x + Math.sin(a) * z,
  y,
  -Math.sin(a) * x + Math.cos(a) * z,
];

const WHY: Readonly<Record<Exclude<PulseClock, "usable">, string>> = {
  constant: "all its time stamps are equal",
  untimed: "points have no time stamp",
  rounded: "its time stamps are rounded: different pulses share one",
};

/** Why the time stamps are not used, for a sentence. */
export const clockReason = (clock: Exclude<PulseClock, "usable">): string => WHY[clock];

function noRoute(clock: PulseClock | undefined, moving: boolean): AppError {
  const times = clock === undefined || clock === "usable" ? "it has no time stamps" : WHY[clock];
  const rest = moving
    ? "and a moving scanner has no fixed raster, so its pulses are not known"
    : "it has no columns row_index and column_index, and n_theta and n_phi are not given";
  return refused(`The misses of this scan cannot be recovered: ${times}, ${rest}.`);
}
