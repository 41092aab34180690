// Cylinder models against trees whose cylinders are known, and beside those of TreeQSM; every real tree and the worst one
// of each other group as a picture in the folder of APP_ACCURACY_PICTURES, if it is set.
import { Job } from "../../backend/jobs/job.ts";
import { QsmRecords, releaseQsm } from "../../backend/native/qsm.ts";
import { buildQsm } from "../../backend/native/qsm-build.ts";
import type { QsmCylinder } from "../../shared/contract/qsm-records.ts";
import { positions } from "./native.ts";
import type { Part } from "./part.ts";
import { drawTree } from "./qsm-picture.ts";
import { type KnownTree, PLOTS, plotTrees, realTrees, scannedTrees } from "./qsm-trees.ts";

const METHODS = ["isotonic", "tapered"] as const;
type Method = (typeof METHODS)[number];
const KNOWN = [...PLOTS, "scans"] as const;
const GROUPS = [...KNOWN, "real"] as const;
type Group = (typeof GROUPS)[number];
/** The thinnest wood of forest_reference, radius (MANIFEST), and the service's own default for the real trees. */
const TWIG_MM: Readonly<Record<Group, number>> = { open_11: 7, slope20_13: 7, dense_12: 7, scans: 4.23, real: 4.23 };
/** Upper ends of classes of radius, metres: diameters of 2.5, 5 and 10 cm. */
const CLASSES = [0.0125, 0.025, 0.05, Number.POSITIVE_INFINITY];

interface Totals {
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
  readonly interval_m3: readonly [number, number];
  readonly truth: Totals | null;
  readonly theirs: KnownTree["theirs"];
  readonly dbh_m: number;
  readonly diameter: KnownTree["diameter"];
  readonly diameter_found_m: number;
  readonly height_m: number;
}

interface Piece {
  readonly start: readonly number[];
  readonly end: readonly number[];
  readonly radius: number;
  readonly stem: boolean;
}
const lengthOf = ({ start, end }: Piece) => Math.hypot(...start.map((v, i) => (end[i] ?? 0) - v));

function totalsOf(pieces: readonly Piece[]): Totals {
  const by_class_m3 = CLASSES.map(() => 0);
  let [volume_m3, stem_m3, length_m] = [0, 0, 0];
  for (const piece of pieces) {
    const length = lengthOf(piece);
    const volume = Math.PI * piece.radius ** 2 * length;
    volume_m3 += volume;
    length_m += length;
    if (piece.stem) stem_m3 += volume;
    const at = CLASSES.findIndex((most) => piece.radius < most);
    by_class_m3[at] = (by_class_m3[at] ?? 0) + volume;
  }
  return { volume_m3, stem_m3, length_m, by_class_m3 };
}

/** From the root, at every fork the thickest child, to the last twig: the stem as the data's own table defines it. */
function thickestAxis(cylinders: readonly QsmCylinder[]): ReadonlySet<number> {
  const next = new Map<number, QsmCylinder>();
  for (const one of cylinders) {
    const best = next.get(one.parent_id);
    if (!best || one.radius > best.radius) next.set(one.parent_id, one);
  }
  const axis = new Set<number>();
  for (let at = next.get(-1); at; at = next.get(at.cyl_id)) axis.add(at.cyl_id);
  return axis;
}

/** Diameter of the stem's cylinder nearest to a height above the lowest end; NaN without one. */
function diameterAt(cylinders: readonly QsmCylinder[], height_m: number): number {
  const base = Math.min(...cylinders.map((c) => Math.min(c.start[2], c.end[2])));
  let [best, off] = [Number.NaN, Number.POSITIVE_INFINITY];
  for (const c of cylinders) {
    const away = Math.abs((c.start[2] + c.end[2]) / 2 - base - height_m);
    if (c.rank === 0 && away < off) [best, off] = [2 * c.radius, away];
  }
  return best;
}

async function build(tree: KnownTree, method: Method, twig_radius_mm: number) {
  const built = await new Job().track(() =>
    buildQsm(positions(tree.xyz), null, {
      twig_radius_mm,
      axis_termination: true,
      fork_symmetry: 0.75,
      w_growthlength: 1,
      w_area: 0,
      w_colinear: 0,
      radius_model: method,
    }),
  );
  const records = await QsmRecords.read(built.qsm);
  const cylinders = Array.from({ length: records.cylinderCount }, (_, i) => records.cylinder(i));
  releaseQsm(built.qsm);
  return { built, cylinders };
}

