// Crowns found in a canopy height model against crowns drawn in the field on 12 airborne plots, with the defaults and with
// other crown scales.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canopyCrowns, treePoints } from "../../backend/native/trees.ts";
import { chmCell, DEFAULT_CHM } from "../../shared/contract/segment-trees.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { column, positions, readLas, values } from "./native.ts";
import type { Part } from "./part.ts";

const FOLDER = join(DATA, "trees_als_idtrees");
const PLOTS = ["MLBS_1", "MLBS_16", "MLBS_21", "MLBS_25", "MLBS_30", "MLBS_34"].concat([
  "OSBS_11",
  "OSBS_18",
  "OSBS_2",
  "OSBS_21",
  "OSBS_24",
  "OSBS_7",
]);
const SCALES = ["2", String(DEFAULT_CHM.chm_crown_scale), "3", "3.5", "4"];
const GROUND = 2;
const NOISE = 7;
const LEAST_IOU = 0.4;
/**
 * Found by the best fixed window: local maxima in disks of 1, 1.5, 2, 2.5, 3, 4 and 5 m above 2, 3 and 5 m and a watershed with
 * 4 and 8 neighbours on the plots' own canopy height models (1 m), scikit-image 0.19.3. Best: 1 m, 5 m, 4 neighbours, 401
 * boxes.
 */
const BEST_WINDOW = [11, 8, 15, 12, 13, 11, 7, 5, 9, 6, 7, 6] as const;

type Box = readonly [number, number, number, number];

interface CrownRow {
  /** Crown scale, metres. */
  readonly method: string;
  readonly plot: string;
  readonly truth: number;
  readonly boxes: number;
  readonly matched: number;
  /** Of the best fixed window. */
  readonly window: number;
}

function truthOf(plot: string): Box[] {
  const [head = "", ...lines] = readFileSync(join(FOLDER, "crowns_shared.csv"), "utf8").trim().split("\n");
  const names = head.trim().split(",");
  const at = ["xmin", "ymin", "xmax", "ymax"].map((name) => names.indexOf(name));
  return lines
    .map((line) => line.split(","))
    .filter((cells) => cells[0] === plot)
    .map((cells) => at.map((i) => Number(cells[i])) as unknown as Box);
}

/** Intersection over union. */
export function boxIou(a: Box, b: Box): number {
  const wide = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const high = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  if (wide <= 0 || high <= 0) return 0;
  const area = (box: Box) => (box[2] - box[0]) * (box[3] - box[1]);
  return (wide * high) / (area(a) + area(b) - wide * high);
}

/** Pairs in the order of their IoU, each box once. */
function matches(truth: readonly Box[], found: readonly Box[]): number {
  const pairs = truth
    .flatMap((a, i) => found.map((b, j) => ({ i, j, iou: boxIou(a, b) })))
    .filter(({ iou }) => iou >= LEAST_IOU)
    .sort((a, b) => b.iou - a.iou);
  const [used, taken] = [new Set<number>(), new Set<number>()];
  for (const { i, j } of pairs) {
    if (used.has(i) || taken.has(j)) continue;
    used.add(i);
    taken.add(j);
  }
  return used.size;
}

/** Boxes of the trees' points. */
async function crownsOf(plot: string, crown_scale_m: number): Promise<Box[]> {
  const { xyz, column: classes } = await readLas(join(FOLDER, `${plot}.las`), "classification");
  const points = positions(xyz);
  const skip = column(
    "u8",
    Uint8Array.from(classes, (value) => (value === NOISE ? 1 : 0)),
  );
  const ground = column(
    "u8",
    Uint8Array.from(classes, (value) => (value === GROUND ? 1 : 0)),
  );
  const sorted = await treePoints(points, skip, ground).promise;
  const cell_m = chmCell(crown_scale_m, sorted.spacing_m);
  const params = { cell_m, min_height_m: DEFAULT_CHM.chm_min_height, crown_scale_m };
  const { tree_instance } = await canopyCrowns(points, sorted.skip, sorted.not_ground, null, params).promise;
  const boxes = new Map<number, [number, number, number, number]>();
  for (const [i, tree] of values(tree_instance).entries()) {
    if (tree === 0) continue;
    const [x, y] = [xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0];
    const box = boxes.get(tree) ?? [x, y, x, y];
    boxes.set(tree, [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)]);
  }
  return [...boxes.values()];
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly CrownRow[]> {
  if (!existsSync(FOLDER)) {
    console.error(`not measured: ${FOLDER} does not exist`);
    return [];
  }
  const rows: CrownRow[] = [];
  for (const method of methods) {
    for (const plot of groups) {
      const truth = truthOf(plot);
      const found = await crownsOf(plot, Number(method));
      const matched = matches(truth, found);
      const window = BEST_WINDOW[PLOTS.indexOf(plot)] ?? 0;
      rows.push({ method, plot, truth: truth.length, boxes: found.length, matched, window });
    }
  }
  return rows;
}

const sum = (rows: readonly CrownRow[], of: (row: CrownRow) => number) => rows.reduce((all, row) => all + of(row), 0);
const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

function tables(rows: readonly CrownRow[]): string {
  const scales = [...new Set(rows.map(({ method }) => method))];
  return scales
    .map((scale) => {
      const own = rows.filter(({ method }) => method === scale);
      const truth = sum(own, (row) => row.truth);
      const matched = sum(own, (row) => row.matched);
      const boxes = sum(own, (row) => row.boxes);
      const lines = own.map((r) => `| ${r.plot} | ${r.truth} | ${r.boxes} | ${r.matched} | ${r.window} |`);
      const window = sum(own, (row) => row.window);
      const total = `| all | ${truth} | ${boxes} | ${matched} (${percent(matched, truth)}) | ${window} (${percent(window, truth)}) |`;
      const head = `crown scale ${scale} m\n\n| plot | crowns | boxes | found at IoU ${LEAST_IOU} | best fixed window |\n|---|---|---|---|---|`;
      return [head, ...lines, total].join("\n");
    })
    .join("\n\n");
}

function targets(rows: readonly CrownRow[]): string {
  const own = rows.filter(({ method }) => Number(method) === DEFAULT_CHM.chm_crown_scale);
  const [matched, window] = [sum(own, (row) => row.matched), sum(own, (row) => row.window)];
  return `${matched >= window ? "reached" : "MISSED"}: defaults find ${matched} crowns, the best fixed window ${window}`;
}

export const crownsPart: Part<CrownRow> = { methods: SCALES, groups: PLOTS, measure, tables, targets };
