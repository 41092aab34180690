// The simulated forest plots with known ground of forest_reference, as its MANIFEST.md describes them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DATA } from "../support/scans/data-folder.ts";
import type { Height, Relief } from "./relief.ts";

/** Metres from the middle to the border of the planted square. */
const HALF = { dense_12: 12, open_11: 17, slope20_13: 15 } as const;
type Plot = keyof typeof HALF;
export const FOREST_PLOTS = Object.keys(HALF) as readonly Plot[];
const GROUND = 1;

/** The values behind the header of a NumPy file. */
export function npy(path: string): Buffer {
  const bytes = gunzipSync(readFileSync(path));
  const version = bytes.readUInt8(6);
  const start = version === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8);
  return bytes.subarray(start);
}

/** Rows of `columns` millimetres, stored as differences between rows, in four planes of bytes; as metres. */
export function metres(path: string, columns: number): Float64Array {
  const planes = npy(path);
  const count = planes.length / 4;
  const out = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const byte = (plane: number) => planes[plane * count + i] ?? 0;
    const difference = byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
    out[i] = difference + (i < columns ? 0 : (out[i - columns] ?? 0));
  }
  return out.map((value) => value / 1000);
}

interface Grid {
  readonly x0: number;
  readonly y0: number;
  readonly cell: number;
  readonly nx: number;
  readonly ny: number;
}

/** Two planes in each cell, split from its lower left to its upper right corner. */
function terrainOf({ x0, y0, cell, nx, ny }: Grid, heights: Float64Array): Height {
  const clamp = (value: number, most: number) => Math.min(most, Math.max(0, Math.floor(value)));
  return (x, y) => {
    const [u, v] = [(x - x0) / cell, (y - y0) / cell];
    const [i, j] = [clamp(u, nx - 2), clamp(v, ny - 2)];
    const [f, g] = [u - i, v - j];
    const at = (a: number, b: number) => heights[(i + a) * ny + j + b] ?? Number.NaN;
    const corner = at(0, 0);
    return f >= g
      ? corner + f * (at(1, 0) - corner) + g * (at(1, 1) - at(1, 0))
      : corner + g * (at(0, 1) - corner) + f * (at(1, 1) - at(0, 1));
  };
}

/** A plot, moved so that the planted square begins at (0, 0). */
export function forestPlot(name: Plot): Relief {
  const folder = join(DATA, "forest_reference", name);
  const half = HALF[name];
  const grid = JSON.parse(readFileSync(join(folder, "terrain.json"), "utf8")) as Grid;
  const terrain = terrainOf(grid, metres(join(folder, "terrain_mm.npy.gz"), 1));
  const xyz = metres(join(folder, "xyz_mm.npy.gz"), 3).map((value, i) => (i % 3 === 2 ? value : value + half));
  const truth = Uint8Array.from(npy(join(folder, "organ.npy.gz")), (organ) => (organ === GROUND ? 1 : 2));
  if (truth.length !== xyz.length / 3) throw new Error(`${name} has ${xyz.length / 3} points, ${truth.length} labels`);
  return { xyz, truth, height: (x, y) => terrain(x - half, y - half), side: 2 * half };
}

const ORGANS = { wood: 2, leaf: 3 } as const;

/** The trees of a plot without ground and understorey: points, number of the tree and 1 wood, 2 leaf. */
export function plotTrees(name: Plot): {
  readonly xyz: Float64Array;
  readonly tree: Uint16Array;
  readonly wood: Uint8Array;
} {
  const folder = join(DATA, "forest_reference", name);
  const all = metres(join(folder, "xyz_mm.npy.gz"), 3);
  const organ = npy(join(folder, "organ.npy.gz"));
  const ids = npy(join(folder, "tree.npy.gz"));
  const rows: number[] = [];
  organ.forEach((value, i) => {
    if (value === ORGANS.wood || value === ORGANS.leaf) rows.push(i);
  });
  const xyz = new Float64Array(3 * rows.length);
  rows.forEach((row, i) => {
    xyz.set(all.subarray(3 * row, 3 * row + 3), 3 * i);
  });
  return {
    xyz,
    tree: Uint16Array.from(rows, (row) => ids.readUInt16LE(2 * row)),
    wood: Uint8Array.from(rows, (row) => (organ[row] === ORGANS.wood ? 1 : 2)),
  };
}
