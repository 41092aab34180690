// Draws whole plants beside each other, one group per species: the ages of `expected`, or those given.
// usage: draw-plants.mjs <out.png> [--size pixels] [--ages days,days,..] [--seed n] [--azimuth deg] [--elevation deg]
//   [--per-row species] [--names] [--shades per channel] [species..]
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
const { Canvas, LINE_PX } = await import("../backend/cli/drawing/canvas.ts");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: "string", default: "300" },
    ages: { type: "string" },
    seed: { type: "string", default: "1" },
    azimuth: { type: "string", default: "30" },
    elevation: { type: "string" },
    "per-row": { type: "string", default: "1" },
    names: { type: "boolean", default: false },
    shades: { type: "string", default: "256" },
  },
});
const [out, ...wanted] = positionals;
if (!out) throw new Error("usage: draw-plants.mjs <out.png> [options] [species..]");
const size = Number(values.size);
/** Plants that are wider than so many times their height. */
const CREEPING = 3;
const folder = join(root, "resources", "species");
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => basename(file, ".json"));

const groups = [];
for (const name of wanted.length ? wanted : names) {
  const file = SpeciesFile.parse(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
  const species = await openPlantSpecies(file, file.shapes).promise;
  const ages = values.ages?.split(",").map(Number) ?? file.expected.ages.map((entry) => entry.age_days);
  const tiles = [];
  for (const age of ages) tiles.push(await tile(name, species, age));
  groups.push({ tiles, caption: `${name}: ${ages.join(", ")} days` });
  species.release();
}
writeFileSync(out, sheet(groups));

/** The groups row by row, with their captions below; fewer shades make a smaller file. */
function sheet(groups) {
  const perRow = Number(values["per-row"]);
  const columns = Math.max(...groups.map(({ tiles }) => tiles.length));
  const height = size + (values.names ? 2 * LINE_PX : 0);
  const canvas = new Canvas(perRow * columns * size, Math.ceil(groups.length / perRow) * height);
  for (const [i, { tiles, caption }] of groups.entries()) {
    const [x, y] = [(i % perRow) * columns * size, Math.floor(i / perRow) * height];
    for (const [k, data] of tiles.entries()) canvas.place({ width: size, height: size, data }, x + k * size, y);
    if (values.names) canvas.text(caption, x + (columns * size) / 2, y + size + LINE_PX, "middle");
  }
  const step = 255 / (Number(values.shades) - 1);
  const picture = new PNG({ width: canvas.width, height: canvas.height });
  picture.data = Buffer.from(canvas.data.map((value) => Math.round(Math.round(value / step) * step)));
  return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9 });
}

function bytes(column) {
  const copy = new Uint8Array(column.bytes);
  column.readInto(copy, 0);
  return copy.buffer;
}

function texture(file) {
  const png = PNG.sync.read(readFileSync(join(root, "resources", "leaf-textures", file)));
  return { width: png.width, height: png.height, rgba: new addon.Column("u8", new Uint8Array(png.data)) };
}

/** The elevation that was given; else plants that creep are seen from above, all others from the side. */
function elevationFor(vertices) {
  if (values.elevation !== undefined) return Number(values.elevation);
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < vertices.length; i += 1) {
    low[i % 3] = Math.min(low[i % 3], vertices[i]);
    high[i % 3] = Math.max(high[i % 3], vertices[i]);
  }
  const [x, y, z] = high.map((value, k) => value - low[k]);
  return Math.max(x, y) > CREEPING * z ? 40 : 12;
}

/** Rows of a rotation: right, down, away from a camera that looks at the plant from an azimuth and an elevation. */
function cameraAxes(elevation) {
  const [a, e] = [values.azimuth, elevation].map((value) => (Number(value) * Math.PI) / 180);
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
  const axes = cameraAxes(elevationFor(vertices));
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
  const textures = plantTextures(species).map(texture);
  // A plant without textures has no texture coordinates either.
  const images = textures.length > 0 ? mesh.triangle_material : null;
  const picture = await rasterizeMesh(
    { ...mesh, triangle_image: images, textures },
    cameraFor(new Float32Array(bytes(mesh.vertices))),
    { toward: [-0.5, -0.9, -0.6], ambient: 0.35, is_smooth: false, background: [255, 255, 255, 255] },
    2,
  ).promise;
  return new Uint8Array(bytes(picture.rgba));
}
