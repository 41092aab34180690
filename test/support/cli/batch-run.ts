import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "../../../backend/cli/batch/plan-document.ts";
import { batchForest } from "../scans/batch-forest.ts";
import { readRawLas } from "../scans/las-records.ts";
import { writeTile } from "../scans/las-tiles.ts";
import { type Ended, runReal } from "./real-command-line.ts";

/** Far from the origin, as real flights are. */
const [EAST, NORTH] = [476_000, 5_429_000];

export interface ForestTiles {
  readonly side: number;
  /** Edge of a file. */
  readonly cut: number;
  readonly ground_per_m2: number;
  readonly points_per_tree: number;
}

/** Files of a forest that was cut into squares. Returns its number of points. */
export function writeForest(folder: string, { side, cut, ...options }: ForestTiles): number {
  const { xyz } = batchForest(side, { ...options, trees_per_ha: 300 });
  const count = Math.ceil(side / cut);
  const parts = Array.from({ length: count * count }, (): number[] => []);
  const index = (value: number) => Math.min(count - 1, Math.max(0, Math.floor(value / cut)));
  let points = 0;
  for (let i = 0; i < xyz.length; i += 3) {
    const [x, y] = [0, 1].map((axis) => Math.round((xyz[i + axis] ?? 0) * 1000) / 1000) as [number, number];
    if (!(x >= 0 && y >= 0 && x < side && y < side)) continue; // crowns are cut as a plot is
    parts[index(x) * count + index(y)]?.push(x + EAST, y + NORTH, xyz[i + 2] ?? 0);
    points += 1;
  }
  mkdirSync(folder, { recursive: true });
  for (const [i, part] of parts.entries())
    writeTile(join(folder, `t_${Math.floor(i / count)}_${i % count}.las`), part, { epsg: 25832, unit: 9001 });
  return points;
}

export const planOf = (out: string): Plan => JSON.parse(readFileSync(join(out, "plan.json"), "utf8"));

async function done(root: string, argv: readonly string[]): Promise<Ended> {
  const ended = await runReal(root, argv, undefined, false);
  if (ended.code !== 0) throw new Error(`${argv.join(" ")}: ${ended.stderr}`);
  return ended;
}

/** Plans a batch and runs its jobs in this process, as Snakemake would. */
export async function runJobs(root: string, workflow: string, name: string, catalog = "catalog"): Promise<string> {
  const [file, out] = [join(root, `${name}.yml`), join(root, name)];
  writeFileSync(file, workflow);
  await done(root, ["batch", file, "--catalog", join(root, catalog), "--out", out, "--plan"]);
  const { tiles, files } = planOf(out);
  for (const { id } of files.filter(({ compressed }) => compressed)) await done(root, ["batch-unpack", out, id]);
  if (planOf(out).windows.length > 0) await done(root, ["batch-measure", out]);
  for (const { id } of tiles) await done(root, ["batch-tile", out, id]);
  await done(root, ["batch-merge", out]);
  for (const { id } of tiles) await done(root, ["batch-cloud", out, id]);
  return out;
}

export interface LabelledPoints {
  /** x y z in millimetres, sorted. */
  readonly places: readonly (readonly [number, number, number])[];
  readonly ground: Uint32Array;
  readonly tree: Uint32Array;
}

/** The labelled clouds of a batch, read by another decoder. */
export async function labelledPoints(out: string): Promise<LabelledPoints> {
  const rows: (readonly [number, number, number, number, number])[] = [];
  for (const name of readdirSync(join(out, "clouds")).filter((file) => file.endsWith(".laz"))) {
    const { fields, scale, offset, count } = await readRawLas(readFileSync(join(out, "clouds", name)));
    const column = (field: string) => fields.get(field) ?? [];
    const mm = (field: string, axis: number, i: number) =>
      Math.round(1000 * (Number(column(field)[i]) * (scale[axis] ?? 0) + (offset[axis] ?? 0)));
    const [ground, tree] = [column("ground_class"), column("tree_instance")];
    for (let i = 0; i < count; i += 1)
      rows.push([mm("X", 0, i), mm("Y", 1, i), mm("Z", 2, i), Number(ground[i]), Number(tree[i] ?? 0)]);
  }
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return {
    places: rows.map(([x, y, z]) => [x, y, z]),
    ground: Uint32Array.from(rows, (row) => row[3]),
    tree: Uint32Array.from(rows, (row) => row[4]),
  };
}

export const shareEqual = (a: Uint32Array, b: Uint32Array): number =>
  a.reduce((count, value, i) => count + (value === b[i] ? 1 : 0), 0) / a.length;

/** The cells of a batch's raster by the place of their lower-left corner, cells; voids are left out. */
export function cellsOf(out: string, surface: string): Map<string, number> {
  const plan = planOf(out);
  const cell = plan.workflow.rasters?.cell_m ?? 1;
  const found = new Map<string, number>();
  for (const { id, core } of plan.tiles) {
    const { nx, ny, values } = readTiff(readFileSync(join(out, "tiles", id, `${surface}.tif`)));
    const [column, row] = [Math.round((core[0] - EAST) / cell), Math.round((core[1] - NORTH) / cell)];
    for (let y = 0; y < ny; y += 1)
      for (let x = 0; x < nx; x += 1) {
        const value = values((ny - 1 - y) * nx + x);
        if (value !== -9999) found.set(`${column + x} ${row + y}`, value);
      }
  }
  return found;
}

/** An uncompressed TIFF of float32: TIFF 6.0, section 2. */
function readTiff(bytes: Buffer) {
  const tags = new Map<number, number[]>();
  const first = bytes.readUInt32LE(4);
  for (let k = 0; k < bytes.readUInt16LE(first); k += 1) {
    const at = first + 2 + 12 * k;
    const [type, count] = [bytes.readUInt16LE(at + 2), bytes.readUInt32LE(at + 4)];
    const size = type === 3 ? 2 : 4;
    if (type !== 3 && type !== 4) continue;
    const start = count * size <= 4 ? at + 8 : bytes.readUInt32LE(at + 8);
    const read = (i: number) => (type === 3 ? bytes.readUInt16LE(start + 2 * i) : bytes.readUInt32LE(start + 4 * i));
    tags.set(
      bytes.readUInt16LE(at),
      Array.from({ length: count }, (_, i) => read(i)),
    );
  }
  const [nx = 0, ny = 0] = [tags.get(256)?.[0], tags.get(257)?.[0]];
  const [strips = [], rows = ny, bits = 32] = [tags.get(273), tags.get(278)?.[0], tags.get(258)?.[0]];
  const wide = bits / 8;
  const values = (i: number) => {
    const row = Math.floor(i / nx);
    const at = (strips[Math.floor(row / rows)] ?? 0) + ((row % rows) * nx + (i % nx)) * wide;
    return wide === 8 ? bytes.readDoubleLE(at) : bytes.readFloatLE(at);
  };
  return { nx, ny, values };
}
