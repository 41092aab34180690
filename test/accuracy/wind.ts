// Wood of trees that wind moves while they are scanned, by their true labels of tree and wood.
import { modelTree, releaseQsm } from "../../backend/native/qsm.ts";
import { column, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { MODEL_PARAMS, PLOTS, plotTrees, WHOLE_TREE } from "./qsm-trees.ts";
import { inTheWind, scannersOf, type Wind } from "./windy-tree.ts";

const METHODS = ["aligned", "as scanned"] as const;
type Method = (typeof METHODS)[number];
const WINDS: Readonly<Record<string, Wind>> = {
  still: { sway_m: 0, swings: false },
  "2 cm": { sway_m: 0.02, swings: false },
  "5 cm": { sway_m: 0.05, swings: false },
  "10 cm": { sway_m: 0.1, swings: false },
  "swings 2 cm": { sway_m: 0.02, swings: true },
  "swings 5 cm": { sway_m: 0.05, swings: true },
  "swings 10 cm": { sway_m: 0.1, swings: true },
};
const PARAMS = { ...MODEL_PARAMS, radius_model: "tapered" } as const;

export interface WindRow {
  readonly plot: string;
  readonly wind: string;
  readonly method: Method;
  readonly trees: number;
  readonly total_ratio: number;
  /** Relative errors of the volumes. */
  readonly errors: readonly number[];
  readonly covered: number;
  /** Trees that are said to sway, and how far the points of each are from the mean of the scans. */
  readonly swaying: number;
  readonly spread_m: number;
}

async function measured(plot: (typeof PLOTS)[number], wind: string, method: Method): Promise<WindRow> {
  const scanners = scannersOf(plot);
  const errors: number[] = [];
  let [total, true_total, covered, swaying, spread] = [0, 0, 0, 0, 0];
  for (const [k, tree] of [...plotTrees(plot)].entries()) {
    const xyz = inTheWind(tree, scanners, WINDS[wind] as Wind, k + 1);
    const rows = {
      ...WHOLE_TREE,
      positions: positions(xyz),
      scan_index: column("u8", tree.scan ?? new Uint8Array()),
      align_scans: method === "aligned",
    } as const;
    const { qsm, metrics, view_fit } = await modelTree(rows, PARAMS).promise;
    releaseQsm(qsm);
    const truth = (tree.truth ?? []).reduce(
      (sum, { start, end, radius }) =>
        sum + Math.PI * radius ** 2 * Math.hypot(...start.map((value, i) => (end[i] ?? 0) - value)),
      0,
    );
    const volume = metrics?.total_woody_volume_m3 ?? Number.NaN;
    const [low, high] = metrics?.total_woody_volume_ci95_m3 ?? [Number.NaN, Number.NaN];
    errors.push(volume / truth - 1);
    if (low <= truth && truth <= high) covered += 1;
    if (view_fit?.sways) swaying += 1;
    spread += view_fit?.spread_m ?? 0;
    total += volume;
    true_total += truth;
  }
  const trees = errors.length;
  return {
    plot,
    wind,
    method,
    trees,
    total_ratio: total / true_total,
    errors,
    covered,
    swaying,
    spread_m: spread / trees,
  };
}

const rootMeanSquare = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);

function lineOf({ plot, wind, method, trees, total_ratio, errors, covered, swaying, spread_m }: WindRow): string {
  const worst = Math.max(...errors.map(Math.abs));
  return `| ${plot} | ${wind} | ${method} | ${total_ratio.toFixed(3)} | ${rootMeanSquare(errors).toFixed(3)} | ${worst.toFixed(2)} | ${covered} of ${trees} | ${swaying} | ${(1000 * spread_m).toFixed(0)} |`;
}

/** Part `wind` of `npm run accuracy`. */
export const windPart: Part<WindRow> = {
  methods: METHODS,
  groups: PLOTS,
  measure: async (methods, groups) => {
    const rows: WindRow[] = [];
    for (const plot of PLOTS.filter((name) => groups.includes(name)))
      for (const wind of Object.keys(WINDS))
        for (const method of METHODS.filter((name) => methods.includes(name)))
          rows.push(await measured(plot, wind, method));
    return rows;
  },
  tables: (rows) =>
    [
      "| plot | wind | measured | volume of true | RMS of the trees | worst | in the interval | said to sway | spread mm |",
      "|---|---|---|---|---|---|---|---|---|",
      ...rows.map(lineOf),
    ].join("\n"),
  targets: (rows) => {
    const light = rows.filter(({ method, wind }) => method === "aligned" && !wind.includes("10"));
    const worst = Math.max(...light.map(({ errors }) => rootMeanSquare(errors)));
    return `volumes of trees in winds of up to 5 cm within 8 % (RRMSE): ${(100 * worst).toFixed(1)} %, ${worst <= 0.08 ? "reached" : "missed"}`;
  },
};
