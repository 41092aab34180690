// Registrations of pairs whose motion is known, from 15 small and 15 medium starts each: success and errors, beside the
// best that other programs reach (geometry_reference/registration of the test data).
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import type { IcpMethod, IcpPose } from "../../backend/native/registration.ts";
import { icpAdvance, icpPrepare, icpRelease, icpResult } from "../../backend/native/registration.ts";
import { root } from "../bench/folders.ts";
import { positions } from "./native.ts";
import type { Part } from "./part.ts";

const DATA = resolve(root, process.env.APP_TEST_DATA ?? "../shared/data");
const REFERENCE = `${DATA}/geometry_reference/registration`;
const PAIRS = ["maize", "room1_o70", "small_gicp", "terrain_o80", "tree1_o90"] as const;
const METHODS = ["gicp", "point_to_plane", "point_to_point"] as const;
const BANDS = ["small", "medium"] as const;

interface Start {
  readonly band: string;
  readonly T_row_major: readonly number[];
}
interface Starts {
  readonly unit: string;
  readonly robust_diagonal_of_target: number;
  readonly T_target_source_truth_row_major: readonly number[];
  readonly starts: readonly Start[];
}
interface Stored {
  readonly pair: string;
  readonly method: string;
  readonly band: string;
  readonly success: number;
  readonly median_rot_err_deg_of_success: number;
  readonly median_trans_err_of_success: number;
}

interface Row {
  readonly pair: string;
  readonly method: string;
  readonly unit: string;
  readonly small: number;
  readonly medium: number;
  /** Medians over the successes; length: of the centroid of the source. */
  readonly degrees: number;
  readonly length: number;
  readonly conditioning: number;
  readonly seconds: number;
}

function numbersOf(text: string, skip: number): Float64Array {
  const lines = text
    .split("\n")
    .slice(skip)
    .filter((line) => line.trim() !== "");
  return Float64Array.from(
    lines.flatMap((line) =>
      line
        .split(/[\s,]+/)
        .filter(Boolean)
        .slice(0, 3)
        .map(Number),
    ),
  );
}

/** x, y, z of a PLY of floats, without the returns at the scanner. */
function plyPoints(path: string): Float64Array {
  const file = readFileSync(path);
  const body = file.indexOf("end_header\n") + "end_header\n".length;
  const header = file.toString("latin1", 0, body);
  const count = Number(/element vertex (\d+)/.exec(header)?.[1]);
  const stride = (header.match(/^property float /gm) ?? []).length;
  if (stride < 3 || file.length !== body + count * stride * 4) throw new Error(`${path}: not the expected layout`);
  const kept: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const xyz = [0, 4, 8].map((at) => file.readFloatLE(body + i * stride * 4 + at));
    if (xyz.some((value) => value !== 0)) kept.push(...xyz);
  }
  return Float64Array.from(kept);
}

function cloudOf(pair: string, side: "source" | "target"): Float64Array {
  if (pair === "maize") return numbersOf(readFileSync(`${DATA}/registration/maize_pair_${side}.xyz`, "utf8"), 0);
  if (pair === "small_gicp") return plyPoints(`${DATA}/registration/small_gicp_${side}.ply`);
  return numbersOf(gunzipSync(readFileSync(`${REFERENCE}/pairs/${pair}_${side}.csv.gz`)).toString(), 1);
}

const at = (m: readonly number[], i: number) => m[i] ?? Number.NaN;
const placed = (m: readonly number[], [x, y, z]: readonly [number, number, number]) =>
  [0, 4, 8].map((row) => at(m, row) * x + at(m, row + 1) * y + at(m, row + 2) * z + at(m, row + 3));

function errorsOf(found: readonly number[], truth: readonly number[], center: readonly [number, number, number]) {
  let squares = 0;
  for (let row = 0; row < 3; row += 1)
    for (let column = 0; column < 3; column += 1)
      squares += (at(found, 4 * row + column) - at(truth, 4 * row + column)) ** 2;
  // |R - S|^2 = 8 sin^2(angle / 2): exact for small angles, where the trace is not.
  const degrees = (2 * Math.asin(Math.min(1, Math.sqrt(squares / 8))) * 180) / Math.PI;
  const [a, b] = [placed(found, center), placed(truth, center)];
  return { degrees, length: Math.hypot(...a.map((value, i) => value - at(b, i))) };
}

function centroid(xyz: Float64Array): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < xyz.length; i += 1) sum[(i % 3) as 0 | 1 | 2] += xyz[i] ?? 0;
  return sum.map((value) => (3 * value) / xyz.length) as [number, number, number];
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function register(
  sides: readonly [Float64Array, Float64Array],
  method: IcpMethod,
  start: readonly number[],
): Promise<IcpPose> {
  const [fixed, moving] = sides.map((xyz) => ({
    positions: positions(xyz),
    skip: null,
    shift: [0, 0, 0] as const,
    stride: 1,
  }));
  if (!fixed || !moving) throw new Error("two sides are needed");
  const params = { method, start, max_correspondence_distance: null, rmse_threshold: 1e-6, max_iterations: 100 };
  const registration = await icpPrepare(fixed, moving, params).promise;
  try {
    while (!(await icpAdvance(registration, 20).promise).finished);
    return await icpResult(registration).promise;
  } finally {
    icpRelease(registration);
    for (const { positions: column } of [fixed, moving]) column.release();
  }
}

