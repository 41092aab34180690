// Stems of another program's simulated forests, scanned from four positions: which are found, and their diameters.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { detectStems, type FoundStem } from "../../backend/native/stems.ts";
import { column, positions } from "./native.ts";
import type { Part } from "./part.ts";

const PLOTS = ["open_11", "dense_12", "slope20_13"] as const;
type Plot = (typeof PLOTS)[number];
/** F1 of the trunks that raycloudtools finds, and RMSE of their diameters, metres: MANIFEST of the data. */
const THEIRS: Readonly<Record<Plot, { readonly f1: number; readonly rmse_m: number }>> = {
  open_11: { f1: 0.88, rmse_m: 0.057 },
  dense_12: { f1: 0.782, rmse_m: 0.093 },
  slope20_13: { f1: 0.821, rmse_m: 0.06 },
};
const TARGET_F1 = 0.97;
const TARGET_RMSE_M = 0.005;
/** A seed nearer to a tree than this is its stem, metres; each takes part once, the nearest pairs first. */
const MATCH_M = 0.5;
const BAND = { band_min_m: 1, band_max_m: 2, max_diameter_m: 3 };
const GROUND = 1;

const folder = () => join(process.env.APP_TEST_DATA ?? "../shared/data", "forest_reference");

interface Tree {
  readonly x: number;
  readonly y: number;
  readonly dbh_m: number;
}
export interface StemsRow {
  readonly plot: Plot;
  readonly trees: number;
  readonly seeds: number;
  readonly found: number;
  readonly f1: number;
  readonly rmse_m: number;
  readonly worst_m: number;
  readonly cpu_s: number;
}

/** The bytes of an array after the header of its .npy file. */
function arrayOf(path: string): Buffer {
  const file = gunzipSync(readFileSync(path));
  return file.subarray(10 + file.readUInt16LE(8));
}

/** Differences of 32-bit integers as four planes of bytes, of rows with `width` columns, summed up. */
function decoded(path: string, width: number): Float64Array {
  const planes = arrayOf(path);
  const count = planes.length / 4;
  const at = (plane: number, i: number) => planes[plane * count + i] ?? 0;
  const out = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const step = at(0, i) | (at(1, i) << 8) | (at(2, i) << 16) | (at(3, i) << 24);
    out[i] = step + (i >= width ? (out[i - width] ?? 0) : 0);
  }
  return out;
}

/** The ground of a plot: two planes in each cell. */
function groundOf(path: string): (x: number, y: number) => number {
  const { x0, y0, cell, nx, ny } = JSON.parse(readFileSync(join(path, "terrain.json"), "utf8"));
  const z = decoded(join(path, "terrain_mm.npy.gz"), 1);
  const at = (i: number, j: number) => (z[i * ny + j] ?? Number.NaN) / 1000;
  const clamp = (value: number, most: number) => Math.min(most, Math.max(0, Math.floor(value)));
  return (x, y) => {
    const [u, v] = [(x - x0) / cell, (y - y0) / cell];
    const [i, j] = [clamp(u, nx - 2), clamp(v, ny - 2)];
    const [f, g] = [u - i, v - j];
    const [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
    return f >= g ? a + f * (b - a) + g * (c - b) : a + g * (d - a) + f * (c - d);
  };
}

function treesOf(path: string): Tree[] {
  const [head = "", ...rows] = readFileSync(join(path, "trees.csv"), "utf8").trim().split("\n");
  const names = head.split(",");
  const number = (row: string, name: string) => Number(row.split(",")[names.indexOf(name)]);
  return rows.map((row) => ({ x: number(row, "x"), y: number(row, "y"), dbh_m: number(row, "dbh_m") }));
}

/** Errors of the diameters of the trees that are found. */
function matched(trees: readonly Tree[], stems: readonly FoundStem[]): number[] {
  const pairs = trees.flatMap((tree, t) =>
    stems.map(({ position: [x, y] }, s) => ({ t, s, distance: Math.hypot(x - tree.x, y - tree.y) })),
  );
  const [takenTrees, takenStems] = [new Set<number>(), new Set<number>()];
  const errors: number[] = [];
  for (const { t, s } of pairs.filter(({ distance }) => distance < MATCH_M).sort((a, b) => a.distance - b.distance)) {
    if (takenTrees.has(t) || takenStems.has(s)) continue;
    takenTrees.add(t);
    takenStems.add(s);
    errors.push(2 * (stems[s]?.radius_m ?? Number.NaN) - (trees[t]?.dbh_m ?? Number.NaN));
  }
  return errors;
}

async function measured(plot: Plot): Promise<StemsRow> {
  const path = join(folder(), plot);
  const millimetres = decoded(join(path, "xyz_mm.npy.gz"), 3);
  const organ = arrayOf(join(path, "organ.npy.gz"));
  const ground = groundOf(path);
  const xyz = millimetres.map((value) => value / 1000);
  const heights = Float32Array.from(organ, (_, i) => {
    const [x = 0, y = 0, z = 0] = xyz.subarray(3 * i, 3 * i + 3);
    return z - ground(x, y);
  });
  const labels = Uint8Array.from(organ, (value) => (value === GROUND ? 1 : 2));
  const before = process.cpuUsage();
  const found = await detectStems(positions(xyz), null, column("f32", heights), column("u8", labels), BAND).promise;
  const cpu_s = process.cpuUsage(before).user / 1e6;
  const trees = treesOf(path);
  const errors = matched(trees, found.stems);
  return {
    plot,
    trees: trees.length,
    seeds: found.stems.length,
    found: errors.length,
    f1: (2 * errors.length) / (trees.length + found.stems.length),
    rmse_m: Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length),
    worst_m: Math.max(...errors.map(Math.abs)),
    cpu_s,
  };
}

const millimetres = (value: number) => (1000 * value).toFixed(1);

export const stemsPart: Part<StemsRow> = {
  methods: ["detect_stems"],
  groups: PLOTS,
  async measure(_methods, groups) {
    if (!existsSync(folder())) {
      console.error(`skipped: ${folder()} is missing (APP_TEST_DATA)`);
      return [];
    }
    const rows: StemsRow[] = [];
    for (const plot of PLOTS.filter((one) => groups.includes(one))) rows.push(await measured(plot));
    return rows;
  },
  tables: (rows) =>
    [
      "Stems of forest_reference, exact ground, against raycloudtools (trunks)",
      "",
      "| plot | trees | seeds | found | F1 | theirs | DBH RMSE, mm | theirs | worst, mm | CPU s |",
      "|---|---|---|---|---|---|---|---|---|---|",
      ...rows.map(
        ({ plot, trees, seeds, found, f1, rmse_m, worst_m, cpu_s }) =>
          `| ${plot} | ${trees} | ${seeds} | ${found} | ${f1.toFixed(3)} | ${THEIRS[plot].f1} | ${millimetres(rmse_m)} | ${millimetres(THEIRS[plot].rmse_m)} | ${millimetres(worst_m)} | ${cpu_s.toFixed(2)} |`,
      ),
      "",
    ].join("\n"),
  targets: (rows) =>
    rows
      .map(({ plot, f1, rmse_m }) => {
        const reached = f1 >= TARGET_F1 && rmse_m <= TARGET_RMSE_M;
        return `${reached ? "reached" : "MISSED"}: ${plot} F1 ${TARGET_F1} (${f1.toFixed(3)}), DBH RMSE ${millimetres(TARGET_RMSE_M)} mm (${millimetres(rmse_m)})`;
      })
      .join("\n"),
};
