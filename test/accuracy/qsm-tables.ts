// Tables of the accuracy of models: volume and length, structure, and real trees.
import type { StructureScores } from "./qsm-structure.ts";
import { type KnownTree, PLOTS } from "./qsm-trees.ts";

export const METHODS = ["isotonic", "tapered"] as const;
export type Method = (typeof METHODS)[number];
const KNOWN = [...PLOTS, "hand", "scans", "scans_4.23", "scans_9", "scans_1", "own", "leafy"] as const;
export const GROUPS = [...KNOWN, "real"] as const;
export type Group = (typeof GROUPS)[number];
/** Upper ends of classes of radius, metres: diameters of 2.5, 5 and 10 cm. */
export const CLASSES = [0.0125, 0.025, 0.05, Number.POSITIVE_INFINITY];

export interface Totals {
  readonly volume_m3: number;
  readonly stem_m3: number;
  readonly length_m: number;
  /** By class of radius. */
  readonly by_class_m3: readonly number[];
}
export interface QsmRow {
  readonly group: Group;
  readonly method: Method;
  readonly tree: string;
  readonly points: number;
  readonly found: Totals;
  /** Null: no radius is known well. */
  readonly interval_m3: readonly [number, number] | null;
  readonly truth: Totals | null;
  readonly structure: StructureScores | null;
  readonly theirs: KnownTree["theirs"];
  readonly dbh_m: number;
  readonly diameter: KnownTree["diameter"];
  readonly diameter_found_m: number;
  readonly height_m: number;
}

const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
const percent = (value: number) => `${(100 * value).toFixed(1)} %`;

interface Summary {
  readonly bias: number;
  readonly mean_error: number;
  readonly stem: number;
  readonly rrmse: number;
  readonly length: number;
  readonly covered: number;
}
function summary(rows: readonly QsmRow[]): Summary {
  const known = rows.flatMap(({ truth, ...row }) => (truth ? [{ ...row, truth }] : []));
  const of = (get: (row: (typeof known)[number]) => number) => mean(known.map(get));
  const truth = of((row) => row.truth.volume_m3);
  return {
    bias: of((row) => row.found.volume_m3) / truth - 1,
    mean_error: of((row) => row.found.volume_m3 / row.truth.volume_m3 - 1),
    stem: of((row) => row.found.stem_m3 / row.truth.stem_m3 - 1),
    rrmse: Math.sqrt(of((row) => (row.found.volume_m3 - row.truth.volume_m3) ** 2)) / truth,
    length: of((row) => row.found.length_m / row.truth.length_m),
    covered: of(({ interval_m3, truth: { volume_m3 } }) =>
      interval_m3 && interval_m3[0] <= volume_m3 && volume_m3 <= interval_m3[1] ? 1 : 0,
    ),
  };
}

/** `all`: of the reference forest. */
const picked = (rows: readonly QsmRow[], group: Group | "all", method: Method) =>
  rows.filter((row) => {
    const isIn = group === "all" ? PLOTS.some((plot) => plot === row.group) : row.group === group;
    return row.truth && isIn && row.method === method;
  });

export function knownTable(rows: readonly QsmRow[]): string {
  const lines = [
    "| plot | radii | trees | bias of the sum | mean error | stem | RRMSE | length | 95 % interval covers | volume found / true by diameter, below 2.5, 5, 10 cm, thicker |",
    "|---|---|---|---|---|---|---|---|---|---|",
  ];
  for (const group of [...KNOWN, "all"] as const)
    for (const method of METHODS) {
      const some = picked(rows, group, method);
      if (some.length === 0) continue;
      const s = summary(some);
      const ratio = CLASSES.map(
        (_, k) =>
          mean(some.map((r) => r.found.by_class_m3[k] ?? 0)) / mean(some.map((r) => r.truth?.by_class_m3[k] ?? 0)),
      );
      lines.push(
        `| ${group} | ${method} | ${some.length} | ${percent(s.bias)} | ${percent(s.mean_error)} | ${percent(s.stem)} | ${percent(s.rrmse)} | ${percent(s.length)} | ${percent(s.covered)} | ${ratio.map((r) => r.toFixed(2)).join(", ")} |`,
      );
    }
  return lines.join("\n");
}

const digits = (value: number | undefined, count: number) => value?.toFixed(count) ?? "-";

export function realTable(rows: readonly QsmRow[]): string {
  const lines = [
    "| tree | radii | volume m3 (interval; TreeQSM) | DBH m (TreeQSM) | diameter at the table's height m (table) | height m (TreeQSM) | length m (TreeQSM) |",
    "|---|---|---|---|---|---|---|",
  ];
  for (const row of rows) {
    if (row.truth) continue;
    const { found, theirs } = row;
    const interval = row.interval_m3?.map((value) => value.toFixed(3)).join(" to ") ?? "no interval";
    lines.push(
      `| ${row.tree} | ${row.method} | ${found.volume_m3.toFixed(3)} (${interval}; ${digits(theirs?.volume_m3, 3)}) | ${row.dbh_m.toFixed(3)} (${digits(theirs?.dbh_m, 3)}) | ${row.diameter ? row.diameter_found_m.toFixed(3) : "-"} (${row.diameter?.diameter_m.toFixed(3) ?? "-"}) | ${row.height_m.toFixed(1)} (${digits(theirs?.height_m, 1)}) | ${found.length_m.toFixed(0)} (${digits(theirs?.length_m, 0)}) |`,
    );
  }
  return lines.join("\n");
}

