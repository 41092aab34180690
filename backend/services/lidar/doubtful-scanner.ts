import type { Scanner } from "../../../shared/contract/lidar.ts";

/** Beams of laser scanners leave with 1 to 30 mm, and ranges scatter by 1 to 50 mm. */
const WIDEST_BEAM_M = 0.5;
const MOST_NOISE_M = 0.5;

/** Settings that no scanner has, as millimetres that are sent as metres, and scanners that saw nothing. */
export function doubtfulScanner(scanner: Scanner, hit_count: number): string[] {
  const { id, exit_diameter_m, range_noise_m } = scanner;
  const name = `scanner "${id.slice(0, 60)}"`;
  return [
    ...(exit_diameter_m > WIDEST_BEAM_M
      ? [`exit_diameter_m ${exit_diameter_m} of ${name}: no beam is as wide. The unit is metres, 7 mm are 0.007.`]
      : []),
    ...(range_noise_m > MOST_NOISE_M
      ? [`range_noise_m ${range_noise_m} of ${name}: no range scatters so. The unit is metres, 5 mm are 0.005.`]
      : []),
    ...(hit_count === 0
      ? [
          `No pulse of ${name} hit a mesh: check its origin and the ranges of theta and phi, and that the meshes are in metres.`,
        ]
      : []),
  ];
}
