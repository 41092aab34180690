/** Foresters measure at 1.2 to 1.4 m, and above buttresses up to some metres. */
const HIGHEST_M = 4;

/** Warns of a height at which nobody measures diameters, as feet and centimetres that are sent as metres. */
export function breastHeightWarnings(breast_height_m: number): string[] {
  if (breast_height_m <= HIGHEST_M) return [];
  return [
    `breast_height_m ${breast_height_m}: diameters, basal areas and forms are those ${breast_height_m} m above the ground. If feet or centimetres are meant, 4.5 feet are 1.37 m and 130 cm are 1.3 m.`,
  ];
}
