import type { z } from "zod";
import type { Scanner } from "../../../shared/contract/lidar.ts";
import type { ScannerPreset } from "../../../shared/contract/scanner-preset.ts";
import { AppError } from "../../../shared/errors.ts";
import { MANY_SCAN_PULSES } from "../../../shared/limits.ts";
import type { Box, Triple } from "../../../shared/octree/potree2-metadata.ts";
import type { ScanOptions } from "./options.ts";

export type ScannerRequest = z.input<typeof Scanner>;

const DEGREES = 180 / Math.PI;
/** The sweep reaches this far beyond the object, degrees. */
const MARGIN_DEG = 1;
const LEAST_DISTANCE_M = 2;

/** Scanners on a circle round the middle of the object, that look at it. Errors: invalid_argument for too many pulses. */
export function scannersAround(box: Box, preset: ScannerPreset, options: ScanOptions): ScannerRequest[] {
  const radius = Math.hypot(box.max[0] - box.min[0], box.max[1] - box.min[1]) / 2;
  const size = box.max[2] - box.min[2];
  const distance = options.distance ?? radius + Math.max(LEAST_DISTANCE_M, size);
  const [x, y] = [(box.min[0] + box.max[0]) / 2, (box.min[1] + box.max[1]) / 2];
  return Array.from({ length: options.positions }, (_, k) => {
    const bearing = (2 * Math.PI * k) / options.positions;
    const at: Triple = [
      x - distance * Math.sin(bearing),
      y - distance * Math.cos(bearing),
      box.min[2] + options.height,
    ];
    return scannerAt(`scan_${k + 1}`, at, box, preset, options);
  });
}

function scannerAt(
  id: string,
  origin: Triple,
  box: Box,
  { scanner }: ScannerPreset,
  { step, seconds }: ScanOptions,
): ScannerRequest {
  const { scan_pattern, return_mode, max_returns, pulse_rate_hz, ...rest } = scanner;
  const common = {
    id,
    origin: [...origin] as [number, number, number],
    scan_pattern,
    return_mode,
    ...(return_mode === "multi" ? { max_returns } : {}), // it means nothing to the others
    pulse_rate_hz,
    exit_diameter_m: rest.exit_diameter_m,
    beam_divergence_mrad: rest.beam_divergence_mrad,
    range_noise_m: rest.range_noise_m,
    angle_noise_mrad: rest.angle_noise_mrad,
  };
  const whole = { n_theta: 1, n_phi: 1, theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360 };
  if (scanner.scan_pattern === "raster")
    return { ...common, ...raster(origin, box, scanner, step ?? scanner.step_deg) };
  const middle = box.min.map((low, axis) => (low + (box.max[axis] ?? low)) / 2) as unknown as Triple;
  const trajectory = standing(origin, middle, seconds, scanner.scan_pattern === "risley_prism");
  if (scanner.scan_pattern === "risley_prism")
    return { ...common, ...whole, trajectory, risley_prisms: scanner.risley_prisms };
  return {
    ...common,
    ...whole,
    n_phi: scanner.columns_per_turn,
    beam_elevation_angles_deg: scanner.beam_elevation_angles_deg,
    trajectory: { ...trajectory, boresight_rpy: scanner.boresight_rpy },
  };
}

type RasterSettings = Extract<ScannerPreset["scanner"], { scan_pattern: "raster" }>;

/** The part of a scanner's field in which the object lies. Errors: invalid_argument. */
function raster(origin: Triple, box: Box, field: RasterSettings, step: number) {
  const inside = origin[0] > box.min[0] && origin[0] < box.max[0] && origin[1] > box.min[1] && origin[1] < box.max[1];
  const seen = inside ? null : window(origin, box);
  const theta_min_deg = Math.max(field.theta_min_deg, (seen?.theta[0] ?? 0) - MARGIN_DEG);
  const theta_max_deg = Math.min(field.theta_max_deg, (seen?.theta[1] ?? 180) + MARGIN_DEG);
  const [phi_min_deg, phi_max_deg] = seen
    ? [seen.phi[0] - MARGIN_DEG, seen.phi[1] + MARGIN_DEG]
    : [field.phi_min_deg, field.phi_max_deg - step];
  if (!(theta_min_deg < theta_max_deg)) {
    throw new AppError("invalid_argument", "the object lies outside the scanner's field of view; use another --height");
  }
  const count = (from: number, to: number) => Math.max(1, Math.floor((to - from) / step) + 1);
  const [n_theta, n_phi] = [count(theta_min_deg, theta_max_deg), count(phi_min_deg, phi_max_deg)];
  if (n_theta * n_phi > MANY_SCAN_PULSES) {
    throw new AppError(
      "invalid_argument",
      `a position has ${n_theta * n_phi} pulses, more than ${MANY_SCAN_PULSES}; use a larger --step or --distance`,
    );
  }
  return {
    n_theta,
    n_phi,
    theta_min_deg,
    theta_max_deg: theta_min_deg + (n_theta - 1) * step,
    phi_min_deg,
    phi_max_deg: phi_min_deg + (n_phi - 1) * step,
  };
}

/** Zenith angles and bearings, degrees, between which a box lies that is seen from beside it. */
function window(origin: Triple, { min, max }: Box) {
  const middle = Math.atan2((min[0] + max[0]) / 2 - origin[0], (min[1] + max[1]) / 2 - origin[1]) * DEGREES;
  const theta: number[] = [];
  const phi: number[] = [];
  for (const x of [min[0], max[0]]) {
    for (const y of [min[1], max[1]]) {
      const off = Math.atan2(x - origin[0], y - origin[1]) * DEGREES - middle;
      phi.push(middle + off - 360 * Math.round(off / 360));
    }
  }
  // The zenith angle of a height is extreme where the box is nearest or farthest.
  const [near, far] = [nearest(origin, { min, max }), farthest(origin, { min, max })];
  for (const z of [min[2], max[2]]) {
    for (const level of [near, far]) theta.push(Math.atan2(level, z - origin[2]) * DEGREES);
  }
  return { theta: [Math.min(...theta), Math.max(...theta)], phi: [Math.min(...phi), Math.max(...phi)] } as const;
}

const nearest = ([x, y]: Triple, { min, max }: Box) =>
  Math.hypot(Math.max(min[0] - x, 0, x - max[0]), Math.max(min[1] - y, 0, y - max[1]));
const farthest = ([x, y]: Triple, { min, max }: Box) =>
  Math.hypot(
    Math.max(Math.abs(min[0] - x), Math.abs(max[0] - x)),
    Math.max(Math.abs(min[1] - y), Math.abs(max[1] - y)),
  );

/** Two poses in one place whose +y looks at the target; level if the scanner is not to be tilted. */
function standing(at: Triple, target: Triple, seconds: number, tilted: boolean) {
  const [dx, dy, dz] = [target[0] - at[0], target[1] - at[1], target[2] - at[2]];
  const yaw = -Math.atan2(dx, dy) / 2; // bearings are clockwise
  const pitch = tilted ? Math.atan2(dz, Math.hypot(dx, dy)) / 2 : 0;
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  const pose = { x: at[0], y: at[1], z: at[2], qx: cy * sp, qy: sy * sp, qz: sy * cp, qw: cy * cp };
  return { poses: [0, seconds].map((t) => ({ t, ...pose })), source_format: "simulated" as const };
}