async function rowOf(pair: string, method: IcpMethod): Promise<Row> {
  const reference = JSON.parse(readFileSync(`${REFERENCE}/starts/${pair}.json`, "utf8")) as Starts;
  const sides = [cloudOf(pair, "target"), cloudOf(pair, "source")] as const;
  const center = centroid(sides[1]);
  const good: { degrees: number; length: number; conditioning: number; band: string }[] = [];
  const before = process.cpuUsage();
  const starts = reference.starts.filter(({ band }) => BANDS.some((known) => known === band));
  for (const { band, T_row_major } of starts) {
    const { matrix, conditioning } = await register(sides, method, T_row_major);
    const { degrees, length } = errorsOf(matrix, reference.T_target_source_truth_row_major, center);
    if (degrees < 1 && length < 0.01 * reference.robust_diagonal_of_target)
      good.push({ degrees, length, conditioning, band });
  }
  const { user, system } = process.cpuUsage(before);
  return {
    pair,
    method,
    unit: reference.unit,
    small: good.filter(({ band }) => band === "small").length,
    medium: good.filter(({ band }) => band === "medium").length,
    degrees: median(good.map((one) => one.degrees)),
    length: median(good.map((one) => one.length)),
    conditioning: median(good.map((one) => one.conditioning)),
    seconds: ((user + system) * 1e-6) / starts.length,
  };
}

/** The stored program with the smallest error of the centroid, among those with the most successes. */
function bestStored(pair: string): Stored & { readonly successes: number } {
  const all = JSON.parse(readFileSync(`${REFERENCE}/summary.json`, "utf8")) as Stored[];
  const rows = all.filter((row) => row.pair === pair && BANDS.some((band) => band === row.band));
  const counted = rows
    .filter(({ band }) => band === "medium")
    .map((row) => ({
      ...row,
      successes: rows.filter(({ method }) => method === row.method).reduce((sum, { success }) => sum + success, 0),
    }));
  const [best] = counted.sort(
    (a, b) => b.successes - a.successes || a.median_trans_err_of_success - b.median_trans_err_of_success,
  );
  if (!best) throw new Error(`no stored results of ${pair}`);
  return best;
}

const fixed = (value: number, digits: number) => (Number.isNaN(value) ? "" : value.toFixed(digits));

export const registrationPart: Part<Row> = {
  methods: METHODS,
  groups: PAIRS,
  async measure(methods, groups) {
    const rows: Row[] = [];
    if (!existsSync(REFERENCE)) {
      console.error(`no pairs at ${REFERENCE}: set APP_TEST_DATA`);
      return rows;
    }
    for (const pair of groups) for (const method of methods) rows.push(await rowOf(pair, method as IcpMethod));
    return rows;
  },
  tables(rows) {
    const lines = [
      "| pair | method | small | medium | median error: degrees, length | unit | conditioning | CPU s |",
      "|---|---|---|---|---|---|---|---|",
    ];
    for (const pair of new Set(rows.map((row) => row.pair))) {
      for (const row of rows.filter((one) => one.pair === pair)) {
        const errors = `${fixed(row.degrees, 4)}, ${fixed(row.length, 5)}`;
        lines.push(
          `| ${pair} | ${row.method} | ${row.small}/15 | ${row.medium}/15 | ${errors} | ${row.unit} | ${Number.isNaN(row.conditioning) ? "" : row.conditioning.toExponential(1)} | ${fixed(row.seconds, 2)} |`,
        );
      }
      const best = bestStored(pair);
      const errors = `${fixed(best.median_rot_err_deg_of_success, 4)}, ${fixed(best.median_trans_err_of_success, 5)}`;
      lines.push(`| ${pair} | best other: ${best.method} | ${best.successes}/30 | | ${errors} | | | |`);
    }
    return lines.join("\n");
  },
  targets(rows) {
    const gicp = rows.filter(({ method }) => method === "gicp");
    const all = gicp.every(({ small, medium }) => small + medium === 30);
    const worse = gicp.filter(({ pair, length }) => length > bestStored(pair).median_trans_err_of_success);
    return [
      `\n30 of 30 starts on every pair (gicp): ${all ? "reached" : "missed"}`,
      `error of the centroid at most that of the best other program: ${worse.length === 0 ? "reached" : `missed on ${worse.map(({ pair }) => pair).join(", ")}`}`,
    ].join("\n");
  },
};
