import { z } from "zod";

/* Scanner files, resources/scanners/<id>.json. */

/** Scanners that exports and presets know. */
export const SCANNER_IDS = [
  "generic",
  "riegl_vz400i",
  "leica_p40",
  "leica_blk360",
  "leica_blk360_g2",
  "faro_focus_s350",
  "velodyne_hdl32e",
  "riegl_minivux3uav",
  "livox_mid40",
  "livox_mid70",
  "livox_avia",
] as const;
export type ScannerId = (typeof SCANNER_IDS)[number];

const beam = {
  return_mode: z.enum(["single", "multi"]).describe("as in a scanner of a synthetic scan"),
  max_returns: z.int().min(1).max(99).describe("most returns of a pulse"),
  exit_diameter_m: z.number().min(0).max(1).describe("1/e2 diameter of the beam at the exit, metres; 0 = not stated"),
  beam_divergence_mrad: z.number().min(0).max(500).describe("half angle at 1/e2, milliradians; 0 = not stated"),
  range_noise_m: z.number().min(0).max(1).describe("standard deviation, metres"),
  angle_noise_mrad: z.number().min(0).max(100).describe("standard deviation, milliradians; 0 = not stated"),
  pulse_rate_hz: z.number().positive().describe("pulses per second"),
};

const RasterPreset = z.strictObject({
  scan_pattern: z.literal("raster"),
  step_deg: z.number().positive().max(10).describe("between rows, and between columns, degrees"),
  theta_min_deg: z.number().min(0).max(180).describe("zenith angle of the first row, degrees"),
  theta_max_deg: z.number().min(0).max(180).describe("zenith angle of the last row, degrees"),
  phi_min_deg: z.number().describe("bearing of the first column, degrees"),
  phi_max_deg: z.number().describe("bearing of the last column, degrees"),
  ...beam,
});

const MultibeamPreset = z.strictObject({
  scan_pattern: z.literal("spinning_multibeam"),
  beam_elevation_angles_deg: z.array(z.number().min(-90).max(90)).min(1).describe("of each channel, degrees"),
  columns_per_turn: z.int().min(1).describe("n_phi"),
  boresight_rpy: z
    .tuple([z.number(), z.number(), z.number()])
    .default([0, 0, 0])
    .describe("of the trajectory, radians"),
  ...beam,
});

const RisleyPreset = z.strictObject({
  scan_pattern: z.literal("risley_prism"),
  risley_prisms: z
    .array(
      z.strictObject({
        wedge_angle_deg: z.number().positive().max(60).describe("degrees"),
        refractive_index: z.number().min(1).max(5).describe("of the glass"),
        rotor_rate_hz: z.number().describe("turns per second, the sign is the sense"),
      }),
    )
    .min(1)
    .describe("in the order of the beam"),
  ...beam,
});

export const ScannerPreset = z.strictObject({
  id: z.enum(SCANNER_IDS).describe("name of the file"),
  name: z.string().min(1).describe("name for the user"),
  source: z.string().min(1).describe("data sheet or manual that states the figures"),
  notes: z.array(z.string().min(1)).describe("how figures were converted, and what is not stated"),
  scanner: z.discriminatedUnion("scan_pattern", [RasterPreset, MultibeamPreset, RisleyPreset]),
});
export type ScannerPreset = z.infer<typeof ScannerPreset>;
