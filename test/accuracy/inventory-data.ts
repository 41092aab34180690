// Clouds with known trees: real single trees, a plot composed of real trees, plots of another program's forests.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { addon } from "../../backend/native/core/addon.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { coordinatesOf, values } from "./native.ts";

/** A tree whose measures are known; NaN = unknown. */
export interface KnownTree {
  readonly id: number;
  readonly name: string;
  readonly dbh_m: number;
  readonly height_m: number;
  /** Ground at the stem, metres, frame of the points. */
  readonly ground_z: number;
  readonly breast_height_m: number;
}

export interface TreeCloudData {
  readonly name: string;
  readonly xyz: Float64Array;
  readonly tree: Uint32Array;
  /** Number of the scan of each point, if there are several. */
  readonly scan?: Uint8Array;
  /** 1 = ground; null = find it. */
  readonly ground: Uint8Array | null;
  /** The cloud has ground points. */
  readonly has_ground: boolean;
  readonly trees: readonly KnownTree[];
  /** True height of the ground; null = unknown. */
  readonly terrain: ((x: number, y: number) => number) | null;
}

const rowsOf = (path: string): Record<string, string>[] => {
  const [head = "", ...lines] = readFileSync(path, "utf8").trim().split(/\r?\n/);
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i] ?? "", cell])));
};
const present = <T>(path: string, body: () => T): T | null => (existsSync(path) ? body() : null);

/** The single trees of trees_tls and the measures that ITSMe found on them. */
export function singleTrees(): TreeCloudData[] {
  const folder = join(DATA, "trees_tls");
  const table = present(join(folder, "itsme_metrics_a.csv"), () => rowsOf(join(folder, "itsme_metrics_a.csv"))) ?? [];
  return table.map((row) => {
    const numbers = readFileSync(join(folder, `${row.tree}.txt`), "utf8")
      .trim()
      .split(/\s+/)
      .map(Number);
    const xyz = Float64Array.from(numbers);
    return {
      name: row.tree ?? "",
      xyz,
      tree: new Uint32Array(xyz.length / 3).fill(1),
      ground: null,
      has_ground: false,
      trees: [
        {
          id: 1,
          name: row.tree ?? "",
          dbh_m: Number(row.stem_diameter_m),
          height_m: Number(row.height_m),
          ground_z: Number.NaN,
          breast_height_m: Number(row.diameter_height_m),
        },
      ],
      terrain: null,
    };
  });
}

/** The plot of five real trees, with its labels. */
export async function compositePlot(): Promise<TreeCloudData | null> {
  const path = join(DATA, "trees_composite", "composite_plot_a.laz");
  if (!existsSync(path)) return null;
  const frame = { unit_scale: 1, shift: [0, 0, 0] as const };
  const cloud = await addon.readLas(path, { frame, first_row: 0, row_count: null, skip_columns: [] }).promise;
  const named = (name: string) => {
    const found = cloud.columns.find((one) => one.name === name);
    if (!found) throw new Error(`${path} has no ${name}`);
    return values(found.column);
  };
  return {
    name: "composite_plot_a",
    xyz: coordinatesOf(cloud.positions),
    tree: Uint32Array.from(named("tree_instance"), Number),
    ground: Uint8Array.from(named("ground_class"), Number),
    has_ground: true,
    trees: rowsOf(join(DATA, "trees_composite", "composite_plot_a_trees.csv")).map((row) => ({
      id: Number(row.tree_instance),
      name: row.source_tree ?? "",
      dbh_m: Number.NaN,
      height_m: Number(row.height_m),
      ground_z: Number(row.base_z),
      breast_height_m: 1.3,
    })),
    terrain: null,
  };
}

export const REFERENCE_PLOTS = ["open_11", "slope20_13", "dense_12"] as const;

/** The content of a gzipped npy file after its header. */
function npy(path: string): Uint8Array {
  const bytes = gunzipSync(readFileSync(path));
  const start = bytes[6] === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8);
  return Uint8Array.from(bytes.subarray(start));
}

/** Millimetres of a file of byte planes and differences along the rows: see its MANIFEST. */
function metres(path: string, columns: number): Float64Array {
  const planes = npy(path);
  const n = planes.length / 4;
  const out = new Float64Array(n);
  const sum = new Array<number>(columns).fill(0);
  for (let i = 0; i < n; i += 1) {
    const value =
      (planes[i] ?? 0) |
      ((planes[n + i] ?? 0) << 8) |
      ((planes[2 * n + i] ?? 0) << 16) |
      ((planes[3 * n + i] ?? 0) << 24);
    const total = (sum[i % columns] ?? 0) + value;
    sum[i % columns] = total;
    out[i] = total / 1000;
  }
  return out;
}

/** A plot of forest_reference with its true ids; ground has to be found. */
export function referencePlot(name: (typeof REFERENCE_PLOTS)[number]): TreeCloudData | null {
  const folder = join(DATA, "forest_reference", name);
  return present(folder, () => {
    const ids = npy(join(folder, "tree.npy.gz"));
    return {
      name,
      xyz: metres(join(folder, "xyz_mm.npy.gz"), 3),
      tree: Uint32Array.from(new Uint16Array(ids.buffer)),
      scan: npy(join(folder, "scan.npy.gz")),
      ground: null,
      has_ground: true,
      trees: rowsOf(join(folder, "trees.csv")).map((row) => ({
        id: Number(row.id),
        name: `${name} ${row.id}`,
        dbh_m: Number(row.dbh_m),
        height_m: Number(row.height_m),
        ground_z: Number(row.z_ground),
        breast_height_m: 1.3,
      })),
      terrain: terrainOf(folder),
    };
  });
}

function terrainOf(folder: string): (x: number, y: number) => number {
  const { nx, ny, x0, y0, cell } = JSON.parse(readFileSync(join(folder, "terrain.json"), "utf8")) as Record<
    "nx" | "ny" | "x0" | "y0" | "cell",
    number
  >;
  const heights = metres(join(folder, "terrain_mm.npy.gz"), 1);
  const at = (i: number, j: number) => heights[i * ny + j] ?? Number.NaN;
  return (x, y) => {
    const [u, v] = [(x - x0) / cell, (y - y0) / cell];
    const i = Math.min(nx - 2, Math.max(0, Math.floor(u)));
    const j = Math.min(ny - 2, Math.max(0, Math.floor(v)));
    const [f, g] = [u - i, v - j];
    const [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
    return f >= g ? a + f * (b - a) + g * (c - b) : a + g * (d - a) + f * (c - d);
  };
}
