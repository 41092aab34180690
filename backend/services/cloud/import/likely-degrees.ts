/** Widest extent that is looked at, degrees: about 11 km. A plot in metres is wider, or as wide as it is high. */
const WIDEST = 0.1;
/** Degrees with fewer digits after the point than this are coarser than a metre. */
const FINEST = 1e-4;
/** Of degrees, heights in metres span this many times more than the horizontal extent. */
const HIGHER = 200;

interface Box {
  readonly min: readonly number[];
  readonly max: readonly number[];
}

/**
 * Whether x and y look like longitude and latitude although no coordinate system says so: in the range of angles, away
 * from the zero of a local frame, with an extent of at most 0.1 that heights exceed by far. Poles and lines have no
 * extent in one direction and are left alone. The box is that of the stored points; `shift` is what was subtracted.
 */
export function looksLikeDegrees(box: Box | null, shift: readonly number[] | null): boolean {
  if (!box) return false;
  const low = [0, 1, 2].map((axis) => (box.min[axis] ?? 0) + (shift?.[axis] ?? 0));
  const high = [0, 1, 2].map((axis) => (box.max[axis] ?? 0) + (shift?.[axis] ?? 0));
  const [x = 0, y = 0, z = 0] = high.map((value, axis) => value - (low[axis] ?? 0));
  const inRange = (axis: number, most: number) => Math.max(Math.abs(low[axis] ?? 0), Math.abs(high[axis] ?? 0)) <= most;
  const away = [0, 1].every((axis) => Math.min(Math.abs(low[axis] ?? 0), Math.abs(high[axis] ?? 0)) > 1);
  const narrow = [x, y].every((extent) => extent >= FINEST && extent <= WIDEST);
  return inRange(0, 180) && inRange(1, 90) && away && narrow && z > HIGHER * Math.max(x, y);
}

export const LIKELY_DEGREES =
  "The file's x and y look like longitude and latitude in degrees, although no coordinate system says so: distances and areas will be wrong. Project it first.";
