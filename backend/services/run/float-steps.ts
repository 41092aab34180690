/** Coordinates from here on are rounded to 1 mm or more in float32. */
const COARSE_COORDINATE_M = 16_384;

const SHIFT = "Send world_shift to subtract a place near the mesh.";

/** Warns of coordinates that lose digits in float32 buffers. `largest`: absolute, metres. `remedy`: what to do. */
export function coarseCoordinates(largest: number, remedy = SHIFT): string[] {
  if (largest < COARSE_COORDINATE_M) return [];
  const step = 2 ** (Math.floor(Math.log2(largest)) - 23);
  return [
    `Coordinates reach ${largest.toPrecision(3)}: float32 holds them in steps of ${step.toPrecision(2)}. ${remedy}`,
  ];
}

/** A shift of a request; none = zeros; undefined if it is not three finite numbers. */
export function shiftOf(given: readonly number[] | null | undefined): [number, number, number] | undefined {
  const [x, y, z, ...more] = given ?? [0, 0, 0];
  if (x === undefined || y === undefined || z === undefined || more.length > 0 || ![x, y, z].every(Number.isFinite)) {
    return undefined;
  }
  return [x, y, z];
}
