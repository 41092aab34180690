import { describe, expect, test } from "vitest";
import { build, framed } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/plant/generate";
const BEAN = { plant_type: "bean", age: 20, random_seed: 1 };
const IDS = 30;

describe("frames", () => {
  test("have the numbers of the JSON response", async () => {
    const json = await build(made, URL_, { ...BEAN, position_x: 7 });
    const { meta, buffers, markers } = await framed(made, URL_, { ...BEAN, position_x: 7 });
    expect(markers[0]?.run_id).toMatch(/^[0-9a-f]{32}$/);
    expect(meta).toMatchObject({
      success: true,
      triangle_count: json.triangle_count,
      vertex_count: json.vertex_count,
      height: json.height,
      age_reached: 20,
      origin: [7, 0, 0],
      materials: json.materials,
      textures: json.textures,
      session_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const vertices = buffers.get("vertices") ?? new Float32Array();
    expect(vertices).toHaveLength(3 * json.vertex_count);
    json.vertices.slice(0, 500).forEach(([x, y, z], i) => {
      expect(x).toBeCloseTo((vertices[3 * i] ?? Number.NaN) + 7, 6);
      expect(Math.abs(y - (vertices[3 * i + 1] ?? 0))).toBeLessThan(1e-7);
      expect(Math.abs(z - (vertices[3 * i + 2] ?? 0))).toBeLessThan(1e-7);
    });
    expect([...(buffers.get("organ_codes") ?? [])]).toEqual(json.organ_codes);
    expect([...(buffers.get("normals") ?? [])].slice(0, 300)).toEqual(
      json.normals?.flat().slice(0, 300).map(Math.fround),
    );
    const materials = buffers.get("triangle_materials") ?? new Uint32Array();
    const textured = [...materials].flatMap((material, i) => (material === 0 ? [i] : []));
    expect(textured).toEqual(json.material_groups?.[0]?.triangle_indices);
    const words = buffers.get("sim_xml") ?? new Uint32Array();
    const text = Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString().trimEnd();
    expect(text).toBe(json.sim_xml?.trimEnd());
  });

  test("instances placed by their matrices are the mesh: organs exactly, tubes in area", async () => {
    const whole = await framed(made, URL_, BEAN);
    const { meta, buffers } = await framed(made, URL_, { ...BEAN, instances: true });
    expect(meta).toMatchObject({ triangle_count: 0, expanded_triangle_count: whole.meta.triangle_count });
    expect(buffers.has("vertices")).toBe(false);
    const placed = placedInstances(meta, buffers);
    expect(placed.codes).toHaveLength(whole.meta.triangle_count as number);
    const mesh = { vertices: numbers(whole.buffers, "vertices"), codes: numbers(whole.buffers, "organ_codes") };
    const expected = areas(mesh);
    expect(new Set(expected.keys())).toEqual(new Set([1, 2, 3, 6]));
    for (const [code, area] of areas(placed)) {
      expect(Math.abs(area / (expected.get(code) ?? 0) - 1)).toBeLessThan(code === 1 ? 1e-5 : 0.005);
    }
    const blades = corners(placed, 1);
    const exact = corners(mesh, 1);
    expect(blades).toHaveLength(exact.length);
    expect(Math.max(...blades.map((value, i) => Math.abs(value - (exact[i] ?? 0))))).toBeLessThan(1e-6);
  });

  test("a failure is in the meta", async () => {
    const { meta, buffers } = await framed(made, URL_, { plant_type: "triffid" });
    expect(meta).toMatchObject({ success: false, code: "not_found", error: expect.stringContaining("triffid") });
    expect(meta.available_models).toHaveLength(IDS);
    expect(buffers.size).toBe(0);
  });
});

type Numbers = Float32Array | Uint32Array;
const numbers = (buffers: ReadonlyMap<string, Numbers>, name: string): Numbers =>
  buffers.get(name) ?? new Float32Array();

interface Triangles {
  readonly vertices: ArrayLike<number>;
  readonly codes: ArrayLike<number>;
}

/** The triangles of all instances, each corner multiplied by its matrix. */
function placedInstances(meta: Record<string, unknown>, buffers: ReadonlyMap<string, Numbers>): Triangles {
  const shapes = numbers(buffers, "prototype_vertices");
  const organs = numbers(buffers, "prototype_organ_codes");
  const kinds = numbers(buffers, "instance_prototype");
  const matrices = numbers(buffers, "instance_matrix");
  const firsts = meta.prototype_first_triangle as number[];
  expect(kinds).toHaveLength(meta.instance_count as number);
  expect(matrices).toHaveLength(12 * kinds.length);
  const vertices: number[] = [];
  const codes: number[] = [];
  for (const [i, prototype] of kinds.entries()) {
    const [begin, end] = [firsts[prototype] ?? 0, firsts[prototype + 1] ?? 0];
    codes.push(...organs.subarray(begin, end));
    for (let v = 3 * begin; v < 3 * end; v += 1) {
      const point = [...shapes.subarray(3 * v, 3 * v + 3), 1];
      for (let row = 0; row < 3; row += 1)
        vertices.push(point.reduce((sum, value, k) => sum + value * (matrices[12 * i + 4 * row + k] ?? 0), 0));
    }
  }
  return { vertices, codes };
}

/** Area of the triangles of each organ code. */
function areas({ vertices, codes }: Triangles): Map<number, number> {
  const sums = new Map<number, number>();
  for (let t = 0; t < codes.length; t += 1) {
    const at = (corner: number, k: number) => vertices[9 * t + 3 * corner + k] ?? 0;
    const [a, b] = [1, 2].map((corner) => [0, 1, 2].map((k) => at(corner, k) - at(0, k)));
    const cross = [0, 1, 2].map((k) => {
      const [p, q] = [(k + 1) % 3, (k + 2) % 3];
      return (a?.[p] ?? 0) * (b?.[q] ?? 0) - (a?.[q] ?? 0) * (b?.[p] ?? 0);
    });
    const code = codes[t] ?? 0;
    sums.set(code, (sums.get(code) ?? 0) + Math.hypot(...cross) / 2);
  }
  return sums;
}

/** Coordinates of the triangles of one organ code. */
const corners = ({ vertices, codes }: Triangles, code: number): number[] =>
  Array.from({ length: codes.length }, (_, t) => t).flatMap((t) =>
    codes[t] === code ? Array.from({ length: 9 }, (_, k) => vertices[9 * t + k] ?? 0) : [],
  );
