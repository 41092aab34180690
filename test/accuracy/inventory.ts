// The tree list against clouds whose trees are known.
import { groundAuto } from "../../backend/native/classify/ground.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import * as native from "../../backend/native/inventory.ts";
import * as dem from "../../backend/native/terrain.ts";
import { inventoryRows } from "../../backend/services/trees/inventory-rows.ts";
import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { CIRCLE_SEARCHES, type TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";
import {
  compositePlot,
  type KnownTree,
  REFERENCE_PLOTS,
  referencePlot,
  singleTrees,
  type TreeCloudData,
} from "./inventory-data.ts";
import { column, labelsOf, positions, values } from "./native.ts";
import type { Part } from "./part.ts";

const GROUPS = ["single", "composite", "reference"] as const;
type Group = (typeof GROUPS)[number];

export interface InventoryRow {
  readonly group: Group;
  readonly cloud: string;
  readonly tree: string;
  readonly method: string;
  /** Metres; NaN = unknown or not measured. */
  readonly dbh: number;
  readonly dbh_truth: number;
  readonly sigma: number;
  readonly height: number;
  readonly height_truth: number;
  readonly ground: number;
  readonly ground_truth: number;
  /** Root mean square error of the cloud's terrain on a grid of 0.25 m, metres. */
  readonly terrain_rmse: number;
  readonly flags: string;
}

/** Cell of the terrain that heights are measured from, metres. */
const CELL = 0.25;

interface Heights {
  readonly column: NativeColumn | null;
  readonly terrain_rmse: number;
}

/** Heights above the terrain of the ground points, as the service computes them. */
export async function heightsOf(
  { xyz, ground, has_ground, terrain }: TreeCloudData,
  points: NativeColumn,
): Promise<Heights> {
  if (!has_ground) return { column: null, terrain_rmse: Number.NaN };
  const labels = ground ?? labelsOf((await groundAuto(points, null).promise).ground_class);
  const skip = column(
    "u8",
    Uint8Array.from(labels, (label) => (label === 1 ? 0 : 1)),
  );
  const [low, high] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ];
  for (let i = 0; i < xyz.length; i += 3) {
    for (const axis of [0, 1] as const) {
      low[axis] = Math.min(low[axis] as number, xyz[i + axis] as number);
      high[axis] = Math.max(high[axis] as number, xyz[i + axis] as number);
    }
  }
  const [min_x, min_y] = low.map((value) => Math.floor(value / CELL) * CELL) as [number, number];
  const count = (axis: 0 | 1, from: number) => Math.ceil(((high[axis] as number) - from) / CELL) + 1;
  const frame = { min_x, min_y, cell: CELL, nx: count(0, min_x), ny: count(1, min_y) };
  const params = { frame, percentile: 5, method: "tin", gaps: "fill", at_centers: true } as const;
  const { z } = await dem.terrainRaster(points, skip, params, null).promise;
  const heights = await dem.heightAboveGround(points, null, frame, z).promise;
  return {
    column: heights,
    terrain_rmse: terrain ? errorOf(values(z) as Float64Array, frame, terrain, xyz, labels) : Number.NaN,
  };
}

/** Over the cells that have ground points. */
function errorOf(
  z: Float64Array,
  { min_x, min_y, cell, nx }: dem.RasterFrame,
  terrain: (x: number, y: number) => number,
  xyz: Float64Array,
  labels: ArrayLike<number>,
): number {
  const seen = new Set<number>();
  for (let i = 0; i < labels.length; i += 1) {
    if (labels[i] !== 1) continue;
    const column_ = Math.floor(((xyz[3 * i] ?? 0) - min_x) / cell);
    seen.add(Math.floor(((xyz[3 * i + 1] ?? 0) - min_y) / cell) * nx + column_);
  }
  let squares = 0;
  for (const at of seen) {
    const [x, y] = [min_x + ((at % nx) + 0.5) * cell, min_y + (Math.floor(at / nx) + 0.5) * cell];
    squares += ((z[at] ?? 0) - terrain(x, y)) ** 2;
  }
  return Math.sqrt(squares / seen.size);
}

async function measured(data: TreeCloudData, group: Group, fit_method: "ransac" | "hough"): Promise<InventoryRow[]> {
  const points = positions(data.xyz);
  const heights = await heightsOf(data, points);
  const cloud: native.TreeCloud = {
    positions: points,
    skip: null,
    tree_instance: column("u32", data.tree),
    height_above_ground: heights.column,
    ground_class: null,
    shift: [0, 0, 0],
  };
  const breast_height_m = data.trees[0]?.breast_height_m ?? INVENTORY_DEFAULTS.breast_height_m;
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null, fit_method, breast_height_m };
  const found = await native.treeInventory(cloud, params).promise;
  const list = inventoryRows(found, params);
  const rows = new Map(
    Array.from({ length: list.trees.length }, (_, i) => list.trees.at(i) as TreeRow).map((row) => [row.tree_id, row]),
  );
  return data.trees.map((truth) =>
    rowOf(truth, rows.get(truth.id), { group, cloud: data.name, method: fit_method, ...heights }),
  );
}

