import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { type ReadPart, readGlb, readMtl, readObj, readPly } from "../support/cli/three-plants.ts";
import { folderOfTest } from "../support/run/folders.ts";

let root = "";
beforeEach(() => {
  root = folderOfTest("plant-");
});
const at = (name: string) => join(root, name);
const outputs = () =>
  readdirSync(root)
    .filter((name) => name !== "data" && name !== "octrees")
    .sort();

async function grown(species: string, file: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await command(root, ["plant", species, "--out", at(file), "--json", ...args]);
  expect([code, stderr.split("\n")[0]]).toEqual([0, `Growing ${species}`]);
  return JSON.parse(stdout);
}

const corners = ({ attributes }: ReadPart) => attributes.position?.array ?? [];
const triangles = (part: ReadPart) => corners(part).length / 9;
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
/** Largest value of an axis over all parts. */
const top = (parts: readonly ReadPart[], axis: number) => {
  let most = -Infinity;
  for (const part of parts)
    for (let i = axis; i < corners(part).length; i += 3) most = Math.max(most, corners(part)[i] ?? 0);
  return most;
};

/** Area of a textured part without the holes of its texture, by samples in each triangle. */
function opaqueArea(part: ReadPart): number {
  const place = corners(part);
  const uv = part.attributes.uv?.array ?? [];
  const image = part.material.map?.image;
  if (!image) throw new Error("no texture");
  const samples = 6;
  let area = 0;
  for (let t = 0; t < triangles(part); t += 1) {
    const [u, v] = [1, 2].map((k) => [0, 1, 2].map((a) => (place[9 * t + 3 * k + a] ?? 0) - (place[9 * t + a] ?? 0)));
    const [ux = 0, uy = 0, uz = 0, vx = 0, vy = 0, vz = 0] = [...(u ?? []), ...(v ?? [])];
    const whole = Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / 2;
    let hits = 0;
    let count = 0;
    for (let i = 0; i < samples; i += 1)
      for (let j = 0; i + j < samples; j += 1) {
        const weights = [(i + 1 / 3) / samples, (j + 1 / 3) / samples];
        const [b = 0, c = 0] = weights;
        const texel = [0, 1].map(
          (k) => (1 - b - c) * (uv[6 * t + k] ?? 0) + b * (uv[6 * t + 2 + k] ?? 0) + c * (uv[6 * t + 4 + k] ?? 0),
        );
        const [x, y] = [Math.floor((texel[0] ?? 0) * image.width), Math.floor((texel[1] ?? 0) * image.height)];
        const clamped = Math.min(image.height - 1, Math.max(0, y)) * image.width;
        if ((image.data[4 * (clamped + Math.min(image.width - 1, Math.max(0, x))) + 3] ?? 0) >= 128) hits += 1;
        count += 1;
      }
    area += (whole * hits) / count;
  }
  return area;
}

