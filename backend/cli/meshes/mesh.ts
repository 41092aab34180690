import type { Box, Triple } from "../../../shared/octree/potree2-metadata.ts";

/** Triangles in true world coordinates, which are `origin` + `vertices`. */
export interface WorldMesh {
  /** Metres. */
  readonly origin: Triple;
  /** (3 V) metres, relative to the origin. */
  readonly vertices: Float32Array;
  /** (3 T). */
  readonly indices: Uint32Array;
  /** (3 V). */
  readonly normals: Float32Array | null;
  /** (3 V) red, green, blue, 0..1. */
  readonly colors: Float32Array | null;
}

/** Bytes of a mesh file in turn; blocks of about a megabyte. */
export type MeshParts = Iterable<string | Uint8Array>;

/** A rigid motion, 4 x 4 row-major, true world coordinates. */
export type Motion = readonly number[];

const at = (matrix: Motion, row: number, column: number) => matrix[4 * row + column] ?? Number.NaN;

/** A place after a motion. */
export function moved(matrix: Motion, [x, y, z]: Triple): Triple {
  const row = (i: number) => at(matrix, i, 0) * x + at(matrix, i, 1) * y + at(matrix, i, 2) * z + at(matrix, i, 3);
  return [row(0), row(1), row(2)];
}

/** The motion back. */
export function inverted(matrix: Motion): number[] {
  const turned = (i: number) =>
    -(at(matrix, 0, i) * at(matrix, 0, 3) + at(matrix, 1, i) * at(matrix, 1, 3) + at(matrix, 2, i) * at(matrix, 2, 3));
  const row = (i: number) => [at(matrix, 0, i), at(matrix, 1, i), at(matrix, 2, i), turned(i)];
  return [...row(0), ...row(1), ...row(2), 0, 0, 0, 1];
}

/** Rotates vectors of three in place of copies. */
export function rotated(matrix: Motion, vectors: Float32Array): Float32Array {
  const out = new Float32Array(vectors.length);
  for (let i = 0; i < vectors.length; i += 3) {
    const [x = 0, y = 0, z = 0] = [vectors[i], vectors[i + 1], vectors[i + 2]];
    for (let row = 0; row < 3; row += 1)
      out[i + row] = at(matrix, row, 0) * x + at(matrix, row, 1) * y + at(matrix, row, 2) * z;
  }
  return out;
}

/** A mesh after a motion. The origin moves with it, so that its vertices keep their digits. */
export const movedMesh = (matrix: Motion, mesh: WorldMesh): WorldMesh => ({
  ...mesh,
  origin: moved(matrix, mesh.origin),
  vertices: rotated(matrix, mesh.vertices),
  normals: mesh.normals && rotated(matrix, mesh.normals),
});

/** Box of the vertices, relative to the origin; undefined without any. */
export function meshBox({ vertices }: Pick<WorldMesh, "vertices">): Box | undefined {
  const min: [number, number, number] = [Infinity, Infinity, Infinity];
  const max: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < vertices.length; i += 3) {
    for (const axis of [0, 1, 2] as const) {
      const value = vertices[i + axis] ?? 0;
      if (value < min[axis]) min[axis] = value;
      if (value > max[axis]) max[axis] = value;
    }
  }
  return min[0] <= max[0] ? { min, max } : undefined;
}
