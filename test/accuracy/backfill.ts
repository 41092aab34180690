// Misses that were taken away from scans and recovered: of rasters by formula, and of our own scanner.
import * as native from "../../backend/native/misses.ts";
import { formulaScan, RASTERS, type Triple } from "./backfill-rasters.ts";
import { OWN_SCANS, ownScan } from "./backfill-scans.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";
import type { Part } from "./part.ts";

const ROUTES = ["clock", "grid", "declared"] as const satisfies readonly native.MissRoute[];
const MAX_CELLS = 1e8;
const SEED = 11;
/** Misses that are found, and others that are not: of all. */
const LEAST_RECALL = 0.999;
const MOST_FALSE = 0.001;
/** Of the median miss, steps of the raster. */
const MOST_OFF = 0.1;

export interface BackfillRow {
  readonly method: native.MissRoute;
  readonly group: string;
  readonly returns: number;
  readonly misses: number;
  readonly recall: number;
  readonly false_share: number;
  /** Of the directions, steps. */
  readonly median_off: number;
  readonly worst_off: number;
  /** Why nothing was recovered. */
  readonly refused: string;
}

/** Directions of what is recovered, by the number of the pulse. */
export interface Recovered {
  readonly found: ReadonlyMap<number, Triple>;
  readonly known: ReadonlyMap<number, Triple>;
  readonly returns: number;
  readonly step_rad: number;
}

async function ofFormula(group: string, route: native.MissRoute): Promise<Recovered> {
  const scan = formulaScan(RASTERS[group] ?? {}, SEED);
  const rows = {
    positions: positions(scan.xyz),
    skip: null,
    times: route === "clock" ? column("f64", scan.times) : null,
    row_index: column("i32", scan.row),
    column_index: column("i32", scan.column),
  };
  // The clock and the grid are not told the size of the raster, only the sweep.
  const size = route === "declared" ? {} : { rows: 0, columns: 0 };
  const declared = { ...scan.declared, ...size };
  const got = await native.recoverMisses(rows, { route, scan: declared, max_cells: MAX_CELLS, moved: false }).promise;
  const [at, row, col] = [coordinatesOf(got.positions), values(got.row_index), values(got.column_index)];
  const found = new Map<number, Triple>();
  for (const [i, r] of row.entries()) {
    const from = (k: 0 | 1 | 2) => (at[3 * i + k] ?? Number.NaN) - scan.declared.origin[k];
    found.set(scan.pulse(Number(r), Number(col[i])), [from(0), from(1), from(2)]);
  }
  return { found, known: scan.misses, returns: scan.row.length, step_rad: scan.step_rad };
}

function radiansApart(a: Triple, b: Triple): number {
  const [p, q] = [Math.hypot(...a), Math.hypot(...b)];
  return 2 * Math.asin(Math.min(1, Math.hypot(a[0] / p - b[0] / q, a[1] / p - b[1] / q, a[2] / p - b[2] / q) / 2));
}

/** How well what is found matches what is known, both by the number of the pulse. */
function compared(found: Recovered["found"], known: Recovered["known"], step_rad: number) {
  const off: number[] = [];
  for (const [pulse, direction] of known) {
    const other = found.get(pulse);
    if (other) off.push(radiansApart(direction, other) / step_rad);
  }
  off.sort((a, b) => a - b);
  return {
    recall: off.length / known.size,
    false_share: (found.size - off.length) / Math.max(1, found.size),
    median_off: off[off.length >> 1] ?? Number.NaN,
    worst_off: off.at(-1) ?? Number.NaN,
  };
}

async function measured(group: string, method: native.MissRoute): Promise<BackfillRow> {
  const none = { recall: 0, false_share: 0, median_off: Number.NaN, worst_off: Number.NaN };
  try {
    const { found, known, returns, step_rad } = Object.hasOwn(RASTERS, group)
      ? await ofFormula(group, method)
      : await ownScan(group, method);
    return { method, group, returns, misses: known.size, ...compared(found, known, step_rad), refused: "" };
  } catch (raw) {
    if (!(raw instanceof Error)) throw raw;
    return { method, group, returns: 0, misses: 0, ...none, refused: raw.message };
  }
}

/** Moving scanners have no settings that tell their pulses. */
const possible = (group: string, method: native.MissRoute) =>
  method === "clock" || !(OWN_SCANS[group] && "trajectory" in OWN_SCANS[group].scanner);

async function measure(methods: readonly string[], groups: readonly string[]) {
  const rows: BackfillRow[] = [];
  for (const group of groups)
    for (const method of ROUTES)
      if (methods.includes(method) && possible(group, method)) rows.push(await measured(group, method));
  return rows;
}

const percent = (share: number) => `${(100 * share).toFixed(3)} %`;
const met = ({ recall, false_share, median_off }: BackfillRow) =>
  recall >= LEAST_RECALL && false_share <= MOST_FALSE && median_off <= MOST_OFF;

function tables(rows: readonly BackfillRow[]): string {
  const lines = rows.map((row) =>
    row.refused
      ? `| ${row.group} | ${row.method} | | | refused: ${row.refused} | | | |`
      : `| ${row.group} | ${row.method} | ${row.returns} | ${row.misses} | ${percent(row.recall)} | ${percent(row.false_share)} | ${row.median_off.toPrecision(2)} | ${row.worst_off.toPrecision(2)} |`,
  );
  const head = "| scan | route | returns | misses | recovered | false | off by, steps: median | worst |";
  return [head, "|---|---|---|---|---|---|---|---|", ...lines].join("\n");
}

export const backfillPart: Part<BackfillRow> = {
  methods: ROUTES,
  groups: [...Object.keys(RASTERS), ...Object.keys(OWN_SCANS)],
  measure,
  tables,
  targets: (rows) =>
    `${rows.filter(met).length} of ${rows.length} rows have 99.9 % of the misses, at most 0.1 % false ones, and half of them within 0.1 steps.`,
};
