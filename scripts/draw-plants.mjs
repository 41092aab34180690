// Draws whole plants beside each other, one row per species: the ages of `expected`, or those given.
// usage: draw-plants.mjs <out.png> [--size pixels] [--ages days,days,..] [--seed n] [--azimuth deg] [--elevation deg] [species..]
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { PNG } from "pngjs";
import { register } from "tsx/esm/api";
import { root } from "./fingerprint.mjs";

register();
const { SpeciesFile } = await import("../shared/contract/plant-species-file.ts");
const { growPlant, openPlantSpecies } = await import("../backend/native/plants/plants.ts");
const { expandPlants, placedSummary, placePlant, plantTextures } = await import("../backend/native/plants/mesh.ts");
const { rasterizeMesh } = await import("../backend/native/mesh-picture.ts");
const { addon } = await import("../backend/native/core/addon.ts");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: "string", default: "300" },
    ages: { type: "string" },
    seed: { type: "string", default: "1" },
    azimuth: { type: "string", default: "30" },
    elevation: { type: "string", default: "12" },
  },
});
const [out, ...wanted] = positionals;
if (!out) throw new Error("usage: draw-plants.mjs <out.png> [options] [species..]");
const size = Number(values.size);
const folder = join(root, "resources", "species");
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => basename(file, ".json"));

const rows = [];
for (const name of wanted.length ? wanted : names) {
  const file = SpeciesFile.parse(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
  const species = await openPlantSpecies(file, file.shapes).promise;
  const ages = values.ages?.split(",").map(Number) ?? file.expected.ages.map((entry) => entry.age_days);
  const tiles = [];
  for (const age of ages) tiles.push(await tile(name, species, age));
  rows.push(tiles);
  species.release();
}
const columns = Math.max(...rows.map((tiles) => tiles.length));
const picture = new PNG({ width: columns * size, height: rows.length * size });
picture.data.fill(255);
for (const [y, tiles] of rows.entries())
  for (const [x, rgba] of tiles.entries())
    for (let row = 0; row < size; row += 1)
      picture.data.set(
        rgba.subarray(4 * row * size, 4 * (row + 1) * size),
        4 * ((y * size + row) * columns * size + x * size),
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

/** Rows of a rotation: right, down, away from a camera that looks at the plant from an azimuth and an elevation. */
function cameraAxes() {
  const [a, e] = [values.azimuth, values.elevation].map((value) => (Number(value) * Math.PI) / 180);
  const away = [-Math.cos(e) * Math.cos(a), -Math.cos(e) * Math.sin(a), -Math.sin(e)];
  const right = [-Math.sin(a), Math.cos(a), 0];
  const down = [
    away[1] * right[2] - away[2] * right[1],
    away[2] * right[0] - away[0] * right[2],
    away[0] * right[1] - away[1] * right[0],
  ];
  return [right, down, away];
}

function cameraFor(vertices) {
  const axes = cameraAxes();
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < vertices.length; i += 3)
    axes.forEach((axis, k) => {
      const value = axis[0] * vertices[i] + axis[1] * vertices[i + 1] + axis[2] * vertices[i + 2];
      low[k] = Math.min(low[k], value);
      high[k] = Math.max(high[k], value);
    });
  const extent = Math.max(high[0] - low[0], high[1] - low[1], 1e-3);
  return {
    view: axes.flatMap((axis, k) => [...axis, k < 2 ? -(low[k] + high[k]) / 2 : 1 - low[2]]),
    perspective: false,
    scale: (0.95 * size) / extent,
    near_m: 0,
    width: size,
    height: size,
  };
}

async function tile(name, species, age) {
  const started = process.cpuUsage();
  const plant = await growPlant(species, {
    age_days: age,
    seed: Number(values.seed),
    base: [0, 0, 0],
    leaf_inclination: null,
  }).promise;
  const grown = process.cpuUsage(started).user / 1000;
  const placed = await placePlant(plant, species).promise;
  const mesh = await expandPlants(placed, [0, 0, 0]).promise;
  const drawn = process.cpuUsage(started).user / 1000 - grown;
  const summary = placedSummary(placed);
  console.log(
    `${name} ${age} d: height ${summary.height_m.toFixed(3)} m, leaf area ${summary.leaf_area_m2.toFixed(4)} m2, ` +
      `wood ${summary.wood_volume_m3.toExponential(3)} m3, ${summary.triangle_count} triangles; ` +
      `CPU ${grown.toFixed(0)} ms growth, ${drawn.toFixed(0)} ms geometry`,
  );
  if (summary.triangle_count === 0) return new Uint8Array(4 * size * size).fill(255);
  const picture = await rasterizeMesh(
    { ...mesh, triangle_image: mesh.triangle_material, textures: plantTextures(species).map(texture) },
    cameraFor(new Float32Array(bytes(mesh.vertices))),
    { toward: [-0.5, -0.9, -0.6], ambient: 0.35, is_smooth: false, background: [255, 255, 255, 255] },
    2,
  ).promise;
  return new Uint8Array(bytes(picture.rgba));
}
