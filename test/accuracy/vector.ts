/** A place or a direction in space, metres. */
export type Vector = readonly [number, number, number];

export const add = (a: Vector, b: Vector, t = 1): Vector => [a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2]];
export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vector): number => Math.sqrt(dot(a, a));
export const unit = (a: Vector): Vector => add([0, 0, 0], a, 1 / length(a));

/** The ith of points that lie after each other. */
export const pointAt = (xyz: Float64Array, i: number): Vector => [
  xyz[3 * i] ?? Number.NaN,
  xyz[3 * i + 1] ?? Number.NaN,
  xyz[3 * i + 2] ?? Number.NaN,
];

/** The box around points. */
export function boxOf(xyz: Float64Array): { readonly low: Vector; readonly high: Vector } {
  const low: [number, number, number] = [Infinity, Infinity, Infinity];
  const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < xyz.length / 3; i += 1) {
    const point = pointAt(xyz, i);
    for (const axis of [0, 1, 2] as const) {
      low[axis] = Math.min(low[axis], point[axis]);
      high[axis] = Math.max(high[axis], point[axis]);
    }
  }
  return { low, high };
}
