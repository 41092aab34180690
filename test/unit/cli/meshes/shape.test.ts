import { describe, expect, test } from "vitest";
import { closedTile } from "../../../../backend/cli/mesh/results.ts";
import { meshShape } from "../../../../backend/cli/meshes/shape.ts";
import { cube, joined } from "../../../support/cli/surfaces.ts";

const part = (mesh: ReturnType<typeof cube>, indices: readonly number[]) => ({
  ...mesh,
  indices: Uint32Array.from(indices),
});

describe("the shape of a mesh", () => {
  test("a cube is closed, with area and volume", () => {
    expect(meshShape(cube())).toEqual({
      vertex_count: 8,
      triangle_count: 12,
      area_m2: 6,
      boundary_edge_count: 0,
      non_manifold_edge_count: 0,
      component_count: 1,
      is_closed: true,
      volume_m3: expect.closeTo(1, 12),
    });
  });

  test("turned inside out, the volume is negative", () => {
    const { indices, ...mesh } = cube([5e6, 5e5, 0]);
    expect(meshShape({ ...mesh, indices: indices.toReversed() }).volume_m3).toBeCloseTo(-1, 12);
  });

  test("a missing triangle leaves three boundary edges and no volume", () => {
    const shape = meshShape(part(cube(), [...cube().indices.slice(3)]));
    expect(shape).toMatchObject({ is_closed: false, boundary_edge_count: 3, volume_m3: null, component_count: 1 });
  });

  test("vertices at one place are one: triangles with corners of their own are joined", () => {
    const { vertices, indices, ...mesh } = cube();
    const own = Float32Array.from([...indices].flatMap((i) => [...vertices.slice(3 * i, 3 * i + 3)]));
    // Minus zero is the place of zero.
    const signed = own.map((value, i) => (value === 0 && i % 2 === 0 ? -0 : value));
    const soup = { ...mesh, vertices: signed, indices: Uint32Array.from({ length: 36 }, (_, i) => i) };
    expect(meshShape(soup)).toMatchObject({ vertex_count: 36, is_closed: true, component_count: 1 });
  });

  test("parts are counted, and edges of three triangles", () => {
    const two = joined(cube(), cube([0, 0, 0], [3, 0, 0]));
    expect(meshShape(two)).toMatchObject({ component_count: 2, is_closed: true, volume_m3: expect.closeTo(2, 5) });
    const fan = meshShape(part(cube(), [0, 1, 2, 0, 1, 4, 0, 1, 6]));
    expect(fan).toMatchObject({ non_manifold_edge_count: 1, boundary_edge_count: 6, is_closed: false });
    expect(meshShape(part(cube(), []))).toMatchObject({ component_count: 0, is_closed: false, area_m2: 0 });
  });

  test("two cubes that meet in an edge are not closed, and the report says why", () => {
    const shape = meshShape(joined(cube(), cube([0, 0, 0], [1, 1, 0])));
    expect(shape).toMatchObject({ boundary_edge_count: 0, non_manifold_edge_count: 1, is_closed: false });
    expect(closedTile(shape)).toEqual(["not closed", "1 edge of more than two triangles"]);
    expect(closedTile(meshShape(part(cube(), [...cube().indices.slice(3)])))).toEqual(["open", "3 boundary edges"]);
  });
});
