// Trees that the border of a cut cloud cuts: plots with true ids cut to squares and circles, and trees alone, whole and cut.
import { cutTrees } from "../../backend/native/cut-trees.ts";
import * as native from "../../backend/native/inventory.ts";
import { inventoryRows } from "../../backend/services/trees/inventory-rows.ts";
import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { REFERENCE_PLOTS, referencePlot, singleTrees } from "./inventory-data.ts";
import { column, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { uniform } from "./random.ts";

const DENSITIES = { "all points": 1, "one of 16": 16, "one of 64": 64 } as const;
type Density = keyof typeof DENSITIES;
const DENSITY_NAMES = Object.keys(DENSITIES) as Density[];
const GROUPS = ["plots", "trees"] as const;
/** Trees with fewer points are no trees. */
const FEWEST_POINTS = 50;
/** Of the points of a tree: one that lost more must be told. */
const LOST = 0.02;

interface Cloud {
  readonly xyz: Float64Array;
  readonly tree: Uint32Array;
}

export interface CutRow {
  readonly cloud: string;
  readonly shape: string;
  readonly density: Density;
  /** Trees that lost more than LOST, and how many of them were told. */
  readonly cut: number;
  readonly found: number;
  /** Trees that lost no point, and how many of them were told. */
  readonly whole: number;
  readonly told: number;
  /** Volume of the crown of each cut tree over that of the whole one. */
  readonly volumes: readonly number[];
}

function kept({ xyz, tree }: Cloud, keep: (i: number) => boolean): Cloud {
  const rows = [...tree.keys()].filter(keep);
  const places = new Float64Array(3 * rows.length);
  for (const [k, i] of rows.entries()) places.set(xyz.subarray(3 * i, 3 * i + 3), 3 * k);
  return { xyz: places, tree: Uint32Array.from(rows, (i) => tree[i] ?? 0) };
}

function thinned(cloud: Cloud, every: number): Cloud {
  const next = uniform(1);
  return every === 1 ? cloud : kept(cloud, () => next() < 1 / every);
}

const SHAPES = {
  "as it is": () => true,
  square: (x: number, y: number, half: number) => Math.max(Math.abs(x), Math.abs(y)) < half,
  "turned square": (x: number, y: number, half: number) =>
    Math.max(Math.abs(0.891 * x - 0.454 * y), Math.abs(0.454 * x + 0.891 * y)) < half,
  circle: (x: number, y: number, half: number) => Math.hypot(x, y) < half,
} as const;

/** The middle of a cloud: half of its width, and eight tenths. */
function* cutouts(cloud: Cloud): Generator<readonly [string, Cloud]> {
  const { xyz } = cloud;
  const ends = (k: number): [number, number] => {
    let [least, most] = [Infinity, -Infinity];
    for (let i = k; i < xyz.length; i += 3) {
      least = Math.min(least, xyz[i] ?? 0);
      most = Math.max(most, xyz[i] ?? 0);
    }
    return [least, most];
  };
  const [[x0, x1], [y0, y1]] = [ends(0), ends(1)];
  const half = Math.min(x1 - x0, y1 - y0) / 2;
  for (const [name, inside] of Object.entries(SHAPES))
    for (const part of name === "as it is" ? [1] : [0.5, 0.8])
      yield [
        part === 1 ? name : `${name}, ${part}`,
        kept(cloud, (i) =>
          inside((xyz[3 * i] ?? 0) - (x0 + x1) / 2, (xyz[3 * i + 1] ?? 0) - (y0 + y1) / 2, part * half),
        ),
      ];
}

function counts({ tree }: Cloud): Map<number, number> {
  const out = new Map<number, number>();
  for (const id of tree) if (id > 0) out.set(id, (out.get(id) ?? 0) + 1);
  return out;
}

/** Volume of the crown of each tree, m3. */
async function volumesOf({ xyz, tree }: Cloud): Promise<Map<number, number>> {
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null };
  const rest = { skip: null, height_above_ground: null, ground_class: null, scan_index: null, time_s: null };
  const cloud = { positions: positions(xyz), tree_instance: column("u32", tree), shift: [0, 0, 0] as const, ...rest };
  const { trees } = inventoryRows(await native.treeInventory(cloud, params).promise, params);
  const rows = Array.from({ length: trees.length }, (_, i) => trees.at(i) as TreeRow);
  return new Map(rows.map((row) => [row.tree_id, row.crown_volume_voxel_m3 ?? Number.NaN]));
}