describe("a bean", () => {
  test("as GLB: textures inside, cut out, seen from both sides", async () => {
    const { plant, mesh, warnings } = await grown("bean", "bean.glb", "--age", "20", "--seed", "1");
    expect([warnings, plant.seed, plant.age_days]).toEqual([[], 1, 20]);
    const parts = await readGlb(readFileSync(at("bean.glb")));
    expect(sum(parts.map(triangles))).toBe(mesh.triangle_count);
    const [plain, leaves] = parts as [ReadPart, ReadPart];
    expect(parts).toHaveLength(2);
    // 2 = both sides; colours of vertices only where there is no texture.
    expect(parts.map(({ material }) => [material.side, material.vertexColors])).toEqual([
      [2, true],
      [2, false],
    ]);
    expect([leaves.material.name, leaves.material.alphaTest, plain.material.map]).toEqual(["bean", 0.5, null]);
    expect(leaves.attributes.color).toBeUndefined();
    // z upwards, turned to y upwards by the node; column-major.
    expect(plain.matrix.map((value) => Math.round(value * 1e6) / 1e6 + 0)).toEqual([
      1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1,
    ]);
    expect(Math.abs(top(parts, 2) - plant.height_m)).toBeLessThan(1e-6);
  });

  test("as OBJ: the same triangles, with materials and images beside it", async () => {
    const args = ["--age", "20", "--seed", "1"];
    const { outputs: written, mesh } = await grown("bean", "my bean.obj", ...args);
    const beside = ["my_bean.mtl", "my_bean_bean.png", "my_bean_bean_alpha.png"];
    expect([written.files, outputs()]).toEqual([["my bean.obj", ...beside].map(at), ["my bean.obj", ...beside]]);
    await grown("bean", "bean.glb", ...args);
    const text = readFileSync(at("my bean.obj"), "utf8");
    expect(text).toMatch(/^mtllib my_bean\.mtl$/m);
    const parts = await readObj(text);
    const [plain, leaves] = (await readGlb(readFileSync(at("bean.glb")))) as [ReadPart, ReadPart];
    expect(sum(parts.map(triangles))).toBe(mesh.triangle_count);
    const colors = parts.slice(0, -1).map(({ material }) => material.name.replace("color_", ""));
    expect([...new Set(hexColors(plain.attributes.color?.array ?? []))].sort()).toEqual(colors.sort());
    expect(colors.length).toBeGreaterThan(0);
    const same = parts.at(-1) as ReadPart;
    expect(same.material.name).toBe("texture_bean");
    for (const [name, bound] of [
      ["position", 1e-7],
      ["normal", 1e-5],
    ] as const) {
      const [a, b] = [same, leaves].map(({ attributes }) => attributes[name]?.array ?? []);
      expect(a?.length).toBe(b?.length);
      expect(worst(a ?? [], b ?? [])).toBeLessThan(bound);
    }
    // v counts upwards in OBJ and downwards in glTF.
    const uv = Array.from(same.attributes.uv?.array ?? [], (value, i) => (i % 2 === 0 ? value : 1 - value));
    expect(worst(uv, leaves.attributes.uv?.array ?? [])).toBeLessThan(2e-6);
    const materials = await readMtl(readFileSync(at("my_bean.mtl"), "utf8"));
    expect(Object.keys(materials).sort()).toEqual(parts.map(({ material }) => material.name).sort());
    expect(materials.texture_bean).toMatchObject({ map_kd: "my_bean_bean.png", map_d: "my_bean_bean_alpha.png" });
    const [image, alpha] = beside.slice(1).map((name) => PNG.sync.read(readFileSync(at(name)))) as unknown as [
      PNG,
      PNG,
    ];
    for (let i = 3; i < image.data.length; i += 4)
      if (alpha.data[i - 2] !== image.data[i] || alpha.data[i] !== image.data[i])
        throw new Error(`alpha of texel ${i}`);
  });

  test("as PLY: mean colours instead of textures, and organ codes", async () => {
    const { warnings, mesh } = await grown("bean", "bean.ply", "--age", "20", "--seed", "1");
    expect(warnings).toEqual([expect.stringMatching(/^PLY has no textures: leaves have the mean colour/)]);
    const bytes = readFileSync(at("bean.ply"));
    const count = mesh.triangle_count;
    expect((await readPly(bytes)).position?.count).toBe(3 * count);
    const [vertex, face] = [27 + 12, 14];
    const vertices = bytes.indexOf("end_header\n") + 11;
    const faces = vertices + 3 * count * vertex;
    expect(bytes.length).toBe(faces + count * face);
    const { data } = PNG.sync.read(readFileSync("resources/leaf-textures/bean.png"));
    const opaque = Array.from({ length: data.length / 4 }, (_, i) => 4 * i).filter((i) => (data[i + 3] ?? 0) >= 128);
    const mean = [0, 1, 2].map((k) => Math.round(sum(opaque.map((i) => data[i + k] ?? 0)) / opaque.length));
    await grown("bean", "bean.glb", "--age", "20", "--seed", "1");
    const [, leaves] = (await readGlb(readFileSync(at("bean.glb")))) as [ReadPart, ReadPart];
    const leafColors = new Set<string>();
    let blades = 0;
    for (let t = 0; t < count; t += 1) {
      if (bytes[faces + face * t + 13] !== 1) continue;
      blades += 1;
      leafColors.add([...bytes.subarray(vertices + 3 * t * vertex + 36, vertices + 3 * t * vertex + 39)].join());
    }
    expect([blades, [...leafColors]]).toEqual([triangles(leaves), [mean.join()]]);
  });
});

test("holes of textures: places, texture coordinates and images of a tomato give the leaf area of the service", async () => {
  const { plant } = await grown("tomato", "tomato.glb", "--age", "20", "--seed", "1");
  const leaves = (await readGlb(readFileSync(at("tomato.glb")))).find(({ material }) => material.map) as ReadPart;
  const area = opaqueArea(leaves);
  leaves.material.map?.image.data.fill(255);
  const whole = opaqueArea(leaves);
  expect(Math.abs(area / plant.leaf_area_m2 - 1)).toBeLessThan(0.01);
  expect(area / whole).toBeLessThan(0.85);
});

