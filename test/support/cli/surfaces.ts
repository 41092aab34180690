import { writeFileSync } from "node:fs";
import type { WorldMesh } from "../../../backend/cli/meshes/mesh.ts";
import { cubeMesh } from "../session/mesh.ts";

/** Points of three walls and a step: every motion is held, and none looks like another. `seed` shifts the points. */
export function cornerPoints(seed: number, count = 6000): [number, number, number][] {
  return Array.from({ length: count }, (_, i) => {
    const [a, b] = [(0.7548776662466927 * (i + seed)) % 1, (0.5698402909980532 * (i + seed)) % 1];
    if (i % 4 === 0) return [4 * a, 3 * b, 0];
    if (i % 4 === 1) return [4 * a, 0, 2 * b];
    if (i % 4 === 2) return [0, 3 * a, 2 * b];
    return [1 + a, 1 + b, 0.5 + 0.2 * a];
  });
}

/** A motion: a turn about z and x, then a shift; 4 x 4 row-major. */
export function motion(turn: number, tilt: number, [x, y, z]: readonly number[]): number[] {
  const [c, s, d, t] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
  return [c, -s * d, s * t, x ?? 0, s, c * d, -c * t, y ?? 0, 0, t, d, z ?? 0, 0, 0, 0, 1];
}

export const placed = (matrix: readonly number[], point: readonly number[]): number[] =>
  [0, 1, 2].map((row) =>
    [0, 1, 2].reduce((sum, k) => sum + (matrix[4 * row + k] ?? 0) * (point[k] ?? 0), matrix[4 * row + 3] ?? 0),
  );

/** A cube of one metre as a mesh of the command line; `corner`: its lower corner, relative to the origin. */
export function cube(
  origin: readonly [number, number, number] = [0, 0, 0],
  corner: readonly [number, number, number] = [0, 0, 0],
): WorldMesh {
  const { mesh_vertices, mesh_indices } = cubeMesh(corner);
  return {
    origin,
    vertices: Float32Array.from(mesh_vertices),
    indices: Uint32Array.from(mesh_indices),
    normals: null,
    colors: null,
  };
}

export const joined = (a: WorldMesh, b: WorldMesh): WorldMesh => ({
  ...a,
  vertices: Float32Array.from([...a.vertices, ...b.vertices]),
  indices: Uint32Array.from([...a.indices, ...b.indices.map((index) => index + a.vertices.length / 3)]),
});

/** From the moving to the fixed file. */
export const TRUTH = motion(0.05, -0.03, [0.08, -0.05, 0.04]);

const motionBack = (m: readonly number[]) => {
  const at = (i: number) => m[i] ?? 0;
  const t = [at(3), at(7), at(11)];
  const turned = [0, 1, 2].map((i) => -t.reduce((sum, value, k) => sum + at(4 * k + i) * value, 0));
  return [0, 1, 2].flatMap((i) => [at(i), at(4 + i), at(8 + i), turned[i] ?? 0]).concat([0, 0, 0, 1]);
};

/** The scene as text, in the frame of the fixed file or, with `back`, where the motion has yet to bring it from. */
export function writeCorner(path: string, seed: number, back: boolean, count?: number): string {
  const inverse = motionBack(TRUTH);
  const rows = cornerPoints(seed, count).map((point) => {
    const place = back ? placed(inverse, point) : point;
    return place.map((value) => value.toFixed(6)).join(" ");
  });
  writeFileSync(path, `${rows.join("\n")}\n`);
  return path;
}
