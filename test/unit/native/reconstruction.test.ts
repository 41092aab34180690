import { describe, expect, test } from "vitest";
import {
  ballPivoting,
  ballPivotingBytes,
  estimateNormals,
  type NormalsParams,
  normalsBytes,
  poissonBytes,
  poissonSurface,
} from "../../../backend/native/reconstruction.ts";
import { coordinatesOf, positions, values } from "../../accuracy/native.ts";

/** Points of the unit sphere, evenly spread (Fibonacci lattice). */
function sphere(count: number): Float64Array {
  const out = new Float64Array(3 * count);
  for (let i = 0; i < count; i++) {
    const z = 1 - (2 * i + 1) / count;
    const phi = i * Math.PI * (3 - Math.sqrt(5));
    const r = Math.sqrt(1 - z * z);
    out.set([r * Math.cos(phi), r * Math.sin(phi), z], 3 * i);
  }
  return out;
}

const consistent: NormalsParams = { radius: null, max_nn: 12, orientation: "consistent", graph_neighbors: 15 };
const poisson = {
  depth: 6,
  scale: 1.1,
  samples_per_node: 0.6,
  point_weight: 2,
  trim: true,
  memory_bytes: 2 ** 30,
};

/** V - E + F, and the number of edges that do not belong to two triangles. */
function shape(indices: ArrayLike<number>) {
  const edges = new Map<string, number>();
  const vertices = new Set<number>();
  for (let i = 0; i < indices.length; i++) {
    const a = indices[i] ?? -1;
    const b = indices[i - (i % 3) + ((i + 1) % 3)] ?? -1;
    vertices.add(a);
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    edges.set(key, (edges.get(key) ?? 0) + 1);
  }
  return {
    euler: vertices.size - edges.size + indices.length / 3,
    odd: [...edges.values()].filter((count) => count !== 2).length,
  };
}

describe("reconstruction of a sphere", () => {
  const xyz = sphere(3000);
  const points = positions(xyz);

  test("normals point out, both surfaces are closed", async () => {
    const found = await estimateNormals(points, null, consistent).promise;
    expect(found).toMatchObject({ unestimated_count: 0, component_count: 1 });
    const normals = coordinatesOf(found.normals);
    for (let i = 0; i < normals.length; i += 3) {
      const cosine = [0, 1, 2].reduce((sum, k) => sum + (normals[i + k] ?? 0) * (xyz[i + k] ?? 0), 0);
      expect(cosine).toBeGreaterThan(0.99);
    }
    const screened = await poissonSurface(points, found.normals, poisson).promise;
    expect(screened).toMatchObject({ ignored_count: 0, trimmed_count: 0, speck_count: 0, depth: 5 });
    expect(shape(values(screened.indices))).toEqual({ euler: 2, odd: 0 });
    const vertices = coordinatesOf(screened.vertices);
    for (let i = 0; i < vertices.length; i += 3)
      expect(Math.abs(Math.hypot(vertices[i] ?? 0, vertices[i + 1] ?? 0, vertices[i + 2] ?? 0) - 1)).toBeLessThan(
        0.003,
      );
    const pivoted = await ballPivoting(points, found.normals, {
      radii: [0.05, 0.1],
      tile_points: 120_000,
      sides_are_known: false,
    }).promise;
    expect(pivoted).toMatchObject({ ignored_count: 0, tile_count: 1, radii: [0.05, 0.1], filled_hole_count: 0 });
    expect(shape(values(pivoted.indices))).toEqual({ euler: 2, odd: 0 });
  });

  test("normals toward an origin, and refusals with their codes", async () => {
    const toward = { ...consistent, orientation: "toward_origins" } as const;
    const inward = await estimateNormals(points, positions(new Float64Array(3)), toward).promise;
    expect(coordinatesOf(inward.normals)[2]).toBeLessThan(0);
    await expect(estimateNormals(points, null, toward).promise).rejects.toMatchObject({ code: "invalid_argument" });
    expect(() => estimateNormals(points, null, { ...toward, orientation: "up" as "consistent" })).toThrow(
      /orientation/,
    );
    await expect(poissonSurface(points, points, { ...poisson, depth: 13 }).promise).rejects.toThrow(/depth 13/);
    await expect(poissonSurface(points, points, { ...poisson, memory_bytes: 1e6 }).promise).rejects.toMatchObject({
      code: "out_of_memory",
    });
    await expect(
      ballPivoting(points, points, { radii: [2, 1], tile_points: 120_000, sides_are_known: false }).promise,
    ).rejects.toThrow(/radii/);
  });

  test("memory grows with the points", () => {
    expect(normalsBytes(1000, consistent)).toBeGreaterThan(
      normalsBytes(1000, { ...consistent, orientation: "from_centroid" }),
    );
    expect(poissonBytes(2000)).toBe(2 * poissonBytes(1000));
    expect(ballPivotingBytes(2000)).toBe(2 * ballPivotingBytes(1000));
  });
});
