import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import { bladeOutline, type OrganPrototype, plantPrototypes } from "../../../backend/native/plant-shapes.ts";
import { Blade, PlantShapes } from "../../../shared/contract/plant-shapes.ts";
import { drawLeafTexture } from "../../support/leaf-texture.ts";

const resources = join(import.meta.dirname, "../../../resources");
const species = readdirSync(join(resources, "species")).filter((file) => file.endsWith(".json"));
const shapesOf = (file: string) =>
  PlantShapes.parse(JSON.parse(readFileSync(join(resources, "species", file), "utf8")).shapes);

function bytes(column: NativeColumn): ArrayBuffer {
  const out = new Uint8Array(column.bytes);
  column.readInto(out, 0);
  return out.buffer;
}
const released = ({ positions, indices, colors, uvs }: OrganPrototype) => {
  for (const column of [positions, indices, colors, uvs]) column?.release();
};

/** Share of the blade where a texture is opaque: by random points on the mesh. */
function sampledCoverage(leaf: OrganPrototype, png: PNG): number {
  const uvs = new Float32Array(bytes(leaf.uvs as NativeColumn));
  const indices = new Uint32Array(bytes(leaf.indices));
  const corner = (i: number) => [uvs[2 * (indices[i] ?? 0)] ?? 0, uvs[2 * (indices[i] ?? 0) + 1] ?? 0] as const;
  let state = 1;
  const draw = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  let inside = 0;
  let opaque = 0;
  for (let t = 0; t < indices.length; t += 3) {
    const [a, b, c] = [corner(t), corner(t + 1), corner(t + 2)];
    const area = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2;
    const count = 200;
    let hits = 0;
    for (let i = 0; i < count; i += 1) {
      const s = Math.sqrt(draw());
      const r = draw();
      const u = a[0] * (1 - s) + b[0] * s * (1 - r) + c[0] * s * r;
      const v = a[1] * (1 - s) + b[1] * s * (1 - r) + c[1] * s * r;
      const x = Math.min(png.width - 1, Math.floor(u * png.width));
      const y = Math.min(png.height - 1, Math.floor(v * png.height));
      if ((png.data[4 * (y * png.width + x) + 3] ?? 0) >= 128) hits += 1;
    }
    inside += area;
    opaque += (area * hits) / count;
  }
  return opaque / inside;
}

test.each(species)("%s: its organs can be built, and its textures cover the stated share", async (file) => {
  const shapes = shapesOf(file);
  const { prototypes, textures } = await plantPrototypes(shapes, 1).promise;
  expect(prototypes.length).toBeGreaterThan(0);
  for (const prototype of prototypes) {
    expect(prototype.area).toBeGreaterThan(0);
    const [kind, name = "", variant] = prototype.name.split("/");
    const texture = shapes.leaves[name]?.texture;
    if (kind === "leaf" && variant === "0" && texture && prototype.texture !== null) {
      expect(textures[prototype.texture]).toBe(texture.file);
      const png = PNG.sync.read(readFileSync(join(resources, "leaf-textures", texture.file)));
      expect(Math.abs(sampledCoverage(prototype, png) - texture.coverage)).toBeLessThan(0.006);
    }
    released(prototype);
  }
});

test("a drawn texture is the file, with its coverage", async () => {
  const leaf = shapesOf("almond.json").leaves.leaf;
  if (!leaf?.texture) throw new Error("almond has no texture");
  const drawn = await drawLeafTexture(leaf);
  const png = PNG.sync.read(readFileSync(join(resources, "leaf-textures", leaf.texture.file)));
  expect([drawn.width, drawn.height]).toEqual([png.width, png.height]);
  expect(Buffer.compare(Buffer.from(drawn.rgba), png.data)).toBe(0);
  expect(drawn.coverage).toBe(leaf.texture.coverage);
});

test("the list of checksums is that of the files", () => {
  const folder = join(resources, "leaf-textures");
  const files = readdirSync(folder).filter((name) => name.endsWith(".png"));
  const sums = files.sort().map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
  expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).toBe(sums.join(""));
  const used = new Set(
    species.flatMap((file) => Object.values(shapesOf(file).leaves).map((leaf) => leaf.texture?.file)),
  );
  const lying = /^[A-Z][a-z]+Leaf(_upper)?\.png$/; // those of leaves on models of trees
  expect(files.filter((name) => !used.has(name) && !lying.test(name))).toEqual([]);
  for (const name of files) expect(readFileSync(join(folder, name)).length, name).toBeLessThan(60_000);
});

test("an outline is that of its formula", () => {
  const blade = Blade.parse({ width_ratio: 0.5, base_exponent: 1, tip_exponent: 1 });
  const { outline, half_width, x_min, x_max } = bladeOutline(blade, 40);
  expect([half_width, x_min, x_max]).toEqual([0.25, 0, 1]);
  for (const [x, y] of outline) expect(Math.abs(y)).toBeCloseTo(x * (1 - x), 12);
});

test("shapes that cannot be built are refused by name", async () => {
  const before = addon.bulkBytesInUse();
  const leaf = { blade: { width_ratio: 0.5 }, color: [0, 1, 0] };
  const shapes = PlantShapes.parse({ leaves: { odd: leaf } });
  (shapes.leaves.odd as { blade: { width_ratio: number } }).blade.width_ratio = 9;
  await expect(plantPrototypes(shapes, 1).promise).rejects.toMatchObject({
    code: "invalid_argument",
    message: "shape odd: width_ratio must be from 0.0001 to 4, not 9",
  });
  expect(PlantShapes.safeParse({ leaves: { odd: { ...leaf, blade: { width_ratio: 9 } } } }).success).toBe(false);
  expect(PlantShapes.safeParse({ flowers: { none: {} } }).success).toBe(false);
  expect(
    PlantShapes.safeParse({ leaves: { odd: { ...leaf, blade: { form: "polar", width_ratio: 1 } } } }).success,
  ).toBe(false);
  expect(PlantShapes.safeParse({ leavs: {} }).success).toBe(false);
  expect(addon.bulkBytesInUse()).toBe(before);
});
