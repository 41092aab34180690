// Stems of another program's simulated forests, scanned from four positions: which are found, and their diameters.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { detectStems } from "../../backend/native/stems.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { npy } from "./forest-plots.ts";
import { REFERENCE_PLOTS, referencePlot } from "./inventory-data.ts";
import { column, positions } from "./native.ts";
import { BAND, type KnownStem, stemPairs } from "./stem-pairs.ts";

type Plot = (typeof REFERENCE_PLOTS)[number];
/** F1 of the trunks that raycloudtools finds, and RMSE of their diameters, metres: MANIFEST of the data. */
const THEIRS: Readonly<Record<Plot, { readonly f1: number; readonly rmse_m: number }>> = {
  open_11: { f1: 0.88, rmse_m: 0.057 },
  dense_12: { f1: 0.782, rmse_m: 0.093 },
  slope20_13: { f1: 0.821, rmse_m: 0.06 },
};
const TARGET_F1 = 0.97;
const TARGET_RMSE_M = 0.005;
/** A seed nearer to a tree than this is its stem, metres. */
const MATCH_M = 0.5;
const GROUND = 1;

export interface ReferenceStemsRow {
  readonly kind: "reference";
  readonly plot: Plot;
  readonly trees: number;
  readonly seeds: number;
  readonly found: number;
  readonly f1: number;
  readonly rmse_m: number;
  readonly worst_m: number;
  readonly cpu_s: number;
}

function treesOf(path: string): KnownStem[] {
  const [head = "", ...rows] = readFileSync(join(path, "trees.csv"), "utf8").trim().split("\n");
  const names = head.split(",");
  const number = (row: string, name: string) => Number(row.split(",")[names.indexOf(name)]);
  return rows.map((row) => ({ x: number(row, "x"), y: number(row, "y"), dbh_m: number(row, "dbh_m") }));
}

async function measured(plot: Plot): Promise<ReferenceStemsRow[]> {
  const data = referencePlot(plot);
  if (!data?.terrain) return [];
  const path = join(DATA, "forest_reference", plot);
  const { xyz, terrain } = data;
  const organ = npy(join(path, "organ.npy.gz"));
  const heights = Float32Array.from(organ, (_, i) => {
    const [x = 0, y = 0, z = 0] = xyz.subarray(3 * i, 3 * i + 3);
    return z - terrain(x, y);
  });
  const labels = Uint8Array.from(organ, (value) => (value === GROUND ? 1 : 2));
  const before = process.cpuUsage();
  const { stems } = await detectStems(positions(xyz), null, column("f32", heights), column("u8", labels), BAND).promise;
  const cpu_s = process.cpuUsage(before).user / 1e6;
  const trees = treesOf(path);
  const pairs = stemPairs(trees, stems, MATCH_M);
  const errors = pairs.map(({ tree, stem }) => 2 * (stems[stem]?.radius_m ?? 0) - (trees[tree]?.dbh_m ?? 0));
  return [
    {
      kind: "reference",
      plot,
      trees: trees.length,
      seeds: stems.length,
      found: errors.length,
      f1: (2 * errors.length) / (trees.length + stems.length),
      rmse_m: Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length),
      worst_m: Math.max(...errors.map(Math.abs)),
      cpu_s,
    },
  ];
}

export async function referenceStems(groups: readonly string[]): Promise<ReferenceStemsRow[]> {
  const rows: ReferenceStemsRow[] = [];
  for (const plot of REFERENCE_PLOTS.filter((one) => groups.includes(one))) rows.push(...(await measured(plot)));
  return rows;
}

const millimetres = (value: number) => (1000 * value).toFixed(1);

export const referenceStemsTable = (rows: readonly ReferenceStemsRow[]): string[] => [
  "Stems of forest_reference, exact ground, against raycloudtools (trunks)",
  "",
  "| plot | trees | seeds | found | F1 | theirs | DBH RMSE, mm | theirs | worst, mm | CPU s |",
  "|---|---|---|---|---|---|---|---|---|---|",
  ...rows.map(
    ({ plot, trees, seeds, found, f1, rmse_m, worst_m, cpu_s }) =>
      `| ${plot} | ${trees} | ${seeds} | ${found} | ${f1.toFixed(3)} | ${THEIRS[plot].f1} | ${millimetres(rmse_m)} | ${millimetres(THEIRS[plot].rmse_m)} | ${millimetres(worst_m)} | ${cpu_s.toFixed(2)} |`,
  ),
  "",
];

export const referenceStemsTargets = (rows: readonly ReferenceStemsRow[]): string[] =>
  rows.map(({ plot, f1, rmse_m }) => {
    const reached = f1 >= TARGET_F1 && rmse_m <= TARGET_RMSE_M;
    return `${reached ? "reached" : "MISSED"}: ${plot} F1 ${TARGET_F1} (${f1.toFixed(3)}), DBH RMSE ${millimetres(TARGET_RMSE_M)} mm (${millimetres(rmse_m)})`;
  });
