/** Fractions that fill 0..1 evenly. */
const even = (i: number, step: number) => (i * step) % 1;

type Triple = readonly [number, number, number];

/** Points on the surface of a cylinder. */
export function surface(from: Triple, to: Triple, radius: number, count: number): [number, number, number][] {
  const along = [to[0] - from[0], to[1] - from[1], to[2] - from[2]] as const;
  const length = Math.hypot(...along);
  const t = along.map((value) => value / length) as unknown as Triple;
  const other: Triple = Math.abs(t[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const cross = (a: Triple, b: Triple): Triple => [
    a[1] * b[2] - a[2] * b[1],
    a[2] * b[0] - a[0] * b[2],
    a[0] * b[1] - a[1] * b[0],
  ];
  const raw = cross(other, t);
  const norm = Math.hypot(...raw);
  const u = raw.map((value) => value / norm) as unknown as Triple;
  const v = cross(t, u);
  return Array.from({ length: count }, (_, i) => {
    const turn = 2 * Math.PI * even(i + 0.5, 0.7548776662);
    const s = even(i + 0.5, 0.5698402909);
    const at = (k: 0 | 1 | 2) => from[k] + s * along[k] + radius * (Math.cos(turn) * u[k] + Math.sin(turn) * v[k]);
    return [at(0), at(1), at(2)];
  });
}

/** A stem of 3 m with two branches that are shorter than what is left of it above them; its foot is at the place given. */
export function forkedTree([x, y, z]: Triple): [number, number, number][] {
  return [
    ...surface([x, y, z], [x, y, z + 3], 0.08, 6000),
    ...surface([x, y, z + 1.5], [x + 1, y, z + 2.3], 0.03, 2000),
    ...surface([x, y, z + 2], [x - 0.4, y + 0.25, z + 2.4], 0.025, 2000),
  ];
}
