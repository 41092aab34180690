import { z } from "zod";
import {
  DEFAULT_PULSE_DISTANCE_M,
  DEFAULT_RAYS_PER_PULSE,
  DEFAULT_SCAN_SEED,
  MAX_PULSE_RETURNS,
  MAX_RAYS_PER_PULSE,
  MAX_RISLEY_PRISMS,
  MAX_SCANNERS,
  SCAN_REACH_M,
} from "../limits.ts";
import { Point } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, type Sent, withIdleKeys } from "./idle-keys.ts";
import { ScanMesh } from "./scan-mesh.ts";
import { PoseStream } from "./trajectory.ts";

const number = (value: number, text: string) => z.number().default(value).describe(`${text}; default ${value}`);

const RisleyPrism = z
  .object({
    wedge_angle_deg: z.number().describe("angle between its faces, degrees, 0 to below 90"),
    refractive_index: z.number().describe("of its glass, 1 to 5"),
    rotor_rate_hz: z.number().describe("turns per second about the beam; the sign is the sense of rotation"),
    phase_deg: number(0, "angle of its thick side at the first pulse, degrees"),
  })
  .meta({
    id: "RisleyPrism",
    description:
      "a turning wedge of glass; oblique faces look at each other: the first prism has its own behind, the second before, and so on",
  });

const SELECTIONS: readonly unknown[] = ["strongest", "first", "last"];
const stands = ({ trajectory, scan_pattern }: Sent) => !isSent(trajectory) && (scan_pattern ?? "raster") === "raster";
const isMulti = ({ return_mode, return_type }: Sent) => (return_mode ?? return_type) === "multi";
const SCANNER_IDLE = idleByAll(
  idleUnless(stands, "tilt_roll_deg", "tilt_pitch_deg"),
  idleUnless(({ trajectory }) => !isSent(trajectory), "scan_azimuth_offset_deg"),
  idleUnless(({ scan_pattern }) => scan_pattern === "spinning_multibeam", "beam_elevation_angles_deg"),
  idleUnless(({ scan_pattern }) => scan_pattern === "risley_prism", "risley_prisms", "refractive_index_air"),
  idleUnless(isMulti, "max_returns"),
  idleUnless(({ return_mode }) => !isSent(return_mode), "return_type"),
  idleUnless(({ return_type }) => return_type === "single" || return_type === "multi", "return_type"),
  idleUnless(({ return_selection }) => SELECTIONS.includes(return_selection), "return_selection"),
);

const ScannerObject = z.object({
  id: z.string().describe("name of the scanner, returned as scanner_id"),
  origin: Point.describe("position of the scanner, metres, true world; not used with trajectory"),
  scan_pattern: z
    .enum(["raster", "spinning_multibeam", "risley_prism"])
    .default("raster")
    .describe(
      "raster: rows of equal zenith angle, fired row by row in each column while the scanner turns; spinning_multibeam: channels at fixed elevations; risley_prism: a rosette about +y of the body. The last two need a trajectory",
    ),
  n_theta: z.int().describe("rows; not used by spinning_multibeam and risley_prism"),
  n_phi: z.int().describe("columns; with trajectory, columns per turn; not used by risley_prism"),
  theta_min_deg: z.number().describe("zenith angle of the first row, degrees, 0 to 180; 0 = straight up"),
  theta_max_deg: z.number().describe("zenith angle of the last row, degrees, 0 to 180"),
  phi_min_deg: z.number().describe("bearing of the first column, degrees clockwise from +y"),
  phi_max_deg: z.number().describe("bearing of the last column, degrees; not used with trajectory"),
  beam_elevation_angles_deg: z
    .array(z.number())
    .nullish()
    .default(null)
    .describe("spinning_multibeam: angle of each channel above the horizon, degrees, -90 to 90"),
  return_mode: z
    .enum(["single", "multi"])
    .nullish()
    .default(null)
    .describe("single: one return per pulse; multi: up to max_returns; null = return_type, or single without it"),
  return_type: z
    .string()
    .nullish()
    .default(null)
    .describe("older name of return_mode, used without it: multi, or anything else for single"),
  max_returns: z
    .int()
    .default(5)
    .describe(
      `multi: most returns of a pulse, 1 to ${MAX_PULSE_RETURNS}; if there are more, return_selection decides; default 5`,
    ),
  return_selection: z
    .string()
    .default("strongest")
    .describe("which returns are kept, if there are more: strongest, first or last; anything else is strongest"),
  exit_diameter_m: number(0, "1/e2 diameter of the beam where it leaves the scanner, metres"),
  beam_divergence_mrad: number(
    0,
    "angle from the axis at which the intensity of the beam is 1/e2 of that on the axis, milliradians, 0 to 500",
  ),
  range_noise_m: number(0, "standard deviation of the range of each return, metres, Gaussian"),
  angle_noise_mrad: number(
    0,
    "standard deviation of the recorded direction of each pulse along each of two axes, milliradians, Gaussian, 0 to 100",
  ),
  tilt_roll_deg: number(0, "tilt of a raster scanner that stands still about +x, degrees; applied after the heading"),
  tilt_pitch_deg: number(0, "the same about +y, after the roll, degrees"),
  scan_azimuth_offset_deg: number(0, "added to the bearings of a scanner that stands still, degrees"),
  trajectory: PoseStream.nullish().default(null).describe("poses of a moving scanner; its axes are those of the body"),
  pulse_rate_hz: z
    .number()
    .nullish()
    .default(null)
    .describe(
      "pulses per second, above 0: pulse k is fired at t0 + k / rate; needed with trajectory, whose first time is t0; without it t0 is 0, and null = one pulse per second",
    ),
  risley_prisms: z
    .array(RisleyPrism)
    .nullish()
    .default(null)
    .describe(`risley_prism: prisms in the order of the beam, at most ${MAX_RISLEY_PRISMS}`),
  refractive_index_air: number(1, "risley_prism: refractive index around the prisms, 1 to 5"),
});

