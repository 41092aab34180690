// Leaf area density of media with known density, of stored pulses with the values of an independent inversion, and of scans
// of known leaves.
import { CUBE_CASES, type CubeRow, cubeRow } from "./lad-cubes.ts";
import { FILL_CASES, type FillRow, fillRow } from "./lad-fill.ts";
import { LAW_CASES } from "./lad-law.ts";
import { type LawRow, lawRow } from "./lad-law-row.ts";
import { cubeLiterature, lawLiterature, treeLiterature } from "./lad-literature.ts";
import { REFERENCE_CASES } from "./lad-reference.ts";
import { NEAR, type ReferenceRow, referenceRow } from "./lad-reference-row.ts";
import { SEEN_CASES, type SeenRow, seenRow } from "./lad-seen.ts";
import { TREE_CASES, type TreeRow, treeRow } from "./lad-trees.ts";
import type { Part } from "./part.ts";

const METHODS = ["law", "reference", "cubes", "trees", "seen", "fill"] as const;
type LadRow =
  | ({ readonly method: "law" } & LawRow)
  | ({ readonly method: "reference" } & ReferenceRow)
  | ({ readonly method: "cubes" } & CubeRow)
  | ({ readonly method: "trees" } & TreeRow)
  | ({ readonly method: "seen" } & SeenRow)
  | ({ readonly method: "fill" } & FillRow);

/** Largest bias of cubes of leaves, percent: with G given over many seeds, and with G of triangles. */
const BIAS = { given: 1, own: 5 };
/** Leaf area of a tree and its G, as a share of the truth; error of kriging as a share of that of layer means. */
const TREE = { area: 0.05, g: 0.05 };
const KRIGING = 0.5;
const COVERAGE = { least: 92, most: 98 };

const fixed = (value: number, digits: number) => value.toFixed(digits);
const percent = (value: number | null, digits = 2) => (value === null ? "" : `${fixed(value, digits)} %`);

const table = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [head, `|${"---|".repeat(head.split("|").length - 2)}`, ...lines, ""].join("\n");

const lawTable = (rows: readonly LawRow[]) =>
  table(
    "| medium | voxels | bias of the total | 95 % intervals that hold the truth | intervals | literature |",
    rows.map(
      ({ name, voxels, bias, coverage, intervals }) =>
        `| ${name} | ${voxels} | ${percent(bias)} | ${percent(coverage, 1)} | ${intervals} | ${lawLiterature(name)} |`,
    ),
  );

const referenceTable = (rows: readonly ReferenceRow[]) =>
  table(
    "| case | voxels | transmission differs by | path differs by | LAD outside | total of the truth | G of short triangles | of long ones | by energy | short | long | without voxels | short | long |",
    rows.map(({ name, voxels, transmission, path_m, outside, of_truth, own, energy, seen }) => {
      const differences = `${transmission.toExponential(1)} | ${path_m.toExponential(1)} m | ${outside}`;
      const shares = [of_truth, ...own].map((one) => fixed(one, 3));
      const others = [energy, seen].flatMap((three) =>
        [0, 1, 2].map((k) => (three[k] === undefined ? "" : fixed(three[k], 3))),
      );
      return `| ${name} | ${voxels} | ${differences} | ${[...shares, ...others].join(" | ")} |`;
    }),
  );

const cubeTable = (rows: readonly CubeRow[]) =>
  table(
    "| leaves | seeds | bias of the total | worst seed | 95 % intervals that hold the density | intervals | bias, returns alike | literature |",
    rows.map(
      ({ name, seeds, bias, worst, coverage, intervals, equal }) =>
        `| ${name} | ${seeds} | ${percent(bias)} | ${percent(worst, 1)} | ${percent(coverage, 1)} | ${Math.round(intervals)} | ${percent(equal, 1)} | ${cubeLiterature(name)} |`,
    ),
  );

const treeTable = (rows: readonly TreeRow[]) =>
  table(
    "| tree | seeds | leaf area, m2 | total with the true G | with G of triangles | that G over the true one | surface of the wood | literature |",
    rows.map(
      ({ name, seeds, leaf_area_m2, true_g, own_g, g_ratio, wood }) =>
        `| ${name} | ${seeds} | ${fixed(leaf_area_m2, 2)} | ${fixed(true_g, 3)} | ${fixed(own_g, 3)} | ${fixed(g_ratio, 3)} | ${wood === null ? "" : fixed(wood, 3)} | ${treeLiterature(name)} |`,
    ),
  );