async function rowOf(cloud: string, shape: string, density: Density, all: Cloud, part: Cloud): Promise<CutRow> {
  const [before, after] = [counts(all), counts(part)];
  const told = await cutTrees(positions(part.xyz), null, column("u32", part.tree)).promise;
  const told_ids = new Set(told.map(({ tree_id }) => tree_id));
  const there = [...after].filter(([, count]) => count >= FEWEST_POINTS);
  const lost = (id: number, count: number) => 1 - count / (before.get(id) ?? 1);
  const cut = there.filter(([id, count]) => lost(id, count) > LOST).map(([id]) => id);
  const whole = there.filter(([id, count]) => lost(id, count) === 0).map(([id]) => id);
  const [full, rest] = cut.length > 0 ? [await volumesOf(all), await volumesOf(part)] : [new Map(), new Map()];
  return {
    cloud,
    shape,
    density,
    cut: cut.length,
    found: cut.filter((id) => told_ids.has(id)).length,
    whole: whole.length,
    told: whole.filter((id) => told_ids.has(id)).length,
    volumes: cut.map((id) => rest.get(id) / full.get(id)).filter(Number.isFinite),
  };
}

async function plotRows(density: Density): Promise<CutRow[]> {
  const rows: CutRow[] = [];
  for (const name of REFERENCE_PLOTS) {
    const data = referencePlot(name);
    if (!data) continue;
    const all = thinned(data, DENSITIES[density]);
    for (const [shape, part] of cutouts(all)) rows.push(await rowOf(name, shape, density, all, part));
  }
  return rows;
}

/** Trees alone: as they are, and without the part beyond an upright plane or above a level one. */
async function treeRows(density: Density): Promise<CutRow[]> {
  const next = uniform(2);
  const plots = REFERENCE_PLOTS.flatMap((name) => referencePlot(name) ?? []);
  const alone = [...plots, ...singleTrees()].flatMap((data) =>
    [...counts(data).keys()].map((id) => kept(data, (i) => data.tree[i] === id)),
  );
  const rows: CutRow[] = [];
  for (const tree of alone) {
    const all = thinned(tree, DENSITIES[density]);
    const turn = 2 * Math.PI * next();
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    const side = (i: number) => c * (all.xyz[3 * i] ?? 0) + s * (all.xyz[3 * i + 1] ?? 0);
    const height = (i: number) => all.xyz[3 * i + 2] ?? 0;
    rows.push(await rowOf("alone", "whole", density, all, all));
    for (const [name, of, part] of [
      ["3 % beside", side, 0.03],
      ["10 % beside", side, 0.1],
      ["40 % beside", side, 0.4],
      ["10 % above", height, 0.1],
    ] as const) {
      const sorted = Float64Array.from(all.tree, (_, i) => of(i)).sort();
      const limit = sorted[Math.floor((1 - part) * sorted.length)] ?? 0;
      rows.push(
        await rowOf(
          "alone",
          name,
          density,
          all,
          kept(all, (i) => of(i) < limit),
        ),
      );
    }
  }
  return rows;
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

/** The rows of one cloud, shape and density together. */
function summed(rows: readonly CutRow[]): CutRow[] {
  const groups = new Map<string, CutRow[]>();
  for (const row of rows) {
    const key = `${row.cloud} ${row.shape} ${row.density}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group) => {
    const sum = (of: (row: CutRow) => number) => group.reduce((total, row) => total + of(row), 0);
    return {
      ...(group[0] as CutRow),
      cut: sum(({ cut }) => cut),
      found: sum(({ found }) => found),
      whole: sum(({ whole }) => whole),
      told: sum(({ told }) => told),
      volumes: group.flatMap(({ volumes }) => volumes),
    };
  });
}

const lineOf = ({ cloud, shape, density, cut, found, whole, told, volumes }: CutRow) =>
  `| ${cloud} | ${shape} | ${density} | ${found} of ${cut} | ${told} of ${whole} | ${volumes.length > 0 ? `${median(volumes).toFixed(2)}, ${Math.min(...volumes).toFixed(2)}` : ""} |`;

/** Part `cut` of `npm run accuracy`. */
export const cutPart: Part<CutRow> = {
  methods: DENSITY_NAMES,
  groups: GROUPS,
  measure: async (methods, groups) => {
    const rows: CutRow[] = [];
    for (const density of DENSITY_NAMES.filter((name) => methods.includes(name))) {
      if (groups.includes("plots")) rows.push(...(await plotRows(density)));
      if (groups.includes("trees")) rows.push(...(await treeRows(density)));
    }
    return rows;
  },
  tables: (rows) =>
    [
      "| cloud | cut | density | cut trees told | whole trees told | their crown volume over the true one: median, worst |",
      "|---|---|---|---|---|---|",
      ...summed(rows).map(lineOf),
    ].join("\n"),
  targets: (rows) => {
    const plots = rows.filter(({ cloud, density }) => cloud !== "alone" && density === "all points");
    const sum = (of: (row: CutRow) => number) => plots.reduce((total, row) => total + of(row), 0);
    const [found, cut, told, whole] = [sum((r) => r.found), sum((r) => r.cut), sum((r) => r.told), sum((r) => r.whole)];
    const reached = found >= 0.98 * cut && told <= 0.01 * whole;
    return `trees of plots that lost more than 2 % of their points told, 98 %, and at most 1 % of the whole ones: ${found} of ${cut}, ${told} of ${whole}, ${reached ? "reached" : "missed"}`;
  },
};