async function rowOf(group: Group, method: Method, tree: KnownTree): Promise<QsmRow & { draw: () => void }> {
  const { built, cylinders } = await build(tree, method, TWIG_MM[group]);
  const axis = thickestAxis(cylinders);
  const heights = cylinders.flatMap((c) => [c.start[2], c.end[2]]);
  return {
    group,
    method,
    tree: tree.name,
    points: tree.xyz.length / 3,
    found: totalsOf(cylinders.map((c) => ({ ...c, stem: axis.has(c.cyl_id) }))),
    interval_m3: built.total_volume_ci95_m3,
    truth: tree.truth && totalsOf(tree.truth),
    theirs: tree.theirs,
    dbh_m: diameterAt(cylinders, 1.3),
    diameter: tree.diameter,
    diameter_found_m: tree.diameter ? diameterAt(cylinders, tree.diameter.height_m) : Number.NaN,
    height_m: Math.max(...heights) - Math.min(...heights),
    draw: () => drawTree(`${group}-${method}-${tree.name}`, tree, cylinders),
  };
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
    covered: of(({ interval_m3: [low, high], truth: { volume_m3 } }) =>
      low <= volume_m3 && volume_m3 <= high ? 1 : 0,
    ),
  };
}

/** `all`: of the reference forest. */
const picked = (rows: readonly QsmRow[], group: Group | "all", method: Method) =>
  rows.filter((row) => {
    const isIn = group === "all" ? row.group !== "scans" : row.group === group;
    return row.truth && isIn && row.method === method;
  });

function knownTable(rows: readonly QsmRow[]): string {
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

function realTable(rows: readonly QsmRow[]): string {
  const lines = [
    "| tree | radii | volume m3 (interval; TreeQSM) | DBH m (TreeQSM) | diameter at the table's height m (table) | height m (TreeQSM) | length m (TreeQSM) |",
    "|---|---|---|---|---|---|---|",
  ];
  for (const row of rows) {
    if (!row.theirs) continue;
    const { theirs, found } = row;
    const [low, high] = row.interval_m3;
    lines.push(
      `| ${row.tree} | ${row.method} | ${found.volume_m3.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}; ${theirs.volume_m3.toFixed(3)}) | ${row.dbh_m.toFixed(3)} (${theirs.dbh_m.toFixed(3)}) | ${row.diameter_found_m.toFixed(3)} (${row.diameter?.diameter_m.toFixed(3) ?? "-"}) | ${row.height_m.toFixed(1)} (${theirs.height_m.toFixed(1)}) | ${found.length_m.toFixed(0)} (${theirs.length_m.toFixed(0)}) |`,
    );
  }
  return lines.join("\n");
}

function treesOf(group: Group): Iterable<KnownTree> | AsyncIterable<KnownTree> {
  if (group === "real") return realTrees();
  return group === "scans" ? scannedTrees() : plotTrees(group);
}

export const qsmPart: Part<QsmRow> = {
  methods: METHODS,
  groups: GROUPS,
  async measure(methods, groups) {
    const rows: QsmRow[] = [];
    for (const group of GROUPS.filter((name) => groups.includes(name)))
      for (const method of METHODS.filter((name) => methods.includes(name))) {
        let worst: { readonly off: number; readonly draw: () => void } | null = null;
        for await (const tree of treesOf(group)) {
          const { draw, ...row } = await rowOf(group, method, tree);
          if (group === "real") draw();
          const off = row.truth ? Math.abs(Math.log(row.found.volume_m3 / row.truth.volume_m3)) : 0;
          if (!worst || off > worst.off) worst = { off, draw };
          rows.push(row);
        }
        if (group !== "real") worst?.draw();
      }
    return rows;
  },
  tables: (rows) => `${knownTable(rows)}\n\n${realTable(rows)}\n`,
  targets(rows) {
    const [some, scans] = [picked(rows, "all", "tapered"), picked(rows, "scans", "tapered")];
    if (some.length === 0 || scans.length === 0) return "";
    const [s, scanned] = [summary(some), summary(scans)];
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
      ...real.map((row) => {
        const off = row.diameter_found_m - (row.diameter?.diameter_m ?? 0);
        return line(`${row.tree}: diameter within 1 cm`, Math.abs(off) <= 0.01, `${(100 * off).toFixed(1)} cm`);
      }),
    ].join("\n");
  },
};
