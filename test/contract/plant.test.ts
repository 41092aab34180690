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

  test.each([
    ["grapevine_Wye", 25], // bare cordons, level and thick
    ["almond", 25], // bare and simplified
    ["walnut", 200], // a petiole is the highest
    ["puncturevine", 25], // lies on the ground
  ])("the height of %s is that of the mesh, whatever is on top", async (plant_type, age) => {
    const plant = await build(made, URL_, { plant_type, age, random_seed: 1 });
    const top = plant.vertices.reduce((most, [, , z]) => Math.max(most, z), 0);
    expect(plant.height).toBeCloseTo(top, 5); // float32
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
