// Wood of the trees of generated stands, by their true labels of tree and wood: few points, leaves before the wood, stems seen
// from one side, and a scanner beside some of them.
import { modelTree, releaseQsm } from "../../backend/native/qsm.ts";
import { buildStand, EVERY, ORGAN, type ScannedTree, type Stand } from "./forest/stand.ts";
import { column, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { MODEL_PARAMS, WHOLE_TREE } from "./qsm-trees.ts";

const METHODS = ["tapered", "isotonic"] as const;
type Method = (typeof METHODS)[number];
/** Stand and seed; four positions. */
const STANDS = { apart: 2, interlocked: 2, slope: 3, rows: 2 } as const;
type Kind = keyof typeof STANDS;
const SIDE_M = 40;
const FEWEST_POINTS = 500;

export interface StandModelRow {
  readonly stand: string;
  readonly method: Method;
  readonly trees: number;
  /** Volumes of all over the true ones. */
  readonly total_ratio: number;
  /** Relative errors of the volumes. */
  readonly errors: readonly number[];
  /** Trees with an interval, and those whose interval holds the truth. */
  readonly with_interval: number;
  readonly covered: number;
  /** Half widths over the volume, mean. */
  readonly half_width: number;
}

function woodOf({ points, trees }: Stand): (readonly [ScannedTree, readonly number[]])[] {
  const rows = new Map<number, number[]>();
  for (const [i, tree] of points.tree.entries()) {
    if (points.organ[i] !== ORGAN.wood) continue;
    const of = rows.get(tree);
    if (of) of.push(i);
    else rows.set(tree, [i]);
  }
  return trees
    .filter(({ is_understorey }) => !is_understorey)
    .map((tree) => [tree, rows.get(tree.id) ?? []] as const)
    .filter(([, wood]) => wood.length >= FEWEST_POINTS);
}

async function measured(kind: Kind, method: Method): Promise<StandModelRow> {
  const seed = STANDS[kind];
  const stand = await buildStand({ kind, seed, positions: 4, side: SIDE_M, every: EVERY });
  const errors: number[] = [];
  let [total, true_total, with_interval, covered, half_width] = [0, 0, 0, 0, 0];
  for (const [tree, wood] of woodOf(stand)) {
    const { xyz, scan } = stand.points;
    const rows = {
      ...WHOLE_TREE,
      positions: positions(Float64Array.from(wood.flatMap((i) => [...xyz.subarray(3 * i, 3 * i + 3)]))),
      scan_index: column(
        "u8",
        Uint8Array.from(wood, (i) => scan[i] ?? 0),
      ),
      align_scans: true,
    } as const;
    const { qsm, metrics } = await modelTree(rows, { ...MODEL_PARAMS, radius_model: method }).promise;
    releaseQsm(qsm);
    const volume = metrics?.total_woody_volume_m3 ?? 0;
    const truth = tree.wood_volume_m3;
    errors.push(volume / truth - 1);
    total += volume;
    true_total += truth;
    const interval = metrics?.total_woody_volume_ci95_m3;
    if (!interval) continue;
    with_interval += 1;
    half_width += (interval[1] - interval[0]) / 2 / volume;
    if (interval[0] <= truth && truth <= interval[1]) covered += 1;
  }
  return {
    stand: `${kind}, seed ${seed}`,
    method,
    trees: errors.length,
    total_ratio: total / true_total,
    errors,
    with_interval,
    covered,
    half_width: half_width / Math.max(1, with_interval),
  };
}

const rootMeanSquare = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Part `stand-models` of `npm run accuracy`. */
export const standModelsPart: Part<StandModelRow> = {
  methods: METHODS,
  groups: Object.keys(STANDS),
  measure: async (methods, groups) => {
    const rows: StandModelRow[] = [];
    for (const kind of Object.keys(STANDS) as Kind[]) {
      if (!groups.includes(kind)) continue;
      for (const method of METHODS.filter((name) => methods.includes(name))) rows.push(await measured(kind, method));
    }
    return rows;
  },
  tables: (rows) =>
    [
      "| stand | radius_model | trees | volume of true | error: median | RMS | worst | with an interval | that holds the truth | half width |",
      "|---|---|---|---|---|---|---|---|---|---|",
      ...rows.map(
        ({ stand, method, trees, total_ratio, errors, with_interval, covered, half_width }) =>
          `| ${stand} | ${method} | ${trees} | ${total_ratio.toFixed(3)} | ${median(errors).toFixed(3)} | ${rootMeanSquare(errors).toFixed(3)} | ${Math.max(...errors.map(Math.abs)).toFixed(2)} | ${with_interval} | ${covered} | ${half_width.toFixed(3)} |`,
      ),
    ].join("\n"),
  targets: (rows) =>
    METHODS.map((name) => {
      const own = rows.filter(({ method }) => method === name);
      const sum = (of: (row: StandModelRow) => number) => own.reduce((all, row) => all + of(row), 0);
      const share = sum(({ covered }) => covered) / sum(({ with_interval }) => with_interval);
      return `${name}: intervals that hold the truth, at least 90 %: ${(100 * share).toFixed(0)} %, ${share >= 0.9 ? "reached" : "missed"}`;
    }).join("\n"),
};
