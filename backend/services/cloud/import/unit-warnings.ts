import type { Box } from "../../../../shared/contract/geometry.ts";
import type { LasCrs } from "../../../native/files/readers.ts";

/** Relative; feet and US survey feet differ by less. */
const SAME_UNIT = 1e-5;
/** A shift leaves coordinates below this, metres; the preview suggests none below it. */
const NEAR_M = 1e4;

/** Land, trees and buildings together span less: 8849 m above the sea and 430 m below it. */
const HIGHEST_M = 9300;
/** Nothing scanned in one projected system is as wide. */
const WIDEST_M = 1e6;

/** Warns of extents that no scan on Earth has, as millimetres that are read as metres do. `box`: stored frame, metres. */
export function extentWarnings(box: Box | null): string[] {
  if (!box) return [];
  const span = (axis: number) => (box.max[axis] ?? 0) - (box.min[axis] ?? 0);
  const wide = Math.max(span(0), span(1));
  const sizes = [
    ...(span(2) > HIGHEST_M ? [`${span(2).toFixed(0)} m in height, more than all land on Earth`] : []),
    ...(wide > WIDEST_M
      ? [`${(wide / 1000).toFixed(0)} km from side to side, more than any coordinate system is for`]
      : []),
  ];
  if (sizes.length === 0) return [];
  return [
    `The points span ${sizes.join(", and ")}: there are stray points (label noise first), or the coordinates are not metres. Import with source_units to convert them.`,
  ];
}

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
  if (scale !== null) {
    if (crs.unit_m === null || Math.abs(across / scale - 1) <= SAME_UNIT) return [];
    return [
      `The file states that its coordinates are in ${crs.unit_name} (${across} m); they were read in units of ${scale} m, as source_units says.`,
    ];
  }
  if (Math.abs(across - 1) <= 1e-12) return [];
  return [
    `The file's coordinates are in ${crs.unit_name} (${across} m); they were read as metres. Import with source_units to convert them.`,
  ];
}

/** Warns of a coordinate system that the session cannot have, because the import converts the unit that it counts in. */
export function systemWarnings(crs: LasCrs | null | undefined, scale: number | null): string[] {
  if (!crs || scale === null || scale === 1) return [];
  if (crs.epsg === null && !crs.wkt && !crs.geotiff) return [];
  const name = crs.epsg === null ? crs.citation : `EPSG:${crs.epsg}`;
  return [
    `The coordinate system of the file${name ? ` (${name})` : ""} does not count in metres, so the cloud, and files and rasters written from it, have none.`,
  ];
}

/** Warns of a shift that is right in the unit of the file, but is subtracted from metres. `box`: stored frame. */
export function shiftWarnings(box: Box | null, shift: readonly number[] | null, scale: number | null): string[] {
  if (!box || !shift || scale === null || scale === 1) return [];
  const farthest = (moved: (axis: number) => number) =>
    Math.max(...[box.min, box.max].flatMap((corner) => corner.map((value, axis) => Math.abs(value + moved(axis)))));
  const left = farthest(() => 0);
  if (left <= NEAR_M || farthest((axis) => (shift[axis] ?? 0) * (1 - scale)) > NEAR_M) return [];
  return [
    `world_shift leaves coordinates of up to ${Math.round(left)} m: it is subtracted after the conversion to metres, but fits the units of the file, as the suggested_shift of a preview. Multiply it by ${scale}.`,
  ];
}