/** A row of the contract's acceptance numbers: limits for trees built by hand and for scans; null = none. */
interface Accepted {
  readonly what: string;
  readonly hand: number | null;
  readonly scans: number | null;
  /** At least the limit, else at most. */
  readonly least?: boolean;
  /** The best options reach half of the limit. */
  readonly halved?: boolean;
  readonly of: (row: QsmRow & { structure: StructureScores; truth: Totals }, group: Group) => number;
}
const ACCEPTED: readonly Accepted[] = [
  { what: "wood recall", hand: 0.9, scans: 0.9, least: true, of: (r) => r.structure.recall },
  { what: "wood precision", hand: 0.85, scans: 0.9, least: true, of: (r) => r.structure.precision },
  {
    what: "centreline, mean (hand: smallest radii; scans: m)",
    hand: 0.5,
    scans: 0.004,
    of: (r, group) => (group === "hand" ? r.structure.distance_thinnest : r.structure.distance_m),
  },
  {
    what: "centreline, 95 % (the same)",
    hand: 2,
    scans: 0.012,
    of: (r, group) => (group === "hand" ? r.structure.distance_p95_thinnest : r.structure.distance_p95_m),
  },
  { what: "stem radius", hand: 0.05, scans: 0.15, halved: true, of: (r) => r.structure.stem_radius },
  { what: "branch radius", hand: 0.2, scans: 0.25, halved: true, of: (r) => r.structure.branch_radius },
  {
    what: "total volume",
    hand: 0.15,
    scans: 0.22,
    halved: true,
    of: (r) => Math.abs(r.found.volume_m3 / r.truth.volume_m3 - 1),
  },
  {
    what: "total length",
    hand: 0.1,
    scans: 0.1,
    halved: true,
    of: (r) => Math.abs(r.found.length_m / r.truth.length_m - 1),
  },
  { what: "trunk recall", hand: 0.95, scans: 0.95, least: true, of: (r) => r.structure.trunk_recall },
  { what: "rank-1 recall", hand: 0.8, scans: 0.45, least: true, of: (r) => r.structure.rank1_recall },
  { what: "unmatched wood", hand: 0.1, scans: 0.1, of: (r) => r.structure.unmatched },
  { what: "branch angle, degrees", hand: 12, scans: null, of: (r) => r.structure.angle_deg },
];

/** Means over the trees of a group; `!` marks what misses the limit. */
export function contractTable(rows: readonly QsmRow[]): string {
  const lines = [
    "| means per tree | hand: limit | isotonic | tapered | scans: limit | isotonic | tapered | twig 4.23 mm: isotonic | tapered |",
    "|---|---|---|---|---|---|---|---|---|",
  ];
  for (const { what, of, least, halved, ...limits } of ACCEPTED) {
    const cell = (group: Group, method: Method, limit: number | null): string => {
      const some = rows.flatMap(({ structure, truth, ...row }) =>
        structure && truth && row.group === group && row.method === method ? [{ ...row, structure, truth }] : [],
      );
      if (some.length === 0) return "-";
      const value = mean(some.map((row) => of(row, group)));
      const most = limit !== null && halved && method === "tapered" ? limit / 2 : limit;
      const misses = most !== null && (least ? value < most : !(value <= most));
      return `${value.toPrecision(2)}${misses ? " !" : ""}`;
    };
    const group = (name: Group, limit: number | null) => METHODS.map((method) => cell(name, method, limit)).join(" | ");
    const shown = (limit: number | null) =>
      limit === null ? "-" : `${limit}${halved ? ` (tapered ${limit / 2})` : ""}`;
    lines.push(
      `| ${what} | ${shown(limits.hand)} | ${group("hand", limits.hand)} | ${shown(limits.scans)} | ${group("scans", limits.scans)} | ${group("scans_4.23", limits.scans)} |`,
    );
  }
  return lines.join("\n");
}

export function targetLines(rows: readonly QsmRow[]): string {
  const [some, scans] = [picked(rows, "all", "tapered"), picked(rows, "scans", "tapered")];
  if (some.length === 0 || scans.length === 0) return "";
  const [s, scanned, leafy] = [summary(some), summary(scans), summary(picked(rows, "leafy", "tapered"))];
  const line = (what: string, ok: boolean, figure: string) => `${ok ? "reached" : "MISSED "} ${what}: ${figure}`;
  const real = rows.filter((row) => row.diameter && row.method === "tapered");
  return [
    line("forest reference, true labels: bias within 3 %", Math.abs(s.bias) <= 0.03, percent(s.bias)),
    line("RRMSE at most 8 %", s.rrmse <= 0.08, percent(s.rrmse)),
    line("95 % intervals cover 90 to 98 %", s.covered >= 0.9 && s.covered <= 0.98, percent(s.covered)),
    line("scans: mean error within 3 %", Math.abs(scanned.mean_error) <= 0.03, percent(scanned.mean_error)),
    line("scans: RRMSE at most 10 %", scanned.rrmse <= 0.1, percent(scanned.rrmse)),
    line("scans: stem within 3 %", Math.abs(scanned.stem) <= 0.03, percent(scanned.stem)),
    line("scans: length at least 95 %", scanned.length >= 0.95, percent(scanned.length)),
    line("leaves on, own labels: RRMSE at most 20 %", leafy.rrmse <= 0.2, percent(leafy.rrmse)),
    ...real.map((row) => {
      const off = row.diameter_found_m - (row.diameter?.diameter_m ?? 0);
      return line(`${row.tree}: diameter within 1 cm`, Math.abs(off) <= 0.01, `${(100 * off).toFixed(1)} cm`);
    }),
  ].join("\n");
}
