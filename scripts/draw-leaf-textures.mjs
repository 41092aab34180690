// Draws the pictures in resources/leaf-textures from the `shapes` of the species files, and their checksums: upright ones for
// the meshes of plants, and lying ones, cut along the margin, for the flat leaves on trees of cylinders.
// usage: draw-leaf-textures.mjs [--check] [species..]      --check: compares coverages and files, writes nothing
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { PNG } from "pngjs";
import { register } from "tsx/esm/api";
import { root } from "./fingerprint.mjs";

register();
const { PlantShapes } = await import("../shared/contract/plant-shapes.ts");
const { drawLeafTexture, lying } = await import("../test/support/leaf-texture.ts");

const folder = join(root, "resources", "leaf-textures");
const isCheck = process.argv.includes("--check");
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const species = join(root, "resources", "species");
const drawn = new Set();
/** Lying pictures by the upright one that they turn. */
const LYING = {
  "almond.png": "AlmondLeaf.png",
  "apple.png": "AppleLeaf.png",
  "walnut.png": "WalnutLeaf.png",
  "pistachio.png": "PistachioLeaf.png",
  "olive.png": "OliveLeaf_upper.png",
  "grapevine.png": "GrapeLeaf.png",
  "easternredbud.png": "RedbudLeaf.png",
};

function write(name, { width, height, rgba }) {
  const png = new PNG({ width, height });
  png.data.set(rgba);
  writeFileSync(join(folder, name), PNG.sync.write(png, { deflateLevel: 9, filterType: -1 }));
}
let differences = 0;

for (const file of readdirSync(species).filter((name) => name.endsWith(".json"))) {
  if (wanted.length && !wanted.includes(basename(file, ".json"))) continue;
  const text = readFileSync(join(species, file), "utf8");
  const shapes = PlantShapes.parse(JSON.parse(text).shapes);
  let updated = text;
  for (const leaf of Object.values(shapes.leaves)) {
    if (!leaf.texture) continue;
    const picture = await drawLeafTexture(leaf);
    const { coverage } = picture;
    const { file: name } = leaf.texture;
    if (Math.abs(coverage - leaf.texture.coverage) > 5e-5) {
      differences += 1;
      console.log(`${file}: coverage of ${name} is ${coverage}, not ${leaf.texture.coverage}`);
      updated = updated.replace(
        new RegExp(`("file": "${name}",\\s*"coverage": )[0-9.]+`),
        (_, before) => `${before}${coverage}`,
      );
    }
    if (isCheck || drawn.has(name)) continue;
    drawn.add(name);
    write(name, picture);
    if (name in LYING) write(LYING[name], lying(await drawLeafTexture(leaf, 0)));
  }
  if (!isCheck && updated !== text) writeFileSync(join(species, file), updated);
}

const lines = readdirSync(folder)
  .filter((name) => name.endsWith(".png"))
  .sort()
  .map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
const sums = join(folder, "SHA256SUMS");
if (isCheck) {
  if (readFileSync(sums, "utf8") !== lines.join("")) differences += 1;
  process.exitCode = differences ? 1 : 0;
} else writeFileSync(sums, lines.join(""));
console.log(`${lines.length} textures, ${differences} differences`);
