// Draws the organ prototypes of species, one row each: leaf from above and from the side, flowers, fruits.
// usage: draw-plant-shapes.mjs <out.png> [--size pixels] [--detail factor] [species..]
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { PNG } from "pngjs";
import { register } from "tsx/esm/api";
import { root } from "./fingerprint.mjs";

register();
const { PlantShapes } = await import("../shared/contract/plant-shapes.ts");
const { plantPrototypes } = await import("../backend/native/plant-shapes.ts");
const { rasterizeMesh } = await import("../backend/native/mesh-picture.ts");
const { addon } = await import("../backend/native/core/addon.ts");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { size: { type: "string", default: "180" }, detail: { type: "string", default: "1" } },
});
const [out, ...wanted] = positionals;
if (!out) throw new Error("usage: draw-plant-shapes.mjs <out.png> [--size pixels] [--detail factor] [species..]");
const size = Number(values.size);
const COLUMNS = 7;
const folder = join(root, "resources", "species");
const names = readdirSync(folder).map((file) => basename(file, ".json"));
const rows = [];
for (const name of wanted.length ? wanted : names) {
  const { shapes } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  const built = await plantPrototypes(PlantShapes.parse(shapes), Number(values.detail)).promise;
  const tiles = [];
  for (const prototype of built.prototypes) {
    const isLeaf = prototype.organ === 1;
    if (isLeaf && !prototype.name.endsWith("/0") && !prototype.name.endsWith("/1")) continue;
    if (tiles.length < COLUMNS) tiles.push(await tile(prototype, built.textures, isLeaf ? "above" : "front"));
    if (isLeaf && tiles.length < COLUMNS) tiles.push(await tile(prototype, built.textures, "side"));
    if (!isLeaf && prototype.organ === 5 && tiles.length < COLUMNS)
      tiles.push(await tile(prototype, built.textures, "side"));
  }
  const triangles = built.prototypes.map((p) => `${p.name} ${p.indices.length / 3} area ${p.area.toFixed(4)}`);
  console.log(`${name}: ${triangles.join(", ")}`);
  rows.push(tiles);
}
const picture = new PNG({ width: COLUMNS * size, height: rows.length * size });
picture.data.fill(255);
for (const [y, tiles] of rows.entries())
  for (const [x, rgba] of tiles.entries())
    for (let row = 0; row < size; row += 1)
      picture.data.set(
        rgba.subarray(4 * row * size, 4 * (row + 1) * size),
        4 * ((y * size + row) * COLUMNS * size + x * size),
      );
writeFileSync(out, PNG.sync.write(picture));

function bytes(column) {
  const copy = new Uint8Array(column.bytes);
  column.readInto(copy, 0);
  return copy.buffer;
}

function texture(file) {
  const png = PNG.sync.read(readFileSync(join(root, "resources", "leaf-textures", file)));
  return { width: png.width, height: png.height, rgba: new addon.Column("u8", new Uint8Array(png.data)) };
}

/** Rows of a rotation: right, down, away from the camera. */
function cameraAxes(view) {
  const angle = (view === "side" ? 80 : view === "above" ? 25 : 40) * (Math.PI / 180);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const away = view === "front" ? [-c, 0, -s] : [s, 0, -c];
  const right = [0, view === "front" ? 1 : -1, 0];
  const down = [
    away[1] * right[2] - away[2] * right[1],
    away[2] * right[0] - away[0] * right[2],
    away[0] * right[1] - away[1] * right[0],
  ];
  return [right, down, away];
}

async function tile(prototype, textures, view) {
  const positions = new Float32Array(bytes(prototype.positions));
  const indices = new Uint32Array(bytes(prototype.indices));
  const colors = new Float32Array(bytes(prototype.colors));
  const uvs = prototype.uvs ? new Float32Array(bytes(prototype.uvs)) : null;
  const vertices = Float32Array.from(indices, () => 0).length;
  const flat = {
    vertices: new Float32Array(3 * vertices),
    colors: new Float32Array(3 * vertices),
    uvs: new Float32Array(2 * vertices),
  };
  indices.forEach((v, i) => {
    flat.vertices.set(positions.subarray(3 * v, 3 * v + 3), 3 * i);
    flat.colors.set(colors.subarray(3 * Math.floor(i / 3), 3 * Math.floor(i / 3) + 3), 3 * i);
    if (uvs) flat.uvs.set(uvs.subarray(2 * v, 2 * v + 2), 2 * i);
  });
  const axes = cameraAxes(view);
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i += 3)
    axes.forEach((axis, k) => {
      const value = axis[0] * positions[i] + axis[1] * positions[i + 1] + axis[2] * positions[i + 2];
      low[k] = Math.min(low[k], value);
      high[k] = Math.max(high[k], value);
    });
  const middle = low.map((value, k) => (value + high[k]) / 2);
  const mesh = {
    vertices: new addon.Column("f32", new Uint8Array(flat.vertices.buffer)),
    indices: new addon.Column("u32", new Uint8Array(Uint32Array.from(indices, (_, i) => i).buffer)),
    colors: new addon.Column("f32", new Uint8Array(flat.colors.buffer)),
    uvs: new addon.Column("f32", new Uint8Array(flat.uvs.buffer)),
    triangle_image: new addon.Column(
      "u32",
      new Uint8Array(new Uint32Array(indices.length / 3).fill(prototype.texture ?? 0xffffffff).buffer),
    ),
    textures: textures.map(texture),
  };
  const extent = Math.max(high[0] - low[0], high[1] - low[1], 1e-6);
  const camera = {
    view: axes.flatMap((axis, k) => [...axis, k < 2 ? -middle[k] : 5 - low[2]]),
    perspective: false,
    scale: (0.92 * size) / extent,
    near_m: 0,
    width: size,
    height: size,
  };
  const light = { toward: [-0.4, -0.7, -0.9], ambient: 0.35, is_smooth: false, background: [255, 255, 255, 255] };
  const drawn = await rasterizeMesh(mesh, camera, light, 3).promise;
  return new Uint8Array(bytes(drawn.rgba));
}
