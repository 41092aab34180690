// How far the DTM is from a relief whose height is known everywhere: fractal hills, terraces, a cliff; 0.5 m cells.
import { createHash } from "node:crypto";
import { terrainRaster } from "../../backend/native/terrain.ts";
import { positions, values } from "./native.ts";
import type { Height } from "./relief.ts";

const SIDE = 200;
const CELL = 0.5;

/** A number of [0, 1) that depends on its arguments alone. */
function random(...parts: number[]): number {
  const digest = createHash("sha256").update(parts.join()).digest();
  return digest.readUInt32LE(0) / 2 ** 32;
}

/** Value noise of one octave: random heights on a lattice, smoothly between them. */
function octave(seed: number, size: number): Height {
  const heights = new Map<string, number>();
  const at = (i: number, j: number): number => {
    const key = `${i},${j}`;
    const height = heights.get(key) ?? random(seed, i, j) - 0.5;
    heights.set(key, height);
    return height;
  };
  const ease = (t: number) => t * t * (3 - 2 * t);
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
const hills: Height = (x, y) => octaves.reduce((sum, { noise, amplitude }) => sum + amplitude * noise(x, y), 0);
/** Terraces of 2 m in the east, a cliff of 8 m in the north. */
const terraces: Height = (x, y) => (x > 120 ? 2 * Math.floor((x - 120) / 10) : 0) + (y > 160 ? 8 : 0);
const truth: Height = (x, y) => hills(x, y) + terraces(x, y);
/** Nearer to a step than this a cell holds both levels. */
const nearStep = (x: number, y: number): boolean =>
  (x > 119 && Math.abs((x - 120) % 10) < 1) || (x > 119 && (x - 120) % 10 > 9) || Math.abs(y - 160) < 1;

const rms = (all: readonly number[]) => Math.sqrt(all.reduce((sum, e) => sum + e * e, 0) / all.length);
const quantile = (all: readonly number[], q: number) =>
  all.map(Math.abs).sort((a, b) => a - b)[Math.floor(q * (all.length - 1))] ?? Number.NaN;

/** Metres. */
interface Errors {
  readonly rmse: number;
  readonly p95: number;
  /** RMSE near steps. */
  readonly steps: number;
}

/** Of the cells of a raster, those near a step apart. */
function errors(z: ArrayLike<number>, n: number): Errors {
  const smooth: number[] = [];
  const steps: number[] = [];
  for (let c = 0; c < n * n; c += 1) {
    const x = (c % n) * CELL + CELL / 2;
    const y = Math.floor(c / n) * CELL + CELL / 2;
    const error = (z[c] ?? Number.NaN) - truth(x, y);
    if (!Number.isNaN(error)) (nearStep(x, y) ? steps : smooth).push(error);
  }
  return { rmse: rms(smooth), p95: quantile(smooth, 0.95), steps: rms(steps) };
}

/** Points anywhere on the relief, with 3 cm of noise in z. */
function scattered(count: number): Float64Array {
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
  return points;
}

const METHODS = ["tin", "idw", "nearest"] as const;

interface Row {
  /** Points per square metre. */
  readonly density: number;
  readonly method: (typeof METHODS)[number];
  /** Share of the cells without a point, %. */
  readonly filled: number;
  readonly corrected: Errors;
  /** Without the correction to cell centres. */
  readonly plain: Errors;
}

/** Rows of the table. */
export async function measure(): Promise<Row[]> {
  const n = SIDE / CELL;
  const frame = { min_x: 0, min_y: 0, cell: CELL, nx: n, ny: n };
  const rows: Row[] = [];
  for (const density of [8, 2, 0.5]) {
    const points = positions(scattered(density * SIDE * SIDE));
    for (const method of METHODS) {
      const raster = async (at_centers: boolean) => {
        const params = { frame, percentile: 5, method, gaps: "leave", at_centers } as const;
        const { z, populated_count } = await terrainRaster(points, null, params, null).promise;
        const found = errors(values(z), n);
        z.release();
        return { found, filled: 100 * (1 - populated_count / (n * n)) };
      };
      const { found: corrected, filled } = await raster(true);
      const { found: plain } = await raster(false);
      rows.push({ density, method, filled, corrected, plain });
    }
    points.release();
  }
  return rows;
}

/** Prints the table. */
export async function demAccuracy(): Promise<void> {
  const titles = ["RMSE", "95 % within", "RMSE within 1 m of a step"];
  const all = [...titles, ...titles.map((title) => `plain: ${title}`)].join(" | ");
  console.log(`| points per m2 | method | cells without a point | ${all} |`);
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const { density, method, filled, corrected, plain } of await measure()) {
    const figures = [corrected, plain].flatMap(({ rmse, p95, steps }) => [rmse, p95, steps]);
    const metres = figures.map((value) => `${value.toFixed(3)} m`).join(" | ");
    console.log(`| ${density} | ${method} | ${filled.toFixed(0)} % | ${metres} |`);
  }
}
