import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { LEAF_TEXTURE_NAMES, LeavesResponse } from "../../shared/contract/qsm-leaves.ts";
import { PhyllotaxisResponse } from "../../shared/contract/qsm-phyllotaxis.ts";
import { branchedShoots, ShootModel } from "../support/qsm/shoots.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const post = async (url: string, payload: object) => {
  const answer = await made.app.inject({ method: "POST", url, payload });
  expect(answer.statusCode).toBe(200);
  return answer.json();
};
const leaves = async (payload: object) => LeavesResponse.parse(await post("/api/qsm/leaves", payload));
const builtin = { builtin_texture_name: "AlmondLeaf.png" };

/** A vertical shoot of 0.4 m in four cylinders. */
const twig = () => {
  const model = new ShootModel();
  model.add([100, 200, 5], [0, 0, 1], { count: 4, length: 0.1 });
  return model.model;
};

const length = (v: readonly number[]) => Math.hypot(...v);
const minus = (a: readonly number[], b: readonly number[]) => a.map((x, i) => x - (b[i] ?? 0));
const middle = (a: readonly number[], b: readonly number[]) => a.map((x, i) => (x + (b[i] ?? 0)) / 2);

describe("/api/qsm/phyllotaxis", () => {
  test.each([
    [180, 2, "opposite", 2],
    [137.5, 1, "spiral", 1],
    [144, 1, "spiral", 1],
    [150, 1, "spiral", 1],
    [90, 2, "decussate", 2],
  ])("finds %s degrees with %s branches a node", async (angle_deg, per_node, pattern, leaves_per_node) => {
    const { model } = branchedShoots(angle_deg, { per_node, nodes: 10 });
    const found = PhyllotaxisResponse.parse(await post("/api/qsm/phyllotaxis", model));
    expect(found).toMatchObject({
      success: true,
      angle_deg,
      pattern,
      leaves_per_node,
      n_parents_sampled: 1,
      error: null,
    });
    expect(found.confidence).toBeGreaterThan(0.8);
    expect(found.candidates).toHaveLength(5);
  });

  test("without branches nothing is measured, and a warning says so", async () => {
    const found = PhyllotaxisResponse.parse(await post("/api/qsm/phyllotaxis", twig()));
    expect(found).toMatchObject({ success: true, angle_deg: 137.5, confidence: 0, n_parents_sampled: 0 });
    expect(found.warnings?.[0]).toMatch(/nothing was measured/);
  });

  test.each([
    [
      "a cycle",
      (m: ReturnType<typeof twig>) => Object.assign(m.cylinders[0] ?? {}, { parent_id: 3 }),
      /cycle|ancestor|parent/,
    ],
    ["its own parent", (m: ReturnType<typeof twig>) => Object.assign(m.cylinders[1] ?? {}, { parent_id: 1 }), /parent/],
    [
      "two of one id",
      (m: ReturnType<typeof twig>) => Object.assign(m.cylinders[1] ?? {}, { cyl_id: 0 }),
      /two cylinders/,
    ],
    [
      "a shoot that is its own parent",
      (m: ReturnType<typeof twig>) => Object.assign(m.shoots[0] ?? {}, { parent_shoot_id: 0 }),
      /shoot/,
    ],
  ])("a model with %s is reported in error", async (_, spoil, message) => {
    const model = twig();
    spoil(model);
    for (const [url, more] of [
      ["/api/qsm/phyllotaxis", {}],
      ["/api/qsm/leaves", builtin],
    ] as const) {
      const answer = await post(url, { ...model, ...more });
      expect(answer).toMatchObject({ success: false, code: "invalid_argument" });
      expect(answer.error).toMatch(message);
    }
  });

  test("numbers that no cylinder has are refused before the run", async () => {
    const model = twig();
    Object.assign(model.cylinders[0] ?? {}, { radius: 0 });
    const answer = await made.app.inject({ method: "POST", url: "/api/qsm/phyllotaxis", payload: model });
    expect(answer.statusCode).toBe(422);
  });
});

test("leaf textures: transparent pictures, base at the left edge, in the list and nowhere else", async () => {
  const answer = await made.app.inject({ method: "GET", url: "/api/qsm/leaf-textures" });
  expect(answer.json()).toEqual({ textures: [...LEAF_TEXTURE_NAMES] });
  for (const name of LEAF_TEXTURE_NAMES) {
    const { width, height, data } = PNG.sync.read(readFileSync(join("resources/leaf-textures", name)));
    const alpha = (x: number, y: number) => data[4 * (y * width + x) + 3] ?? 0;
    const column = (x: number) => Array.from({ length: height }, (_, y) => alpha(x, y)).filter((a) => a >= 128).length;
    expect(alpha(0, 0) + alpha(width - 1, 0) + alpha(0, height - 1) + alpha(width - 1, height - 1)).toBe(0);
    expect(column(Math.floor(width / 2))).toBeGreaterThan(0.25 * height); // the blade
    const opaque = Array.from({ length: width }, (_, x) => column(x));
    const weight = opaque.reduce((sum, n) => sum + n, 0);
    expect(weight).toBeLessThan(0.9 * width * height);
    expect(alpha(Math.floor(0.3 * width), Math.floor(height / 2))).toBe(255); // the midrib
  }
});

