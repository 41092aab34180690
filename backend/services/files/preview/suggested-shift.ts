/** Above this, float32 coordinates are a millimetre off. */
const SHIFT_ABOVE = 1e4;

/** Floor of the minimum, when some axis is far from the origin. */
export function suggestedShift(min: readonly [number, number, number]): [number, number, number] | null {
  if (!min.every(Number.isFinite) || !min.some((value) => Math.abs(value) > SHIFT_ABOVE)) return null;
  return [Math.floor(min[0]), Math.floor(min[1]), Math.floor(min[2])];
}