/** Linear colours as sRGB, six hexadecimal digits each. */
function hexColors(linear: ArrayLike<number>): string[] {
  const byte = (value: number) =>
    Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055))
      .toString(16)
      .padStart(2, "0");
  return Array.from({ length: linear.length / 3 }, (_, i) =>
    [0, 1, 2].map((k) => byte(linear[3 * i + k] ?? 0)).join(""),
  );
}

function worst(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < a.length; i += 1) most = Math.max(most, Math.abs((a[i] ?? 0) - (b[i] ?? Number.NaN)));
  return most;
}

test("the picture: white around the plant, leaves with holes, a title and a scale bar", async () => {
  const args = ["--age", "20", "--seed", "1", "--picture", at("b.png")];
  expect((await grown("bean", "b.glb", ...args)).outputs.picture).toBe(at("b.png"));
  const { width, data } = PNG.sync.read(readFileSync(at("b.png")));
  let [green, white] = [0, 0];
  for (let i = 0; i < data.length; i += 4) {
    const [r = 0, g = 0, b = 0] = data.subarray(i, i + 3);
    if (g > r + 20 && g > b + 20) green += 1;
    if (r + g + b === 765) white += 1;
  }
  // A fifth of the frame of 200 pixels and more is leaf, and most of the page is paper.
  expect([width, green > 3000, white > data.length / 8]).toEqual([520, true, true]);
});

test("a leafless apple has no texture, a leafy one has", async () => {
  const bare = await grown("apple_fruitingwall", "bare.obj", "--age", "60", "--seed", "1");
  const leafy = await grown("apple_fruitingwall", "leafy.ply", "--age", "220", "--seed", "1");
  expect([bare.plant.leaf_area_m2, bare.warnings, bare.outputs.files]).toEqual([
    0,
    [],
    [at("bare.obj"), at("bare.mtl")],
  ]);
  expect(leafy.plant.leaf_area_m2).toBeGreaterThan(0.5);
  const parts = await readObj(readFileSync(at("bare.obj"), "utf8"));
  expect([sum(parts.map(triangles)), parts.every(({ material }) => /^color_[0-9a-f]{6}$/.test(material.name))]).toEqual(
    [bare.mesh.triangle_count, true],
  );
});

test("a canopy of maize stands on its grid", async () => {
  const one = await grown("maize", "one.glb", "--age", "15", "--seed", "3");
  const nine = await grown("maize", "nine.glb", "--age", "15", "--seed", "3", "--canopy", "3x3", "--spacing", "2x1.5");
  expect([nine.plant.plant_count, nine.parameters]).toEqual([
    9,
    { age: 15, seed: 3, canopy: [3, 3], spacing_m: [2, 1.5], picture_size: 200 },
  ]);
  expect(nine.mesh.triangle_count).toBeGreaterThan(5 * one.mesh.triangle_count);
  const parts = await readGlb(readFileSync(at("nine.glb")));
  const columns = new Set<string>();
  for (const part of parts)
    for (let i = 0; i < corners(part).length; i += 3)
      // Stems, where they leave the ground.
      if ((corners(part)[i + 2] ?? 1) < 0.002)
        columns.add([Math.round((corners(part)[i] ?? 0) / 2), Math.round((corners(part)[i + 1] ?? 0) / 1.5)].join());
  expect([...columns].sort()).toEqual(["-1", "0", "1"].flatMap((x) => ["-1", "0", "1"].map((y) => `${x},${y}`)).sort());
});

test("a drawn seed is printed, and grows the same file again", async () => {
  const { code, stdout } = await command(root, ["plant", "bean", "--age", "8", "--out", at("a.ply")]);
  const seed = /^Seed +(\d+)$/m.exec(stdout)?.[1] ?? "";
  expect([code, /^\d+$/.test(seed), /^Warning: PLY has no textures/m.test(stdout)]).toEqual([0, true, true]);
  await grown("bean", "b.ply", "--age", "8", "--seed", seed);
  expect(readFileSync(at("b.ply")).equals(readFileSync(at("a.ply")))).toBe(true);
});

test("an age beyond the life of the species is said", async () => {
  const { plant, warnings } = await grown("asparagus", "a.glb", "--age", "1e6", "--seed", "1");
  expect(plant.age_days).toBeLessThan(1e6);
  expect(warnings).toEqual([`asparagus grows for ${plant.age_days} days: --age 1000000 gives the plant of that age.`]);
});

test("files of an earlier run are replaced with --force only, also those beside the mesh", async () => {
  const args = ["plant", "bean", "--age", "8", "--seed", "1", "--out", at("a.obj"), "--picture", at("a.png")];
  for (const name of ["a.obj", "a.png", "a.mtl", "a_bean.png"]) {
    writeFileSync(at(name), "mine");
    const { code, stderr } = await command(root, args);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/" exists; choose another name, or replace it with --force/),
    ]);
    expect([outputs(), readFileSync(at(name), "utf8")]).toEqual([[name], "mine"]);
    expect((await command(root, [...args, "--force"])).code).toBe(0);
    expect(readFileSync(at(name)).length).toBeGreaterThan(100);
    for (const made of outputs()) rmSync(at(made));
  }
});