/** `return_mode` is set in the output. */
export const Scanner = withIdleKeys(ScannerObject, SCANNER_IDLE)
  .transform(({ return_type, ...scanner }) => ({
    ...scanner,
    return_mode: scanner.return_mode ?? (return_type === "multi" ? ("multi" as const) : ("single" as const)),
  }))
  .meta({ id: "Scanner", description: "a scanner and its pulses" });
export type Scanner = z.output<typeof Scanner>;

const ScanGrid = z
  .object({
    center: Point.describe("centre of the box, metres, true world"),
    size: Point.describe("full extent along each axis, metres, above 0"),
    nx: z.int().default(1).describe("voxels along x; the box alone counts"),
    ny: z.int().default(1).describe("voxels along y; the box alone counts"),
    nz: z.int().default(1).describe("voxels along z; the box alone counts"),
    rotation: number(0, "rotation about +z, degrees, counter-clockwise"),
  })
  .meta({ id: "ScanGrid", description: "box of voxels, rotated about the vertical axis through its centre" });
export type ScanGrid = z.infer<typeof ScanGrid>;

export const STANDARD_SCAN_FIELDS = ["intensity", "distance", "timestamp", "target_index", "target_count"] as const;

const LidarScanFields = z
  .object({
    meshes: z.array(ScanMesh).describe("surfaces, all in one scene; none causes an error in the frame"),
    scanners: z
      .array(Scanner)
      .describe(
        `scanners, each of which scans the whole scene; none or more than ${MAX_SCANNERS}: an error in the frame`,
      ),
    extra_fields: z
      .array(z.string())
      .default([])
      .describe(
        "further fields of each hit: deviation (standard deviation of the ranges of a return's rays, metres; multi), nRaysHit (number of these rays; multi), organ (organ code of the struck triangle). A field that no hit has is left out, and a warning names it",
      ),
    retained_standard_fields: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe(
        `which of ${STANDARD_SCAN_FIELDS.join(", ")} the session offers for colouring; null = all. The others stay in the session, hidden: analyses need them. The buffers of the frame do not depend on it`,
      ),
    rays_per_pulse: z
      .int()
      .default(DEFAULT_RAYS_PER_PULSE)
      .describe(
        `rays across the beam of a pulse, 1 to ${MAX_RAYS_PER_PULSE}; 1 = one exact ray along its axis; default ${DEFAULT_RAYS_PER_PULSE}`,
      ),
    pulse_distance_threshold: number(
      DEFAULT_PULSE_DISTANCE_M,
      "hits of rays up to this far behind the first one of a return belong to it, metres",
    ),
    detection_threshold: number(
      0,
      "returns with a smaller share of the energy of a pulse are not seen, 0 to 0.5; the rays leave out the same share of the energy at the margin of the beam, at least 0.001",
    ),
    seed: z
      .int()
      .min(0)
      .default(DEFAULT_SCAN_SEED)
      .describe(`seed of the random numbers: equal requests give equal scans; default ${DEFAULT_SCAN_SEED}`),
    record_misses: z
      .boolean()
      .default(false)
      .describe(`true: pulses without a return are kept in the session, ${SCAN_REACH_M} m along their beam`),
    scan_grid_only: z
      .boolean()
      .default(false)
      .describe(
        "true, with grid: surfaces outside the box of the grid do not exist, and pulses whose axis misses it are not fired",
      ),
    grid: ScanGrid.nullish().default(null).describe("box of voxels; used with scan_grid_only alone"),
    synthetic_scan_memory_budget_mb: z
      .int()
      .nullish()
      .default(null)
      .describe("memory for the rays in flight, MiB; null or 0 or less: 4096. It never changes the result"),
  })
  .meta({ id: "LidarScanRequest" });
export const LidarScanRequest = withIdleKeys(
  LidarScanFields,
  idleByAll(
    idleUnless(({ scan_grid_only }) => scan_grid_only === true, "grid"),
    idleUnless(({ grid }) => isSent(grid), "scan_grid_only"),
  ),
);
export type LidarScanRequest = z.output<typeof LidarScanRequest>;
