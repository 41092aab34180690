import type { Client } from "../../../shared/client/index.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { loadOctreePoints } from "../analyze/octree-points.ts";
import type { Rgb } from "../drawing/color-ramp.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { type Motion, moved, type WorldMesh } from "../meshes/mesh.ts";
import type { CloudPart, Part } from "./inputs.ts";

/** Points of a surface for a picture, as many as a close scan has in it. */
const SURFACE_POINTS = 400_000;

/** Points of a cloud or of the surface of a mesh, true world coordinates. */
export async function partSample(
  part: Part,
  client: Client,
  budget: number,
  signal: AbortSignal,
): Promise<Float64Array> {
  if (part.kind === "mesh") return surfaceSample(part.mesh, Math.min(budget, SURFACE_POINTS));
  return (await cloudSample(part.tail, client, { budget, signal })).position;
}

/** The points of a cloud's octree, true world coordinates. */
export async function cloudSample(
  { cache_id, world_shift }: Pick<CloudPart["tail"], "cache_id" | "world_shift">,
  client: Client,
  options: { readonly budget: number; readonly signal: AbortSignal; readonly value?: string },
): Promise<PointSample> {
  const { sample } = await loadOctreePoints(client, cache_id, options);
  const shift = world_shift ?? [0, 0, 0];
  return { ...sample, position: sample.position.map((value, i) => value + (shift[i % 3] ?? 0)) };
}

/** Points spread over the area of a mesh: as many on a triangle as its share of the area, at the same places each time. */
export function surfaceSample({ origin, vertices, indices }: WorldMesh, count: number): Float64Array {
  const triangles = indices.length / 3;
  const areas = new Float64Array(triangles);
  const corner = (t: number, k: number, axis: number) => vertices[3 * (indices[3 * t + k] ?? 0) + axis] ?? 0;
  let total = 0;
  for (let t = 0; t < triangles; t += 1) {
    const side = (k: number) => [0, 1, 2].map((axis) => corner(t, k, axis) - corner(t, 0, axis)) as unknown as Triple;
    const [[ux, uy, uz], [vx, vy, vz]] = [side(1), side(2)];
    total += Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / 2;
    areas[t] = total;
  }
  if (!(total > 0)) return Float64Array.from(vertices, (value, i) => value + (origin[i % 3] ?? 0));
  const out = new Float64Array(3 * count);
  for (let i = 0, t = 0; i < count; i += 1) {
    while (t < triangles - 1 && (areas[t] ?? 0) < ((i + 0.5) / count) * total) t += 1;
    // The plastic number's sequence fills a square evenly (M. Roberts 2018); folded, it fills the triangle.
    let [a, b] = [(0.7548776662466927 * (i + 1)) % 1, (0.5698402909980532 * (i + 1)) % 1];
    if (a + b > 1) [a, b] = [1 - a, 1 - b];
    for (let axis = 0; axis < 3; axis += 1) {
      const from = corner(t, 0, axis);
      const place = from + a * (corner(t, 1, axis) - from) + b * (corner(t, 2, axis) - from);
      out[3 * i + axis] = place + (origin[axis] ?? 0);
    }
  }
  return out;
}

/** Places after a motion. */
export function movedPlaces(matrix: Motion, places: Float64Array): Float64Array {
  const out = new Float64Array(places.length);
  for (let i = 0; i < places.length; i += 3)
    out.set(moved(matrix, [places[i] ?? 0, places[i + 1] ?? 0, places[i + 2] ?? 0]), i);
  return out;
}

/** Points of several clouds, each in its colour. */
export function coloredSample(parts: readonly { readonly places: Float64Array; readonly color: Rgb }[]): PointSample {
  const length = parts.reduce((sum, { places }) => sum + places.length, 0);
  const position = new Float64Array(length);
  const rgb = new Uint8Array(length);
  let at = 0;
  for (const { places, color } of parts) {
    position.set(places, at);
    for (let i = 0; i < places.length; i += 3) rgb.set(color, at + i);
    at += places.length;
  }
  return { point_count: length / 3, total_count: length / 3, position, rgb, intensity: undefined };
}
