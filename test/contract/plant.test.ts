import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { PlantModelsResponse } from "../../shared/contract/plant.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { build, framed, posted } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/plant/generate";
const BEAN = { plant_type: "bean", age: 20, random_seed: 1 };
const IDS = 30;

describe("models", () => {
  test("all species, sorted, with names and groups", async () => {
    const answer = PlantModelsResponse.parse((await made.app.inject({ url: "/api/plant/models" })).json());
    expect(answer.models).toHaveLength(IDS);
    expect(answer.models).toEqual([...answer.models].sort());
    expect(answer.models).toEqual(answer.details.map(({ id }) => id));
    expect(answer.details.find(({ id }) => id === "maize")).toMatchObject({
      name: "Maize",
      group: "Cereals",
      woody: false,
      origin: "bundled",
    });
    expect(answer.problems).toEqual([]);
  });
});

describe("one plant", () => {
  test("a mesh with the invariants of the contract, a document and a session", async () => {
    const plant = await build(made, URL_, BEAN);
    expect(plant).toMatchObject({
      success: true,
      error: null,
      plant_type: "bean",
      age: 20,
      age_reached: 20,
      random_seed: 1,
      available_models: null,
      plant_count: null,
      count_x: null,
      spacing_y: null,
    });
    expect(plant).not.toHaveProperty("warnings");
    expect(plant.session_id).toMatch(/^[0-9a-f]{32}$/);
    expect(plant.sim_xml).toContain("<plant_age>20</plant_age>");
    const codes = new Set(plant.organ_codes);
    expect([1, 2, 3].every((code) => codes.has(code))).toBe(true);
    const top = Math.max(...plant.vertices.map(([, , z]) => z));
    expect(top).toBeCloseTo(plant.height ?? 0, 5); // float32
    expect(Math.min(...plant.vertices.map(([, , z]) => z))).toBeGreaterThan(-0.01);
    for (const [i, normal] of (plant.normals ?? []).entries())
      if (i % 97 === 0) expect(Math.hypot(...normal)).toBeCloseTo(1, 4);
    expect((plant.colors ?? []).flat().every((value) => value >= 0 && value <= 1)).toBe(true);
  });

  test("leaf triangles have the texture, a PNG file with alpha; all others have [0, 0]", async () => {
    const { materials, textures, material_groups, uv_coordinates, organ_codes } = await build(made, URL_, BEAN);
    expect(materials).toEqual([{ name: "bean", color: null, texture_name: "bean.png", has_alpha: true }]);
    const image = Buffer.from(textures?.["bean.png"] ?? "", "base64");
    expect(image.subarray(1, 4).toString()).toBe("PNG");
    expect(material_groups).toHaveLength(1);
    const textured = new Set(material_groups?.[0]?.triangle_indices);
    expect([...textured].every((i) => organ_codes?.[i] === 1)).toBe(true);
    const plain = (organ_codes ?? []).findIndex((_, i) => !textured.has(i));
    expect(uv_coordinates?.slice(3 * plain, 3 * plain + 3)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect((uv_coordinates ?? []).flat().every((value) => value >= 0 && value <= 1)).toBe(true);
  });

  test("the same seed gives the same bytes, null another plant each time", async () => {
    const text = async (payload: object) => {
      const { body } = await made.app.inject({ method: "POST", url: URL_, payload });
      return body.replace(/"session_id":"[^"]*"/, "");
    };
    expect(await text(BEAN)).toBe(await text(BEAN));
    const free = { ...BEAN, random_seed: null };
    const [a, b] = [await build(made, URL_, free), await build(made, URL_, free)];
    expect(a.random_seed).not.toBe(b.random_seed);
    expect(a.vertices).not.toEqual(b.vertices);
    expect((await build(made, URL_, { ...BEAN, random_seed: a.random_seed })).vertices).toEqual(a.vertices);
    expect((await build(made, URL_, { ...BEAN, random_seed: -5 })).random_seed).toBe(-5);
  });

  test("a place far from 0 moves the plant and keeps its shape to a micrometre", async () => {
    const here = await build(made, URL_, BEAN);
    const place = { position_x: 450_000.5, position_y: 5_400_000.25, position_z: 120 };
    const there = await build(made, URL_, { ...BEAN, ...place });
    const shift = [place.position_x, place.position_y, place.position_z];
    expect(there.triangle_count).toBe(here.triangle_count);
    const worst = there.vertices.reduce((most, vertex, i) => {
      const apart = vertex.map((value, k) => Math.abs(value - (shift[k] ?? 0) - (here.vertices[i]?.[k] ?? 0)));
      return Math.max(most, ...apart);
    }, 0);
    expect(worst).toBeLessThan(1e-6);
  });

  test("a plant does not grow older than its species", async () => {
    const plant = await build(made, URL_, { plant_type: "asparagus", age: 1e9, random_seed: 1 });
    expect([plant.age, plant.age_reached]).toEqual([1e9, 20]);
  });

  test("unknown keys are named", async () => {
    const { warnings } = await build(made, URL_, { ...BEAN, colour: "red" });
    expect(warnings).toEqual([expect.stringContaining('"colour"')]);
  });

  test("columns are released when the response is out", async () => {
    const before = addon.bulkBytesInUse();
    await build(made, URL_, BEAN);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  });
});

test("every species grows to a mesh with its texture, above the ground", async () => {
  const { models } = PlantModelsResponse.parse((await made.app.inject({ url: "/api/plant/models" })).json());
  for (const plant_type of models) {
    const { meta, buffers } = await framed(made, URL_, { plant_type, age: 25, random_seed: 2 });
    expect([plant_type, meta.success, meta.error]).toEqual([plant_type, true, null]);
    expect(meta.triangle_count).toBeGreaterThan(50);
    let [lowest, finite] = [0, true];
    for (const [i, value] of (buffers.get("vertices") ?? []).entries()) {
      finite &&= Number.isFinite(value);
      if (i % 3 === 2) lowest = Math.min(lowest, value);
    }
    expect([plant_type, finite, lowest > -0.05]).toEqual([plant_type, true, true]);
  }
}, 30_000);

describe("leaf inclination", () => {
  const inclination = async (law: object | null) => {
    const { normals, organ_codes, vertices } = await build(made, URL_, { ...BEAN, age: 30, leaf_inclination: law });
    let [sum, areas] = [0, 0];
    for (const [t, code] of (organ_codes ?? []).entries()) {
      if (code !== 1) continue;
      const [a, b, c] = [vertices[3 * t], vertices[3 * t + 1], vertices[3 * t + 2]];
      if (!a || !b || !c) continue;
      const [u, v] = [b.map((x, k) => x - (a[k] ?? 0)), c.map((x, k) => x - (a[k] ?? 0))] as [number[], number[]];
      const at = (w: number[], k: number) => w[k] ?? 0;
      const cross = [0, 1, 2].map(
        (k) => at(u, (k + 1) % 3) * at(v, (k + 2) % 3) - at(u, (k + 2) % 3) * at(v, (k + 1) % 3),
      );
      const area = Math.hypot(...cross) / 2;
      const z = Math.abs(normals?.[3 * t]?.[2] ?? 0);
      sum += (area * Math.acos(Math.min(1, z)) * 180) / Math.PI;
      areas += area;
    }
    return sum / areas;
  };

  test("Beta (1, 3) is steep, Beta (3, 1) is flat", async () => {
    const [steep, flat] = [
      await inclination({ beta_mu: 1, beta_nu: 3 }),
      await inclination({ beta_mu: 3, beta_nu: 1 }),
    ];
    expect(Math.abs(steep - 67.5)).toBeLessThan(8); // blades are folded and bent about their mean normal
    expect(Math.abs(flat - 22.5)).toBeLessThan(8);
  });
});

describe("refusals", () => {
  const failure = async (payload: object) => {
    const plant = await build(made, URL_, payload);
    expect(plant).toMatchObject({ success: false, vertices: [], indices: [], triangle_count: 0, session_id: null });
    return plant;
  };

  test("an unknown type is named and all others are listed", async () => {
    const { error, available_models, code, plant_type } = await failure({ plant_type: "triffid" });
    expect([code, plant_type]).toEqual(["not_found", "triffid"]);
    expect(error).toContain('"triffid"');
    expect(available_models).toHaveLength(IDS);
    expect((await failure({ plant_type: "x".repeat(5000) })).error?.length).toBeLessThan(1500);
    await failure({ plant_type: "__proto__" });
    await failure({ plant_type: "../../etc/passwd" });
  });

  test("a negative age", async () => {
    expect((await failure({ ...BEAN, age: -1 })).error).toContain("-1");
  });

  test.each([
    [{ leaf_inclination: { beta_mu: 0, beta_nu: 1 } }, "leaf_inclination"],
    [{ leaf_inclination: { beta_mu: 1 } }, "beta_nu"],
    [{ age: "30" }, "age"],
    [{ random_seed: 1.5 }, "random_seed"],
    [{ position_x: null }, "position_x"],
  ])("%j is no request: 422", async (payload, field) => {
    const { status, body } = await posted(made, URL_, payload);
    expect([status, body.code]).toEqual([422, "validation"]);
    expect(body.message).toContain(field);
  });

  test("numbers beyond double are no numbers: 422", async () => {
    const headers = { "content-type": "application/json" };
    for (const payload of ['{"age":1e999}', '{"age":-1e999}', '{"age":NaN}', '{"random_seed":1e300}'])
      expect([400, 422]).toContain((await made.app.inject({ method: "POST", url: URL_, payload, headers })).statusCode);
  });

  test("instances need a frame: 400", async () => {
    expect(await posted(made, URL_, { ...BEAN, instances: true })).toMatchObject({
      status: 400,
      body: { code: "invalid_argument" },
    });
  });
});

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
