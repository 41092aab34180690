// Pairs of geometry_reference/registration of the test data: clouds, starts and what other programs reach.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "../bench/folders.ts";

const DATA = resolve(root, process.env.APP_TEST_DATA ?? "../shared/data");
export const REFERENCE = `${DATA}/geometry_reference/registration`;
export const PAIRS = ["maize", "room1_o70", "small_gicp", "terrain_o80", "tree1_o90"] as const;

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
  readonly median_rot_err_deg_of_success: number | null;
  readonly median_trans_err_of_success: number | null;
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

export function cloudOf(pair: string, side: "source" | "target"): Float64Array {
  if (pair === "maize") return numbersOf(readFileSync(`${DATA}/registration/maize_pair_${side}.xyz`, "utf8"), 0);
  if (pair === "small_gicp") return plyPoints(`${DATA}/registration/small_gicp_${side}.ply`);
  return numbersOf(gunzipSync(readFileSync(`${REFERENCE}/pairs/${pair}_${side}.csv.gz`)).toString(), 1);
}

/** Truth and starts of a pair. */
export const startsOf = (pair: string) =>
  JSON.parse(readFileSync(`${REFERENCE}/starts/${pair}.json`, "utf8")) as Starts;

/** The stored program with the smallest error of the centroid, among those with the most successes in these bands. */
export function bestStored(pair: string, bands: readonly string[]): Stored & { readonly successes: number } {
  const all = JSON.parse(readFileSync(`${REFERENCE}/summary.json`, "utf8")) as Stored[];
  const rows = all.filter((row) => row.pair === pair && bands.includes(row.band));
  const counted = rows
    .filter(({ band }) => band === bands.at(-1))
    .map((row) => ({
      ...row,
      successes: rows.filter(({ method }) => method === row.method).reduce((sum, { success }) => sum + success, 0),
    }));
  const [best] = counted.sort(
    (a, b) =>
      b.successes - a.successes ||
      (a.median_trans_err_of_success ?? Number.POSITIVE_INFINITY) -
        (b.median_trans_err_of_success ?? Number.POSITIVE_INFINITY),
  );
  if (!best) throw new Error(`no stored results of ${pair}`);
  return best;
}
