// Diameters of simulated stems: taper, ellipticity, bark, lean, seen whole or as an arc; through the tree list.
import * as native from "../../backend/native/inventory.ts";
import { inventoryRows } from "../../backend/services/trees/inventory-rows.ts";
import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { cross } from "./forest/stem.ts";
import { column, positions } from "./native.ts";
import { gaussian, type Uniform, uniform } from "./random.ts";
import { add, unit, type Vector } from "./vector.ts";

/** Of one class. */
const STEMS = 334;
const LENGTH_M = 3;
const RADIUS_M = [0.075, 0.35] as const;
const TAPER = [0.005, 0.01] as const;
const MOST_RATIO = 1.15;
const MOST_LEAN = (15 * Math.PI) / 180;
/** Bark stands out by so much (standard deviation) in patches of this width and height, metres. */
const BARK_M = 0.01;
const PATCH_M = [0.02, 0.05] as const;
const RANGE_NOISE_M = 0.003;
const SPACING_M = { whole: 0.03, arc: 0.02 } as const;
/** Between stems, metres. */
const APART_M = 5;
/** Mean square of the ellipticity of stems whose ratios of axes are spread evenly from 1 to MOST_RATIO. */
const POPULATION = (MOST_RATIO - 1) ** 2 / 3;

export const ARCS = [360, 120, 90] as const;
export type Arc = (typeof ARCS)[number];

export interface SimulatedRow {
  readonly kind: "simulated";
  readonly arc_deg: Arc;
  readonly is_elliptic: boolean;
  /** What the fit takes for the mean square of the ellipticity. */
  readonly prior: "of the class" | "of the service";
  readonly stems: number;
  readonly measured: number;
  /** Metres. */
  readonly bias: number;
  readonly rmse: number;
  readonly relative_rmse: number;
  /** Share of the 95 % intervals that hold the diameter. */
  readonly coverage: number;
}

interface Stems {
  readonly xyz: Float64Array;
  readonly height: Float32Array;
  readonly tree: Uint32Array;
  /** Girth / pi at 1.3 m, by tree id - 1. */
  readonly dbh: readonly number[];
}

const between = ([low, high]: readonly [number, number], next: Uniform) => low + (high - low) * next();

/** Girth / (2 pi) of an ellipse with axes 1 and ratio: Ramanujan's series to the fourth order. */
function meanRadius(ratio: number): number {
  const h = ((ratio - 1) / (ratio + 1)) ** 2;
  return ((ratio + 1) / 2) * (1 + h / 4 + h ** 2 / 64);
}

/** One stem at the origin: its points one after another. */
function* stemPoints(r: number, arc: Arc, is_elliptic: boolean, next: Uniform): Generator<Vector> {
  const taper = between(TAPER, next);
  const ratio = is_elliptic ? between([1, MOST_RATIO], next) : 1;
  const [a, b] = [ratio / meanRadius(ratio), 1 / meanRadius(ratio)];
  const [turn, first, azimuth] = [next(), next(), next()].map((value) => 2 * Math.PI * value) as [
    number,
    number,
    number,
  ];
  const lean = MOST_LEAN * next();
  const axis: Vector = [Math.sin(lean) * Math.cos(azimuth), Math.sin(lean) * Math.sin(azimuth), Math.cos(lean)];
  const u = unit(add([1, 0, 0], axis, -axis[0]));
  const v = cross(axis, u);
  const bark = new Map<number, number>();
  const relief = (angle: number, along: number) => {
    const key = 10_000 * Math.floor((angle * r) / PATCH_M[0]) + Math.floor(along / PATCH_M[1]);
    const known = bark.get(key) ?? BARK_M * gaussian(next);
    bark.set(key, known);
    return known;
  };
  const spacing = arc === 360 ? SPACING_M.whole : SPACING_M.arc;
  const count = Math.floor(((arc / 360) * 2 * Math.PI * r * LENGTH_M) / spacing ** 2);
  for (let i = 0; i < count; i += 1) {
    const along = LENGTH_M * next();
    const angle = (arc / 180) * Math.PI * next();
    const phi = first + angle - turn;
    const shape = (a * b) / Math.hypot(b * Math.cos(phi), a * Math.sin(phi));
    const at = (r + taper * (1.3 - along)) * shape + relief(angle, along) + RANGE_NOISE_M * gaussian(next);
    const [c, s] = [at * Math.cos(first + angle), at * Math.sin(first + angle)];
    const place = add(add([axis[0] * along, axis[1] * along, axis[2] * along], u, c), v, s);
    if (place[2] >= 0) yield place;
  }
}

function stemsOf(arc: Arc, is_elliptic: boolean): Stems {
  const next = uniform(arc + (is_elliptic ? 1000 : 0));
  const xyz: number[] = [];
  const tree: number[] = [];
  const dbh: number[] = [];
  const side = Math.ceil(Math.sqrt(STEMS));
  for (let k = 0; k < STEMS; k += 1) {
    const r = between(RADIUS_M, next);
    dbh.push(2 * r);
    for (const [x, y, z] of stemPoints(r, arc, is_elliptic, next)) {
      xyz.push(x + APART_M * (k % side), y + APART_M * Math.floor(k / side), z);
      tree.push(k + 1);
    }
  }
  const height = Float32Array.from(tree, (_, i) => xyz[3 * i + 2] ?? 0);
  return { xyz: Float64Array.from(xyz), height, tree: Uint32Array.from(tree), dbh };
}

