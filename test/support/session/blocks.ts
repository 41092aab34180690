import type { FlatMesh } from "./mesh.ts";
import { moved, turnAndShift } from "./registration.ts";

/* A scene that is alike from no other side, two clouds of it, and motions. */

let state = 5;
export const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};

/** Boxes of many sizes on a square of 20 m: a mesh that is alike from no other side. */
function blocks(): FlatMesh {
  const mesh_vertices: number[] = [0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0];
  const mesh_indices: number[] = [0, 1, 2, 0, 2, 3];
  const faces = ["0231", "4576", "0154", "2673", "0462", "1375"].map((face) => [...face].map(Number));
  for (let box = 0; box < 14; box += 1) {
    const size = [0.6 + 2.5 * random(), 0.6 + 2.5 * random(), 0.6 + 3 * random()];
    const place = turnAndShift(360 * random(), [0, 0, 0], [2 + 16 * random(), 2 + 16 * random(), 0]);
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) => size.map((edge, axis) => edge * ((i >> axis) & 1)));
    const first = mesh_vertices.length / 3;
    mesh_vertices.push(...moved(place, corners));
    for (const [a = 0, b = 0, c = 0, d = 0] of faces) mesh_indices.push(...[a, b, c, a, c, d].map((i) => first + i));
  }
  return { mesh_vertices, mesh_indices };
}

/** Random places of the triangles of a mesh, by area. */
export function samples({ mesh_vertices, mesh_indices }: FlatMesh, count: number): number[] {
  const corner = (t: number, k: number) =>
    [0, 1, 2].map((i) => mesh_vertices[3 * (mesh_indices[3 * t + k] ?? 0) + i] ?? 0);
  const triangles = Array.from({ length: mesh_indices.length / 3 }, (_, t) => {
    const [a = [], b = [], c = []] = [corner(t, 0), corner(t, 1), corner(t, 2)];
    const [u, v] = [b, c].map((end) => end.map((value, i) => value - (a[i] ?? 0)));
    const of = (side: number[] | undefined, i: number) => side?.[i % 3] ?? 0;
    const cross = [0, 1, 2].map((i) => of(u, i + 1) * of(v, i + 2) - of(u, i + 2) * of(v, i + 1));
    return { a, u, v, area: Math.hypot(...cross) };
  });
  const whole = triangles.reduce((sum, { area }) => sum + area, 0);
  const points: number[] = [];
  for (const { a, u, v, area } of triangles) {
    for (let left = Math.round((count * area) / whole); left > 0; left -= 1) {
      const [s, t] = [random(), random()];
      const [p, q] = s + t > 1 ? [1 - s, 1 - t] : [s, t];
      points.push(...a.map((value, i) => value + p * (u?.[i] ?? 0) + q * (v?.[i] ?? 0)));
    }
  }
  return points;
}

export const BLOCKS = blocks();
export const TARGET = samples(BLOCKS, 3000);
export const SOURCE = samples(BLOCKS, 3000);
/** Upside down, a third of a turn and away; its own inverse but for the shift. */
export const TUMBLE = [-0.5, 0.8660254037844386, 0, 40, 0.8660254037844386, 0.5, 0, -70, 0, 0, -1, 9, 0, 0, 0, 1];
export const BACK = [
  -0.5,
  0.8660254037844386,
  0,
  20 + 70 * 0.8660254037844386,
  0.8660254037844386,
  0.5,
  0,
  35 - 40 * 0.8660254037844386,
  0,
  0,
  -1,
  9,
  0,
  0,
  0,
  1,
];
