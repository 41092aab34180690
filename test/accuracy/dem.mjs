// How far the DTM is from a relief whose height is known everywhere: fractal hills, terraces, a cliff; 0.5 m cells.
import { createHash } from "node:crypto";

const SIDE = 200;
const CELL = 0.5;

/** A number of [0, 1) that depends on its arguments alone. */
function random(...parts) {
  const digest = createHash("sha256").update(parts.join()).digest();
  return digest.readUInt32LE(0) / 2 ** 32;
}

/** Value noise of one octave: random heights on a lattice, smoothly between them. */
function octave(seed, size) {
  const heights = new Map();
  const at = (i, j) => {
    const key = `${i},${j}`;
    if (!heights.has(key)) heights.set(key, random(seed, i, j) - 0.5);
    return heights.get(key);
  };
  const ease = (t) => t * t * (3 - 2 * t);
  return (x, y) => {
    const i = Math.floor(x / size);
    const j = Math.floor(y / size);
    const u = ease(x / size - i);
    const v = ease(y / size - j);
    const low = at(i, j) * (1 - u) + at(i + 1, j) * u;
    const high = at(i, j + 1) * (1 - u) + at(i + 1, j + 1) * u;
    return low * (1 - v) + high * v;
  };
}

const octaves = [64, 32, 16, 8, 4].map((size, k) => ({ noise: octave(k, size), amplitude: size / 5 }));
const hills = (x, y) => octaves.reduce((sum, { noise, amplitude }) => sum + amplitude * noise(x, y), 0);
/** Terraces of 2 m in the east, a cliff of 8 m in the north. */
const terraces = (x, y) => (x > 120 ? 2 * Math.floor((x - 120) / 10) : 0) + (y > 160 ? 8 : 0);
const truth = (x, y) => hills(x, y) + terraces(x, y);
/** Nearer to a step than this a cell holds both levels. */
const nearStep = (x, y) =>
  (x > 119 && Math.abs((x - 120) % 10) < 1) || (x > 119 && (x - 120) % 10 > 9) || Math.abs(y - 160) < 1;

const rms = (all) => Math.sqrt(all.reduce((sum, e) => sum + e * e, 0) / all.length);
const quantile = (all, q) => all.map(Math.abs).sort((a, b) => a - b)[Math.floor(q * (all.length - 1))];

/** Of the cells of a raster, those near a step apart. */
function errors(z, n) {
  const smooth = [];
  const steps = [];
  for (let c = 0; c < n * n; c += 1) {
    const x = (c % n) * CELL + CELL / 2;
    const y = Math.floor(c / n) * CELL + CELL / 2;
    if (!Number.isNaN(z[c])) (nearStep(x, y) ? steps : smooth).push(z[c] - truth(x, y));
  }
  return { rmse: rms(smooth), p95: quantile(smooth, 0.95), steps: rms(steps) };
}

/** Rows of the table: what, and the errors in metres. */
export async function measure({ terrainRaster, column, read }) {
  const rows = [];
  for (const density of [8, 2, 0.5]) {
    const count = density * SIDE * SIDE;
    const points = new Float64Array(3 * count);
    let state = 1;
    const next = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes' quick generator
      return state / 2 ** 32;
    };
    for (let i = 0; i < count; i += 1) {
      const x = SIDE * next();
      const y = SIDE * next();
      const noise = 0.03 * (next() + next() + next() + next() - 2) * Math.sqrt(3); // 3 cm standard deviation
      points.set([x, y, truth(x, y) + noise], 3 * i);
    }
    const n = SIDE / CELL;
    const frame = { min_x: 0, min_y: 0, cell: CELL, nx: n, ny: n };
    const positions = column("vec3d", points);
    for (const method of ["tin", "idw", "nearest"]) {
      const row = { density, method };
      for (const [name, at_centers] of [
        ["corrected", true],
        ["plain", false],
      ]) {
        const params = { frame, percentile: 5, method, gaps: "leave", at_centers };
        const raster = await terrainRaster(positions, null, params, null).promise;
        row[name] = errors(read(raster.z), n);
        row.filled = 100 * (1 - raster.populated_count / (n * n));
        raster.z.release();
      }
      rows.push(row);
    }
    positions.release();
  }
  return rows;
}

export async function run() {
  const { addon } = await import("../../backend/native/core/addon.ts");
  const { terrainRaster } = await import("../../backend/native/terrain.ts");
  const column = (dtype, values) => new addon.Column(dtype, new Uint8Array(values.buffer));
  const read = (native) => {
    const out = new Float64Array(native.length);
    native.readInto(new Uint8Array(out.buffer), 0);
    return out;
  };
  const titles = ["RMSE", "95 % within", "RMSE within 1 m of a step"];
  const all = [...titles, ...titles.map((title) => `plain: ${title}`)].join(" | ");
  console.log(`| points per m2 | method | cells without a point | ${all} |`);
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const { density, method, filled, corrected, plain } of await measure({ terrainRaster, column, read })) {
    const figures = [corrected, plain].flatMap(({ rmse, p95, steps }) => [rmse, p95, steps]);
    const metres = figures.map((value) => `${value.toFixed(3)} m`).join(" | ");
    console.log(`| ${density} | ${method} | ${filled.toFixed(0)} % | ${metres} |`);
  }
}
