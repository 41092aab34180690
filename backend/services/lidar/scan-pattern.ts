import type { Scanner } from "../../../shared/contract/lidar.ts";
import type { PoseStream } from "../../../shared/contract/trajectory.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_RISLEY_PRISMS, MAX_SCAN_PULSES } from "../../../shared/limits.ts";
import type { ScanPattern } from "../../native/ray.ts";

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const refused = (scanner: Scanner, rule: string) =>
  new AppError("invalid_argument", `scanner "${scanner.id.slice(0, 60)}": ${rule}`);

const NO_RASTER = { theta_first_rad: 0, theta_step_rad: 0, phi_first_rad: 0, phi_step_rad: 0, channel_theta_rad: [] };
const NO_PRISMS = { prisms: [], index_outside: 1, pulse_rate_hz: 0 };

/** Counts and steps of a scanner's pulses. Errors: invalid_argument; the message names the field. */
export function scanPattern(scanner: Scanner): ScanPattern {
  const { trajectory, scan_pattern } = scanner;
  if (trajectory) checkTrajectory(scanner, trajectory);
  const pattern = scan_pattern === "risley_prism" ? risley(scanner) : rows(scanner);
  if (pattern.pulse_count > MAX_SCAN_PULSES) {
    throw refused(scanner, `it has ${pattern.pulse_count} pulses, but the limit is ${MAX_SCAN_PULSES}`);
  }
  return pattern;
}

function checkTrajectory(scanner: Scanner, { poses }: PoseStream): void {
  if (poses.length === 0) throw refused(scanner, "its trajectory has no poses");
  if (!(scanner.pulse_rate_hz && scanner.pulse_rate_hz > 0)) {
    throw refused(scanner, "pulse_rate_hz must be above 0 with a trajectory");
  }
  for (const [i, { t, qx, qy, qz, qw }] of poses.entries()) {
    const before = poses[i - 1];
    if (before && !(t > before.t)) {
      throw refused(scanner, `the times of its trajectory must increase: pose ${i} has ${t} after ${before.t}`);
    }
    if (!(Math.hypot(qx, qy, qz, qw) > 1e-6)) {
      throw refused(scanner, `pose ${i} of its trajectory has no attitude: the quaternion is zero`);
    }
  }
}

const durationOf = ({ poses }: PoseStream): number => (poses.at(-1)?.t ?? 0) - (poses[0]?.t ?? 0);

/** A raster or the channels of a multibeam scanner. */
function rows(scanner: Scanner): ScanPattern {
  const { n_phi, phi_min_deg, phi_max_deg, trajectory } = scanner;
  const multibeam = scanner.scan_pattern === "spinning_multibeam";
  if (multibeam && !trajectory) {
    throw refused(
      scanner,
      "a multibeam scanner needs a trajectory; one that stands still has two equal poses, a turn apart in time",
    );
  }
  const theta = multibeam ? channels(scanner) : zeniths(scanner);
  if (!(n_phi >= 1)) throw refused(scanner, `n_phi is ${n_phi}: it must be at least 1`);
  const common = { ...NO_RASTER, ...NO_PRISMS, ...theta, kind: multibeam ? "spinning_multibeam" : "raster" } as const;
  const row_count = common.row_count;
  if (!trajectory) {
    const phi_step = n_phi > 1 ? (phi_max_deg - phi_min_deg) / (n_phi - 1) : 0;
    return {
      ...common,
      pulse_count: row_count * n_phi,
      phi_first_rad: radians(phi_min_deg + scanner.scan_azimuth_offset_deg),
      phi_step_rad: radians(phi_step),
    };
  }
  const turns = ((scanner.pulse_rate_hz ?? 0) / (row_count * n_phi)) * durationOf(trajectory);
  const turn_count = Number.isFinite(turns) && turns > 0 ? turns : 1;
  const columns = Math.max(Math.round(n_phi * turn_count), 1);
  return {
    ...common,
    pulse_count: row_count * columns,
    phi_first_rad: radians(phi_min_deg),
    phi_step_rad: (2 * Math.PI * turn_count) / columns,
  };
}

function zeniths(scanner: Scanner) {
  const { n_theta, theta_min_deg, theta_max_deg } = scanner;
  if (!(n_theta >= 1)) throw refused(scanner, `n_theta is ${n_theta}: it must be at least 1`);
  for (const [name, value] of Object.entries({ theta_min_deg, theta_max_deg })) {
    if (!(value >= 0 && value <= 180)) throw refused(scanner, `${name} is ${value}: it must be from 0 to 180 degrees`);
  }
  const step = n_theta > 1 ? (theta_max_deg - theta_min_deg) / (n_theta - 1) : 0;
  return { row_count: n_theta, theta_first_rad: radians(theta_min_deg), theta_step_rad: radians(step) };
}

function channels(scanner: Scanner) {
  const elevations = scanner.beam_elevation_angles_deg ?? [];
  if (elevations.length === 0) {
    throw refused(scanner, "a multibeam scanner needs beam_elevation_angles_deg, the elevation of each channel");
  }
  const wrong = elevations.find((elevation) => !(Math.abs(elevation) <= 90));
  if (wrong !== undefined) throw refused(scanner, `an elevation angle is ${wrong}: it must be from -90 to 90 degrees`);
  return {
    row_count: elevations.length,
    channel_theta_rad: elevations.map((elevation) => radians(90 - elevation)),
  };
}

function risley(scanner: Scanner): ScanPattern {
  const { trajectory, pulse_rate_hz, refractive_index_air } = scanner;
  const prisms = scanner.risley_prisms ?? [];
  if (prisms.length === 0 || prisms.length > MAX_RISLEY_PRISMS) {
    throw refused(scanner, `risley_prisms has ${prisms.length} prisms: 1 to ${MAX_RISLEY_PRISMS} are needed`);
  }
  if (!trajectory) throw refused(scanner, "a Risley scanner needs a trajectory");
  const rate = pulse_rate_hz ?? 0;
  for (const [k, prism] of prisms.entries()) {
    if (!(prism.wedge_angle_deg >= 0 && prism.wedge_angle_deg < 90))
      throw refused(scanner, `prism ${k} has the wedge angle ${prism.wedge_angle_deg}: 0 to below 90 degrees`);
    if (!isIndex(prism.refractive_index))
      throw refused(scanner, `prism ${k} has the refractive index ${prism.refractive_index}: 1 to 5`);
  }
  if (!isIndex(refractive_index_air)) throw refused(scanner, `refractive_index_air is ${refractive_index_air}: 1 to 5`);
  return {
    ...NO_RASTER,
    kind: "risley_prism",
    row_count: 1,
    pulse_count: Math.round(rate * durationOf(trajectory)),
    prisms: prisms.map(({ wedge_angle_deg, refractive_index, rotor_rate_hz, phase_deg }) => ({
      wedge_angle_rad: radians(wedge_angle_deg),
      refractive_index,
      rotor_rate_hz,
      phase_rad: radians(phase_deg),
    })),
    index_outside: refractive_index_air,
    pulse_rate_hz: rate,
  };
}

const isIndex = (value: number): boolean => value >= 1 && value <= 5;
