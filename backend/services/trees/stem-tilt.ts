import type { Table } from "./native-table.ts";

/** Direction of a stem, unit vector upwards. */
export type StemAxis = readonly [number, number, number];

/** Of fewer stems the mean says little. */
const FEWEST_STEMS = 8;
/** Stems of forests lean by up to 2 degrees in the mean, down a slope or with the wind. */
const LEAST_TILT_DEG = 3;
const LEAST_ERRORS = 5;
const degrees = (radians: number) => (radians * 180) / Math.PI;

/** Of the trees with a diameter. */
export const stemAxes = (trees: Table): StemAxis[] =>
  Array.from({ length: trees.length }, (_, i) => i)
    .filter((i) => Number.isFinite(trees.get(i, "dbh_diameter_m")))
    .map((i) => [trees.get(i, "stem_axis_x"), trees.get(i, "stem_axis_y"), trees.get(i, "stem_axis_z")]);

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Row-major 4 x 4 matrix of the shortest rotation that turns a unit vector upwards. */
function upright([x, y, z]: StemAxis): number[] {
  const k = 1 / (1 + z);
  return [1 - k * x * x, -k * x * y, -x, 0, -k * x * y, 1 - k * y * y, -y, 0, x, y, z, 0, 0, 0, 0, 1];
}

/** That all stems lean to one side, as in a cloud whose z axis is not vertical. */
export function stemTiltWarnings(axes: readonly StemAxis[]): string[] {
  if (axes.length < FEWEST_STEMS) return [];
  const [x, y, z] = [0, 1, 2].map((k) => mean(axes.map((axis) => axis[k] ?? 0))) as [number, number, number];
  const level = Math.hypot(x, y);
  const tilt = degrees(Math.atan2(level, z));
  if (tilt < LEAST_TILT_DEG) return [];
  const along = axes.map((axis) => (axis[0] * x + axis[1] * y) / level);
  const squares = mean(along.map((value) => (value - level) ** 2));
  const error = Math.sqrt(squares / (axes.length - 1));
  if (level < LEAST_ERRORS * error) return [];
  const azimuth = (degrees(Math.atan2(x, y)) + 360) % 360;
  const length = Math.hypot(x, y, z);
  const matrix = upright([x / length, y / length, z / length]).map((value) => Number(value.toFixed(6)));
  return [
    `The ${axes.length} stems with a diameter lean by ${tilt.toFixed(1)}° in the mean, towards ${azimuth.toFixed(0)}° from +y (standard error ${degrees(error).toFixed(1)}°). Trees do so on slopes and in steady wind; if z is not vertical instead, as where a scanner was not levelled, heights, leans and the terrain are tilted. Turn the cloud (POST transform with matrix [${matrix.join(", ")}]) and measure again.`,
  ];
}
