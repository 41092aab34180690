import { TriangulateFailure, TriangulateSuccess } from "../../../shared/contract/triangulate.ts";
import { run, type TestApp } from "../app/app.ts";
import { type FrameAnswer, frameOf } from "./dem.ts";
import { checked } from "./session-edits.ts";

export const TRIANGULATE = "/api/triangulate";

/** The frame of a triangulation that succeeds. */
export const triangulated = (made: TestApp, payload: object): Promise<FrameAnswer<TriangulateSuccess>> =>
  frameOf(made, TRIANGULATE, payload, TriangulateSuccess);

/** The meta of a triangulation that fails in its frame. */
export async function failedTriangulation(made: TestApp, payload: object): Promise<TriangulateFailure> {
  const { outcome } = await run(made, TRIANGULATE, payload);
  if (outcome.kind !== "failed") throw new Error(`it did not fail: ${JSON.stringify(outcome).slice(0, 300)}`);
  return checked(TriangulateFailure, outcome.tail);
}

type Point = [number, number, number];

/** Points of a lattice of nx by ny by nz with a spacing of 1 m, from `from` on. */
export function lattice(nx: number, ny: number, nz: number, from: Point = [0, 0, 0]): Point[] {
  const points: Point[] = [];
  for (let k = 0; k < nz; k += 1)
    for (let j = 0; j < ny; j += 1)
      for (let i = 0; i < nx; i += 1) points.push([from[0] + i, from[1] + j, from[2] + k]);
  return points;
}

export interface Surface {
  readonly area: number;
  /** What the triangles enclose, positive for outward ones. */
  readonly volume: number;
  /** Every edge has two triangles, one in each direction. */
  readonly closed: boolean;
  /** V - E + F over the vertices in use. */
  readonly euler: number;
}

/** Measures a mesh from its buffers. */
export function measured(vertices: readonly number[], indices: readonly number[]): Surface {
  const at = (i: number) => [0, 1, 2].map((c) => vertices[3 * (indices[i] ?? -1) + c] ?? Number.NaN) as Point;
  const edges = new Map<string, number>();
  let area = 0;
  let volume = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [p, q, r] = [at(i), at(i + 1), at(i + 2)];
    const a = q.map((value, c) => value - (p[c] ?? 0)) as Point;
    const b = r.map((value, c) => value - (p[c] ?? 0)) as Point;
    const n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]] as const;
    area += Math.hypot(...n) / 2;
    volume += (p[0] * n[0] + p[1] * n[1] + p[2] * n[2]) / 6;
    for (let k = 0; k < 3; k += 1) {
      const key = `${indices[i + k]} ${indices[i + ((k + 1) % 3)]}`;
      edges.set(key, (edges.get(key) ?? 0) + 1);
    }
  }
  const pairs = [...edges].map(([key, count]) => [key.split(" ").reverse().join(" "), count] as const);
  const closed = pairs.every(([back, count]) => count === 1 && edges.get(back) === 1);
  const undirected = new Set([...edges.keys()].map((key) => key.split(" ").sort().join(" ")));
  return { area, volume, closed, euler: new Set(indices).size - undirected.size + indices.length / 3 };
}
