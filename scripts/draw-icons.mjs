// Draws the icons of the desktop app into resources/icons: a tree of points. PNG files for Linux, icon.ico for Windows,
// icon.icns for macOS, and their checksums.
// usage: draw-icons.mjs [--check]      --check: compares with the files, writes nothing, exit code 1 if they differ
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { root } from "./fingerprint.mjs";

const folder = join(root, "resources", "icons");
const SIZES = [16, 24, 32, 48, 64, 128, 256, 512];
const ICO_SIZES = [16, 24, 32, 48, 64, 128, 256];
/** Types of an icns file whose entries are PNG files, by their size. */
const ICNS_TYPES = { 32: "ic11", 64: "ic12", 128: "ic07", 256: "ic08", 512: "ic09" };
/** Samples of a pixel along an edge. */
const SAMPLES = 6;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const BACKGROUND = [
  [18, 52, 59],
  [9, 28, 36],
]; // above, below
const CROWN = [
  [52, 130, 88],
  [126, 190, 88],
  [236, 222, 110],
]; // below, middle, above
const STEM = [176, 128, 88];
const GROUND = [120, 132, 120];

const mix = (a, b, t) => a.map((value, i) => value + (b[i] - value) * t);
const crownColour = (t) => (t < 0.5 ? mix(CROWN[0], CROWN[1], 2 * t) : mix(CROWN[1], CROWN[2], 2 * t - 1));

/** Discs of the picture in a unit square, y downwards. Small icons have fewer and larger ones. */
function discs(size) {
  const count = Math.round(14 + 200 * Math.min(1, Math.max(0, (size - 16) / 240)));
  const radius = 0.62 * Math.sqrt((0.33 * 0.3) / count);
  const made = [];
  for (let i = 0; i < count; i++) {
    const r = Math.sqrt((i + 0.5) / count);
    const [x, y] = [0.5 + 0.31 * r * Math.cos(i * GOLDEN_ANGLE), 0.38 - 0.27 * r * Math.sin(i * GOLDEN_ANGLE)];
    made.push({ x, y, radius, colour: crownColour(Math.min(1, Math.max(0, (0.65 - y) / 0.54))) });
  }
  const step = 1.7 * radius;
  for (let y = 0.66; y < 0.85; y += step) made.push({ x: 0.5, y, radius: 1.05 * radius, colour: STEM });
  for (let x = 0.5; x < 0.83; x += step)
    for (const side of x === 0.5 ? [x] : [x, 1 - x])
      made.push({ x: side, y: 0.87, radius: 0.9 * radius, colour: GROUND });
  return made;
}

/** Distance to the rounded square; negative inside. */
function outsideBy(x, y) {
  const [half, corner] = [0.47, 0.2];
  const [dx, dy] = [Math.abs(x - 0.5) - half + corner, Math.abs(y - 0.5) - half + corner];
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - corner;
}

function colourAt(x, y, shapes) {
  if (outsideBy(x, y) > 0) return undefined;
  const hit = shapes.find((disc) => (disc.x - x) ** 2 + (disc.y - y) ** 2 <= disc.radius ** 2);
  return hit ? hit.colour : mix(BACKGROUND[0], BACKGROUND[1], y);
}

/** The icon as a PNG file. */
function draw(size) {
  const png = new PNG({ width: size, height: size });
  const shapes = discs(size);
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      const sum = [0, 0, 0];
      let covered = 0;
      const near = shapes.filter(({ x, y, radius }) => {
        const reach = radius + 1 / size;
        return Math.abs(x - (column + 0.5) / size) < reach && Math.abs(y - (row + 0.5) / size) < reach;
      });
      for (let i = 0; i < SAMPLES * SAMPLES; i++) {
        const x = (column + ((i % SAMPLES) + 0.5) / SAMPLES) / size;
        const y = (row + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES) / size;
        const colour = colourAt(x, y, near);
        if (!colour) continue;
        covered += 1;
        for (let k = 0; k < 3; k++) sum[k] += colour[k];
      }
      const rgba = [...sum.map((value) => Math.round(value / Math.max(1, covered))), Math.round((255 * covered) / 36)];
      png.data.set(rgba, 4 * (row * size + column));
    }
  return PNG.sync.write(png, { deflateLevel: 9 });
}

/** A Windows icon: a directory of PNG files. */
function ico(files) {
  const header = Buffer.alloc(6 + 16 * files.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(files.length, 4);
  let offset = header.length;
  for (const [i, { size, bytes }] of files.entries()) {
    const at = 6 + 16 * i;
    header.writeUInt8(size % 256, at); // 0 means 256
    header.writeUInt8(size % 256, at + 1);
    header.writeUInt16LE(1, at + 4);
    header.writeUInt16LE(32, at + 6);
    header.writeUInt32LE(bytes.length, at + 8);
    header.writeUInt32LE(offset, at + 12);
    offset += bytes.length;
  }
  return Buffer.concat([header, ...files.map(({ bytes }) => bytes)]);
}

/** A macOS icon: a chain of PNG files. */
function icns(files) {
  const entries = files.map(({ size, bytes }) => {
    const head = Buffer.from(`${ICNS_TYPES[size]}0000`, "latin1");
    head.writeUInt32BE(8 + bytes.length, 4);
    return Buffer.concat([head, bytes]);
  });
  const head = Buffer.from("icns0000", "latin1");
  head.writeUInt32BE(8 + entries.reduce((sum, { length }) => sum + length, 0), 4);
  return Buffer.concat([head, ...entries]);
}

const drawn = SIZES.map((size) => ({ size, bytes: draw(size) }));
const outputs = new Map(drawn.map(({ size, bytes }) => [`${size}x${size}.png`, bytes]));
outputs.set("icon.ico", ico(drawn.filter(({ size }) => ICO_SIZES.includes(size))));
outputs.set("icon.icns", icns(drawn.filter(({ size }) => size in ICNS_TYPES)));
const sums = [...outputs].map(([name, bytes]) => `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`);
outputs.set("SHA256SUMS", Buffer.from(sums.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join("")));
if (process.argv.includes("--check")) {
  const different = [...outputs].filter(([name, bytes]) => {
    const file = join(folder, name);
    return !existsSync(file) || !readFileSync(file).equals(bytes);
  });
  for (const [name] of different) console.error(`resources/icons/${name} is not what this script draws`);
  process.exitCode = different.length > 0 ? 1 : 0;
} else {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of outputs) writeFileSync(join(folder, name), bytes);
}