describe("refusals leave nothing behind and exit 2", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["a typo", ["baen", "--out", "OUT.ply"], /<species> "baen" is unknown; did you mean "bean"\?/],
    ["no species", ["../../etc/passwd", "--out", "OUT.ply"], /is unknown; The species are almond, /],
    [
      "a typo of an option",
      ["bean", "--out", "OUT.ply", "--sed", "1"],
      /unknown option '--sed'\n\(Did you mean --seed\?\)/,
    ],
    ["no mesh format", ["bean", "--out", "OUT.stl"], /must be a file that ends with \.glb, \.obj, \.ply/],
    ["no out", ["bean"], /required option '--out <file>'/],
    ["an age below 0", ["bean", "--out", "OUT.ply", "--age=-1"], /--age "-1" must be 0 or more days/],
    ["an endless age", ["bean", "--out", "OUT.ply", "--age", "Infinity"], /--age "Infinity" must be/],
    ["no age", ["bean", "--out", "OUT.ply", "--age", ""], /--age "" must be/],
    ["a seed that is not whole", ["bean", "--out", "OUT.ply", "--seed", "1.5"], /--seed "1.5" must be a whole number/],
    [
      "a seed that JSON changes",
      ["bean", "--out", "OUT.ply", "--seed", "9007199254740993"],
      /--seed .* must be a whole/,
    ],
    [
      "a canopy of nothing",
      ["bean", "--out", "OUT.ply", "--canopy", "0x3"],
      /--canopy "0x3" must be two whole numbers/,
    ],
    ["one count", ["bean", "--out", "OUT.ply", "--canopy", "5"], /--canopy "5" must be two whole numbers above 0/],
    ["a huge canopy", ["bean", "--out", "OUT.ply", "--canopy", "99999x99999"], /more than the 1000000 plants/],
    [
      "more triangles than fit, before they grow",
      ["bean", "--out", "OUT.ply", "--canopy", "1000x1000", "--age", "20"],
      /^Growing bean\n\d{10,11} triangles are more than the 4000000 that are written; use a smaller --canopy or --age$/m,
    ],
    ["a spacing alone", ["bean", "--out", "OUT.ply", "--spacing", "1"], /--spacing belongs to --canopy/],
    [
      "no distance",
      ["bean", "--out", "OUT.ply", "--canopy", "2x2", "--spacing", "0"],
      /--spacing "0" must be a positive/,
    ],
    [
      "three distances",
      ["bean", "--out", "OUT.ply", "--canopy", "2x2", "--spacing", "1x1x1"],
      /must be one distance, or/,
    ],
    ["a picture of another kind", ["bean", "--out", "OUT.ply", "--picture", "OUT.jpg"], /ends with \.png/],
    ["a picture elsewhere", ["bean", "--out", "OUT.ply", "--picture", "/tmp/x.png"], /must lie in the folder of --out/],
    ["a picture over a texture", ["bean", "--out", "OUT.obj", "--picture", "OUT_bean.png"], /is the name of a texture/],
    ["a folder", ["bean", "--out", "DIR.ply", "--force"], /is not a file; choose another name/],
    ["a link", ["bean", "--out", "LINK.ply", "--force"], /is not a file; choose another name/],
    ["a plant of nothing", ["bean", "--out", "OUT.ply", "--age", "0"], /at --age 0; use a larger one/],
  ])("%s", async (_name, args, why) => {
    mkdirSync(at("dir.ply"));
    symlinkSync(at("nowhere"), at("link.ply"));
    const named = (word: string) =>
      word.replace("OUT", at("out")).replace("DIR", at("dir")).replace("LINK", at("link"));
    const { code, stdout, stderr } = await command(root, ["plant", ...args.map(named)]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(outputs()).toEqual(["dir.ply", "link.ply"]);
  });
});

test("canceled while it is written: exit 130, and no output", async () => {
  const args = ["plant", "bean", "--age", "30", "--out", at("new/a.obj")];
  const { code, stderr } = await command(root, args, (text, cancel) => {
    if (text.endsWith("Writing the mesh\n")) cancel();
  });
  expect([code, stderr]).toEqual([130, expect.stringMatching(/Canceled; nothing was written\.\n$/)]);
  expect(existsSync(at("new"))).toBe(false);
});