describe("/api/qsm/leaves", () => {
  test("count, spacing, pitch, area and azimuths are those of the closed form", async () => {
    const request = {
      ...twig(),
      ...builtin,
      leaf_spacing: 0.05,
      leaf_pitch_deg: 30,
      leaf_size_m: 0.1,
      phyllotaxis_deg: 144,
    };
    const answer = await leaves(request);
    expect(answer).toMatchObject({ success: true, leaf_count: 9, triangle_count: 18, vertex_count: 54, error: null });
    const { width, height } = PNG.sync.read(readFileSync("resources/leaf-textures/AlmondLeaf.png"));
    const leaf_width = (0.1 * Math.min(width, height)) / Math.max(width, height);
    for (let leaf = 0; leaf < 9; leaf += 1) {
      const v = answer.vertices.slice(6 * leaf, 6 * leaf + 6) as [number, number, number][];
      const [a = [], b = [], c = [], , , d = []] = v as number[][];
      const base = middle(a, b);
      const direction = minus(middle(c, d), base);
      expect(length(direction)).toBeCloseTo(0.1, 6);
      expect(length(minus(a, b))).toBeCloseTo(leaf_width, 6);
      expect((direction[2] ?? 0) / 0.1).toBeCloseTo(Math.cos(Math.PI / 6), 6);
      // A vertical shoot: u = x, v = y.
      const azimuth = (144 * leaf * Math.PI) / 180;
      expect(base[0]).toBeCloseTo(100 + 1.5 * 0.004 * Math.cos(azimuth), 6);
      expect(base[1]).toBeCloseTo(200 + 1.5 * 0.004 * Math.sin(azimuth), 6);
      expect(base[2]).toBeCloseTo(5 + 0.05 * leaf, 6);
    }
    expect(answer.indices.slice(0, 2)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(answer.uv_coordinates?.slice(0, 3)).toEqual([
      [0, 1],
      [0, 0],
      [1, 0],
    ]);
    expect(answer.materials).toEqual([
      { name: "leaf", color: [0.3, 0.5, 0.1], texture_name: "AlmondLeaf.png", has_alpha: true },
    ]);
    expect(answer.material_groups).toEqual([
      { material_name: "leaf", triangle_indices: Array.from({ length: 18 }, (_, i) => i) },
    ]);
    const sent = Buffer.from(answer.textures?.["AlmondLeaf.png"] ?? "", "base64");
    expect(sent.equals(readFileSync("resources/leaf-textures/AlmondLeaf.png"))).toBe(true);
  });

  test("leaves start behind the outermost fork; child lists may be left out", async () => {
    const model = new ShootModel();
    const shoot = model.add([0, 0, 0], [0, 0, 1], { count: 4, length: 0.1 });
    model.add([0, 0, 0.2], [1, 0, 0], { count: 1, length: 0.03 }, { shoot, cylinder: 1 });
    for (const one of model.shoots) one.child_shoot_ids = [];
    const answer = await leaves({ ...model.model, ...builtin });
    expect(answer.leaf_count).toBe(5 + 1); // 0.2 .. 0.4 m, and the child's base
  });

  test("a limit thins the leaves evenly, with a warning", async () => {
    const answer = await leaves({ ...twig(), ...builtin, max_leaves: 3 });
    expect(answer.leaf_count).toBe(3);
    expect(answer.warnings?.[0]).toMatch(/3 of 9 leaves/);
  });

  test("lengths of centimetres are told", async () => {
    const { warnings } = await leaves({ ...twig(), ...builtin, leaf_size_m: 8, leaf_spacing: 0.05 });
    expect(warnings).toEqual(["leaf_size_m 8: the unit is metres, 8 cm are 0.08."]);
    expect((await leaves({ ...twig(), ...builtin, leaf_size_m: 0.08 })).warnings).toBeUndefined();
  });

  test("unknown keys are named", async () => {
    expect((await leaves({ ...twig(), ...builtin, leaf_siz: 1 })).warnings?.[0]).toMatch(/leaf_siz/);
  });

  const obj = (more = "") =>
    `${more}v 0 0 0\nv 0 2 0\nv 0.5 1 0\nvt 0 0\nvt 1 0\nvt 0.5 1\nusemtl skin\nf 1/1 2/2 3/3\n`;

  test("an OBJ without textures has no materials; its length is that of leaves", async () => {
    const answer = await leaves({ ...twig(), ...builtin, obj_path: made.file("leaf.obj", obj()), leaf_size_m: 0.2 });
    expect(answer).toMatchObject({ leaf_count: 9, triangle_count: 9, materials: null, material_groups: null });
    expect(answer).toMatchObject({ uv_coordinates: null, textures: null });
    const [a, b] = answer.vertices;
    expect(length(minus(a ?? [], b ?? []))).toBeCloseTo(0.2, 6);
  });

  test("an OBJ with a texture keeps its materials and groups", async () => {
    const picture = PNG.sync.write(new PNG({ width: 2, height: 2 }));
    made.file("skin.png", picture);
    made.file("leaf.mtl", "newmtl skin\nKd 0.1 0.2 0.3\nmap_Kd skin.png\n");
    const answer = await leaves({ ...twig(), obj_path: made.file("leaf.obj", obj("mtllib leaf.mtl\n")) });
    expect(answer.materials).toEqual([
      { name: "skin", color: [0.1, 0.2, 0.3], texture_name: "skin.png", has_alpha: true },
    ]);
    expect(answer.material_groups?.[0]?.triangle_indices).toHaveLength(9);
    expect(answer.uv_coordinates).toHaveLength(27);
    expect(Object.keys(answer.textures ?? {})).toEqual(["skin.png"]);
  });

  test("a user's picture gives the shape of leaves, a JPEG 0.6", async () => {
    const png = made.file("wide.png", PNG.sync.write(new PNG({ width: 40, height: 10 })));
    const jpeg = made.file("leaf.jpg", Buffer.from("ffd8ffc0000b080010002001011100ffd9", "hex"));
    for (const [texture_path, aspect, has_alpha] of [
      [png, 0.25, true],
      [jpeg, 0.6, false],
    ] as const) {
      const answer = await leaves({ ...twig(), texture_path, ...builtin });
      const [a, b] = answer.vertices;
      expect(length(minus(a ?? [], b ?? []))).toBeCloseTo(0.08 * aspect, 6);
      expect(answer.materials?.[0]?.has_alpha).toBe(has_alpha);
    }
  });

  test.each([
    ["no look", {}, /No look/],
    ["an unknown name", { builtin_texture_name: "OakLeaf.png" }, /no built-in leaf texture/],
    ["a path for a name", { builtin_texture_name: "../leaf-textures/AlmondLeaf.png" }, /no built-in leaf texture/],
    ["a missing file", { texture_path: "/nowhere/leaf.png" }, /not found/i],
    ["a relative path", { obj_path: "leaf.obj" }, /absolute/],
    ["a device", { texture_path: "/dev/null" }, /not a regular file|extension/],
    ["another format", { texture_path: join(process.cwd(), "package.json") }, /extension/],
    ["no mesh", { obj_path: join(process.cwd(), "package.json") }, /extension/],
  ])("%s is reported in error", async (_, look, message) => {
    const answer = await leaves({ ...twig(), ...look });
    expect(answer).toMatchObject({ success: false, leaf_count: 0, vertices: [], textures: null });
    expect(answer.error).toMatch(message);
  });

  test("hostile files: no triangles, a picture of text, a cut header", async () => {
    const bad = [
      { obj_path: made.file("empty.obj", "# nothing\n") },
      { obj_path: made.file("wild.obj", "v nan inf 0\nv 1 0 0\nv 0 1e300 0\nf 1 2 3\nf 1 2 99\n") },
      { texture_path: made.file("text.png", "hello") },
      { texture_path: made.file("cut.png", Buffer.from("89504e470d0a1a0a0000", "hex")) },
      { texture_path: made.file("zero.png", PNG.sync.write(new PNG({ width: 1, height: 1 })).fill(0, 16, 24)) },
      { texture_path: made.file("loop.jpg", Buffer.from("ffd8ffe00000ffe00000", "hex")) },
    ];
    for (const look of bad) expect((await leaves({ ...twig(), ...look })).success, JSON.stringify(look)).toBe(false);
  });

  test("no growth beyond the last fork: no place for leaves", async () => {
    const empty = await leaves({ cylinders: [], shoots: [], ...builtin });
    expect(empty.error).toMatch(/no place for leaves/);
  });

  test("too many triangles for a response name the limit that fits", async () => {
    const faces = Array.from({ length: 50 }, () => "f 1/1 2/2 3/3").join("\n");
    const obj_path = made.file("heavy.obj", `${obj()}${faces}\n`);
    const model = new ShootModel();
    model.add([0, 0, 0], [0, 0, 1], { count: 1, length: 30 });
    const answer = await leaves({ ...model.model, obj_path, leaf_spacing: 0.001 });
    expect(answer.code).toBe("unsupported");
    expect(answer.error).toMatch(/set max_leaves to 19607/);
  });

  test("a model of 3 MB arrives whole", async () => {
    const model = new ShootModel();
    for (let i = 0; i < 3000; i += 1) model.add([i, 0, 0], [0, 0, 1], { count: 4, length: 0.1 });
    const payload = JSON.stringify({ ...model.model, ...builtin, leaf_spacing: 0.2 });
    expect(payload.length).toBeGreaterThan(2e6);
    const headers = { "content-type": "application/json" };
    const answer = await made.app.inject({ method: "POST", url: "/api/qsm/leaves", payload, headers });
    expect(answer.json().leaf_count).toBe(9000);
  });
});