async function listed({ xyz, height, tree }: Stems, ellipticity_square: number): Promise<readonly TreeRow[]> {
  const cloud: native.TreeCloud = {
    positions: positions(xyz),
    skip: null,
    tree_instance: column("u32", tree),
    height_above_ground: column("f32", height),
    ground_class: null,
    shift: [0, 0, 0],
  };
  const params = { ...INVENTORY_DEFAULTS, ...INVENTORY_CONSTANTS, tree_ids: null, ellipticity_square };
  const list = inventoryRows(await native.treeInventory(cloud, params).promise, params).trees;
  return Array.from({ length: list.length }, (_, i) => list.at(i) as TreeRow);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

async function measured(arc_deg: Arc, is_elliptic: boolean): Promise<SimulatedRow[]> {
  const stems = stemsOf(arc_deg, is_elliptic);
  const rows: SimulatedRow[] = [];
  for (const [prior, square] of [
    ["of the class", is_elliptic ? POPULATION : 0],
    ["of the service", INVENTORY_CONSTANTS.ellipticity_square],
  ] as const) {
    const found = (await listed(stems, square)).flatMap(({ tree_id, dbh }) => {
      const truth = stems.dbh[tree_id - 1] ?? Number.NaN;
      return dbh?.diameter_m == null ? [] : [{ truth, error: dbh.diameter_m - truth, sigma: dbh.sigma_m ?? 0 }];
    });
    rows.push({
      kind: "simulated",
      arc_deg,
      is_elliptic,
      prior,
      stems: STEMS,
      measured: found.length,
      bias: mean(found.map(({ error }) => error)),
      rmse: Math.sqrt(mean(found.map(({ error }) => error ** 2))),
      relative_rmse: Math.sqrt(mean(found.map(({ error, truth }) => (error / truth) ** 2))),
      coverage: mean(found.map(({ error, sigma }) => (Math.abs(error) <= 1.96 * sigma ? 1 : 0))),
    });
  }
  return rows;
}

export async function simulatedStems(): Promise<SimulatedRow[]> {
  const rows: SimulatedRow[] = [];
  for (const arc of ARCS) for (const is_elliptic of [false, true]) rows.push(...(await measured(arc, is_elliptic)));
  return rows;
}

const cm = (metres: number) => (100 * metres).toFixed(2);
const percent = (share: number, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const shapeOf = ({ is_elliptic }: SimulatedRow) => (is_elliptic ? "elliptic" : "round");

export const simulatedTable = (rows: readonly SimulatedRow[]): string[] => [
  `Simulated stems, ${STEMS} a class: 15 to 70 cm, axes up to ${MOST_RATIO} to 1, bark of 1 cm in patches of 2 x 5 cm, lean to 15 degrees; truth = girth / pi.`,
  "",
  "| section | arc | ellipticity assumed | measured | bias cm | RMSE cm | RMSE | in 95 % |",
  "|---|---|---|---|---|---|---|---|",
  ...rows.map(
    (row) =>
      `| ${shapeOf(row)} | ${row.arc_deg} | ${row.prior} | ${row.measured} | ${cm(row.bias)} | ${cm(row.rmse)} | ${percent(row.relative_rmse)} | ${percent(row.coverage)} |`,
  ),
  "",
];

const MOST_M: Readonly<Record<Arc, number>> = { 360: 0.004, 120: 0.01, 90: 0.02 };
const MOST_SHARE: Readonly<Partial<Record<Arc, number>>> = { 120: 0.08, 90: 0.09 };
const COVERAGE = [0.92, 0.98] as const;

/** Each class with its own ellipticity: an arc does not show it. */
export function simulatedTargets(rows: readonly SimulatedRow[]): string[] {
  return rows
    .filter(({ prior }) => prior === "of the class")
    .map((row) => {
      const share = row.is_elliptic ? MOST_SHARE[row.arc_deg] : undefined;
      const small = share === undefined ? row.rmse <= MOST_M[row.arc_deg] : row.relative_rmse <= share;
      const covers = row.coverage >= COVERAGE[0] && row.coverage <= COVERAGE[1];
      const reached = small && covers && row.measured === row.stems;
      const wanted = share === undefined ? `${cm(MOST_M[row.arc_deg])} cm` : percent(share, 0);
      const seen = share === undefined ? `${cm(row.rmse)} cm` : percent(row.relative_rmse);
      return `${reached ? "reached" : "MISSED"}: ${shapeOf(row)} stems, ${row.arc_deg} degrees: RMSE ${wanted} (${seen}), intervals 92 to 98 % (${percent(row.coverage)})`;
    });
}