const seenTable = (rows: readonly SeenRow[]) =>
  table(
    "| tree | leaf area, m2 | share seen by 1, 2, .. scanners | seen by any | with what none sees | 95 % interval | with the true G | G over the true one | agreement |",
    rows.map(({ name, leaf_area_m2, seen_by, seen, estimate, interval, true_g, g_ratio, agreement }) => {
      const shares = seen_by.map((share) => fixed(share, 3)).join(" ");
      const ends = interval?.map((end) => fixed(end, 2)).join(" to ") ?? "none";
      const found = [seen, estimate].map((share) => fixed(share, 3)).join(" | ");
      return `| ${name} | ${fixed(leaf_area_m2, 2)} | ${shares} | ${found} | ${ends} | ${fixed(true_g, 3)} | ${fixed(g_ratio, 3)} | ${fixed(agreement, 2)} |`;
    }),
  );

const fillTable = (rows: readonly FillRow[]) =>
  table(
    "| field | seeds | error of layer means | of kriging |",
    rows.map(
      ({ name, seeds, layer_mean, kriging }) =>
        `| ${name} | ${seeds} | ${fixed(layer_mean, 3)} | ${fixed(kriging, 3)} |`,
    ),
  );

function reached(row: LadRow): boolean {
  if (row.method === "trees") return Math.abs(row.own_g - 1) <= TREE.area && Math.abs(row.g_ratio - 1) <= TREE.g;
  if (row.method === "seen") return Math.abs(row.estimate - 1) <= TREE.area || row.agreement < 0.9;
  if (row.method === "fill") return row.name.includes("no structure") || row.kriging <= KRIGING * row.layer_mean;
  if (row.method === "reference")
    return row.transmission <= NEAR.transmission && row.path_m <= NEAR.path_m && row.outside === 0;
  const own = row.method === "cubes" && row.name.includes("own G");
  if (own) return Math.abs(row.bias) <= BIAS.own;
  return Math.abs(row.bias) <= BIAS.given && row.coverage >= COVERAGE.least && row.coverage <= COVERAGE.most;
}

export const ladPart: Part<LadRow> = {
  methods: METHODS,
  groups: [...LAW_CASES, ...CUBE_CASES, ...TREE_CASES, ...SEEN_CASES, ...FILL_CASES]
    .map(({ name }) => name)
    .concat(REFERENCE_CASES),
  async measure(methods, groups) {
    const rows: LadRow[] = [];
    const asked = <T extends { name: string }>(method: string, cases: readonly T[]) =>
      methods.includes(method) ? cases.filter(({ name }) => groups.includes(name)) : [];
    for (const one of asked("law", LAW_CASES)) rows.push({ method: "law", ...(await lawRow(one)) });
    if (methods.includes("reference")) {
      if (REFERENCE_CASES.length === 0) console.error("no stored pulses: set APP_TEST_DATA");
      for (const name of REFERENCE_CASES)
        if (groups.includes(name)) rows.push({ method: "reference", ...(await referenceRow(name)) });
    }
    for (const one of asked("cubes", CUBE_CASES)) rows.push({ method: "cubes", ...(await cubeRow(one)) });
    for (const one of asked("trees", TREE_CASES)) rows.push({ method: "trees", ...(await treeRow(one)) });
    for (const one of asked("seen", SEEN_CASES)) rows.push({ method: "seen", ...(await seenRow(one)) });
    for (const one of asked("fill", FILL_CASES)) rows.push({ method: "fill", ...(await fillRow(one)) });
    return rows;
  },
  tables: (rows) =>
    [
      lawTable(rows.filter((row) => row.method === "law")),
      referenceTable(rows.filter((row) => row.method === "reference")),
      cubeTable(rows.filter((row) => row.method === "cubes")),
      treeTable(rows.filter((row) => row.method === "trees")),
      seenTable(rows.filter((row) => row.method === "seen")),
      fillTable(rows.filter((row) => row.method === "fill")),
    ]
      .filter((text) => text.length > 0)
      .join("\n"),
  targets(rows) {
    const missed = rows.filter((row) => !reached(row)).map(({ name }) => name);
    return `\n${rows.length - missed.length} of ${rows.length} reached${missed.length > 0 ? `; not ${missed.join(", ")}` : ""}`;
  },
};
