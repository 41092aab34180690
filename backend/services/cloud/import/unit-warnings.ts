import type { LasCrs } from "../../../native/files/readers.ts";

/** Relative; feet and US survey feet differ by less. */
const SAME_UNIT = 1e-5;

/** Warns of units that the file states and the import did not convert. `scale`: of source_units; null = not asked. */
export function unitWarnings(crs: LasCrs | null | undefined, scale: number | null): string[] {
  if (!crs) return [];
  const across = crs.unit_m ?? scale ?? 1;
  const up = crs.vertical_unit_m ?? across;
  if (crs.is_geographic) {
    return [
      "The file's x and y are angles in degrees, not metres: distances and areas will be wrong. Project it first.",
      ...(crs.vertical_unit_m !== null && Math.abs(up / (scale ?? 1) - 1) > SAME_UNIT
        ? [`The file's heights are in units of ${up} m; they were read in units of ${scale ?? 1} m.`]
        : []),
    ];
  }
  if (Math.abs(up / across - 1) > SAME_UNIT)
    return [
      `The file states x and y in units of ${across} m and heights in units of ${up} m, but all three were read in units of ${scale ?? 1} m. Convert the file to one unit first.`,
    ];
  if (scale !== null || Math.abs(across - 1) <= 1e-12) return [];
  return [
    `The file's coordinates are in ${crs.unit_name} (${across} m); they were read as metres. Import with source_units to convert them.`,
  ];
}
