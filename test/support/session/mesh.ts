import { MeshImportFailure, MeshImportSuccess } from "../../../shared/contract/mesh.ts";
import { run, type TestApp } from "../app/app.ts";
import { type FrameAnswer, frameOf } from "./dem.ts";
import { checked } from "./session-edits.ts";

/** A mesh as flat lists. */
export interface FlatMesh {
  readonly mesh_vertices: number[];
  readonly mesh_indices: number[];
}

/** The cube [0, 1]^3 moved by `offset`, closed, wound counter-clockwise seen from outside. */
export function cubeMesh([x, y, z]: readonly [number, number, number] = [0, 0, 0]): FlatMesh {
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) => [x + (i & 1), y + ((i >> 1) & 1), z + ((i >> 2) & 1)]);
  const faces = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
  ];
  const triangles = faces.flatMap(([a = 0, b = 0, c = 0, d = 0]) => [a, b, c, a, c, d]);
  return { mesh_vertices: corners, mesh_indices: triangles };
}

/** A square of `side` m at height z in `cells` x `cells` squares of two triangles. */
export function sheetMesh(side: number, cells: number, z: number): FlatMesh {
  const vertices: number[] = [];
  const indices: number[] = [];
  for (let j = 0; j <= cells; j += 1)
    for (let i = 0; i <= cells; i += 1) vertices.push((side * i) / cells, (side * j) / cells, z);
  for (let j = 0; j < cells; j += 1) {
    for (let i = 0; i < cells; i += 1) {
      const a = j * (cells + 1) + i;
      indices.push(a, a + 1, a + cells + 2, a, a + cells + 2, a + cells + 1);
    }
  }
  return { mesh_vertices: vertices, mesh_indices: indices };
}

const IMPORT = "/api/mesh/import";

/** The frame of a mesh import that succeeds. */
export const importedMesh = (made: TestApp, path: string, more: object = {}): Promise<FrameAnswer<MeshImportSuccess>> =>
  frameOf(made, IMPORT, { path, ...more }, MeshImportSuccess);

/** The meta of a mesh import that fails in its frame. */
export async function failedImport(made: TestApp, path: string): Promise<MeshImportFailure> {
  const { outcome } = await run(made, IMPORT, { path });
  if (outcome.kind !== "failed") throw new Error(`${path} did not fail: ${JSON.stringify(outcome).slice(0, 300)}`);
  return checked(MeshImportFailure, outcome.tail);
}
