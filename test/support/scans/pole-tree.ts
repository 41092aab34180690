/** Points on cylinders of a small tree: a stem of 2 m with two branches; `seen` turns of each are not hidden. */
export function poleTree(seen = 1): [number, number, number][] {
  return [
    ...cylinder([0, 0, 0], [0, 0, 2], 0.1, seen),
    ...cylinder([0.05, 0, 2], [0.8, 0, 2.7], 0.05, seen),
    ...cylinder([-0.05, 0, 2], [-0.8, 0, 2.7], 0.05, seen),
  ];
}

type Triple = readonly [number, number, number];

const SPACING_M = 0.015;

/** Points on a cylinder whose axis lies in the plane of x and z. */
export function cylinder(from: Triple, to: Triple, radius: number, seen = 1): [number, number, number][] {
  const [dx, dz] = [to[0] - from[0], to[2] - from[2]];
  const length = Math.hypot(dx, dz);
  const rows = Math.floor(length / SPACING_M);
  const around = Math.floor((2 * Math.PI * radius) / SPACING_M);
  const points: [number, number, number][] = [];
  for (let i = 0; i <= rows; i += 1) {
    for (let k = 0; k < around * seen; k += 1) {
      const turn = (2 * Math.PI * (k + 0.5 * (i % 2))) / around;
      const [u, y] = [radius * Math.cos(turn), radius * Math.sin(turn)];
      const t = i / rows;
      points.push([from[0] + t * dx + (u * dz) / length, from[1] + y, from[2] + t * dz - (u * dx) / length]);
    }
  }
  return points;
}
