import type { LidarScanRequest, Scanner } from "../../../shared/contract/lidar.ts";
import type { PoseStream } from "../../../shared/contract/trajectory.ts";
import { DEFAULT_SCAN_SCRATCH_BYTES, MIB } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import type { SyntheticScanParams } from "../../native/ray.ts";
import { numbersColumn } from "../run/points.ts";
import { scanPattern } from "./scan-pattern.ts";

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
const SELECTIONS = { strongest: "strongest", first: "first", last: "last" } as const;

/** Parameters of one scanner for the tracer; the run owns the poses. Errors: invalid_argument. */
export function scanParams(scanner: Scanner, i: number, request: LidarScanRequest, job: Job): SyntheticScanParams {
  const pattern = scanPattern(scanner);
  const { trajectory, pulse_rate_hz, return_selection: selection } = scanner;
  const stands = !trajectory && scanner.scan_pattern === "raster";
  return {
    pattern,
    origin: scanner.origin,
    tilt_roll_rad: stands ? radians(scanner.tilt_roll_deg) : 0,
    tilt_pitch_rad: stands ? radians(scanner.tilt_pitch_deg) : 0,
    trajectory: trajectory ? path(trajectory, job) : null,
    first_time_s: trajectory?.poses[0]?.t ?? 0,
    pulse_interval_s: pulse_rate_hz && pulse_rate_hz > 0 ? 1 / pulse_rate_hz : 1,
    rays_per_pulse: request.rays_per_pulse,
    exit_diameter_m: scanner.exit_diameter_m,
    divergence_rad: scanner.beam_divergence_mrad / 1000,
    pulse_distance_m: request.pulse_distance_threshold,
    detection_energy: request.detection_threshold,
    range_noise_m: scanner.range_noise_m,
    angle_noise_rad: scanner.angle_noise_mrad / 1000,
    is_multi_return: scanner.return_mode === "multi",
    max_returns: scanner.max_returns,
    selection: Object.hasOwn(SELECTIONS, selection) ? SELECTIONS[selection as keyof typeof SELECTIONS] : "strongest",
    record_misses: request.record_misses,
    box: request.scan_grid_only && request.grid ? boxOf(request.grid) : null,
    seed: request.seed,
    scan_index: i,
    scratch_bytes: scratchBytes(request),
  };
}

function path({ poses, lever_arm, boresight_rpy }: PoseStream, job: Job) {
  const flat = poses.flatMap(({ t, x, y, z, qx, qy, qz, qw }) => {
    const size = Math.hypot(qx, qy, qz, qw);
    return [t, x, y, z, qx / size, qy / size, qz / size, qw / size];
  });
  return { poses: job.adopt(numbersColumn(flat)).native, lever_arm, boresight_rpy };
}

const boxOf = ({ center, size, rotation }: NonNullable<LidarScanRequest["grid"]>) => ({
  center,
  size,
  rotation_rad: radians(rotation),
});

function scratchBytes({ synthetic_scan_memory_budget_mb: budget }: LidarScanRequest): number {
  return budget && budget > 0 ? budget * MIB : DEFAULT_SCAN_SCRATCH_BYTES;
}