function rowOf(
  truth: KnownTree,
  row: TreeRow | undefined,
  {
    column: _,
    ...of
  }: Pick<InventoryRow, "group" | "cloud" | "method" | "terrain_rmse"> & { readonly column: unknown },
): InventoryRow {
  return {
    ...of,
    tree: truth.name,
    dbh: row?.dbh_m ?? Number.NaN,
    dbh_truth: truth.dbh_m,
    sigma: row?.dbh?.sigma_m ?? Number.NaN,
    height: row?.height_m ?? Number.NaN,
    height_truth: truth.height_m,
    ground: row?.ground_z ?? Number.NaN,
    ground_truth: truth.ground_z,
    flags: row ? row.flags.join(" ") : "not in the list",
  };
}

async function cloudsOf(group: Group): Promise<readonly TreeCloudData[]> {
  if (group === "single") return singleTrees();
  const found = group === "composite" ? [await compositePlot()] : REFERENCE_PLOTS.map(referencePlot);
  return found.filter((data): data is TreeCloudData => data !== null);
}

const rmse = (errors: readonly number[]) =>
  Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length);
const cm = (metres: number) => (Number.isFinite(metres) ? (100 * metres).toFixed(2) : "-");
const knownErrors = (rows: readonly InventoryRow[], of: (row: InventoryRow) => number) =>
  rows.map(of).filter(Number.isFinite);
const dbhError = ({ dbh, dbh_truth }: InventoryRow) => dbh - dbh_truth;
const heightError = ({ height, height_truth }: InventoryRow) => height - height_truth;
const groundError = ({ ground, ground_truth }: InventoryRow) => ground - ground_truth;

function treeTable(rows: readonly InventoryRow[]): string {
  const line = (row: InventoryRow) =>
    `| ${row.tree} | ${row.method} | ${cm(row.dbh)} | ${cm(dbhError(row))} | ${cm(row.sigma)} | ${row.height.toFixed(2)} | ${cm(heightError(row))} | ${cm(groundError(row))} | ${row.flags} |`;
  return [
    "| tree | method | dbh cm | error cm | sigma cm | height m | error cm | ground error cm | flags |",
    "|---|---|---|---|---|---|---|---|---|",
    ...rows.map(line),
  ].join("\n");
}

function plotTable(rows: readonly InventoryRow[]): string {
  const clouds = [...new Set(rows.map(({ cloud, method }) => `${cloud} | ${method}`))];
  const lines = clouds.map((name) => {
    const own = rows.filter(({ cloud, method }) => `${cloud} | ${method}` === name);
    const dbh = knownErrors(own, dbhError);
    const covered = own.filter((row) => Math.abs(dbhError(row)) <= 1.96 * row.sigma).length;
    const worst = own.toSorted((a, b) => Math.abs(dbhError(b)) - Math.abs(dbhError(a)))[0];
    return `| ${name} | ${own.length} | ${dbh.length} | ${cm(rmse(dbh))} | ${worst?.tree} ${cm(worst ? dbhError(worst) : Number.NaN)} | ${((100 * covered) / own.length).toFixed(0)} % | ${rmse(knownErrors(own, heightError)).toFixed(3)} | ${rmse(knownErrors(own, groundError)).toFixed(4)} | ${own[0]?.terrain_rmse.toFixed(4)} |`;
  });
  return [
    "| plot | method | trees | with dbh | dbh RMSE cm | worst cm | in 95 % | height RMSE m | ground at stems RMSE m | terrain RMSE m |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

export const inventoryPart: Part<InventoryRow> = {
  methods: CIRCLE_SEARCHES,
  groups: GROUPS,
  measure: async (methods, groups) => {
    const rows: InventoryRow[] = [];
    for (const group of GROUPS.filter((name) => groups.includes(name))) {
      for (const data of await cloudsOf(group)) {
        for (const method of CIRCLE_SEARCHES.filter((name) => methods.includes(name)))
          rows.push(...(await measured(data, group, method)));
      }
    }
    return rows;
  },
  tables: (rows) => {
    const of = (group: Group) => rows.filter((row) => row.group === group);
    return [
      "Real trees, against ITSMe:",
      treeTable(of("single")),
      "Composite plot, terrain from its ground points:",
      treeTable(of("composite")),
      "Plots of another program, true ids, own ground:",
      plotTable(of("reference")),
    ].join("\n\n");
  },
  targets: (rows) => {
    const of = (group: Group) => rows.filter((row) => row.group === group && row.method === "ransac");
    const most = (errors: readonly number[]) =>
      errors.reduce((largest, error) => Math.max(largest, Math.abs(error)), 0);
    const reached = (ok: boolean) => (ok ? "reached" : "missed");
    const dbh = most(of("single").map(dbhError));
    const height = most(of("composite").map(heightError));
    const plots = [...new Set(of("reference").map(({ cloud }) => cloud))].map((name) =>
      of("reference").filter(({ cloud }) => cloud === name),
    );
    const tall = most(plots.map((plot) => rmse(knownErrors(plot, heightError))));
    const ground = most(plots.map((plot) => plot[0]?.terrain_rmse ?? Number.NaN));
    return [
      `dbh of real trees within 1 cm: ${cm(dbh)} cm, ${reached(dbh <= 0.01)}`,
      `heights of the composite plot within 10 cm: ${cm(height)} cm, ${reached(height <= 0.1)}`,
      `height RMSE of the plots 0.2 m: ${tall.toFixed(3)} m, ${reached(tall <= 0.2)}`,
      `terrain RMSE of the plots 5 mm: ${(1000 * ground).toFixed(1)} mm, ${reached(ground <= 0.005)}`,
    ].join("\n");
  },
};
