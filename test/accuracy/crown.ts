// Crowns fitted to sampled solids of known volume and extents, without and with 5 % stray points on branches, beside the
// rule of trimmed quantiles; and to the leaves of a real tree.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import * as fit from "../../backend/native/fit.ts";
import { CROWN_SHAPES, type CrownShape } from "../../shared/contract/fit-crown.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { positions } from "./native.ts";
import type { Part } from "./part.ts";

const FOLDER = join(DATA, "geometry_reference/crown");
const STRICTNESS = [0, 0.2, 0.5] as const;
const SHAPE_OF: Readonly<Record<string, CrownShape>> = {
  ellipsoid: "ellipsoid",
  sphere: "ellipsoid",
  cone: "cone",
  prism: "prism",
  paraboloid: "alpha",
};
const REAL = "real_tropical";

interface Rule {
  readonly volume: number;
}
/** What results.json tells of a cloud. */
interface Reference {
  readonly cloud: string;
  readonly sha256?: string;
  readonly truth?: { readonly volume_m3: number; readonly dims_m: readonly number[] };
  readonly contract_rules: Readonly<Record<string, Readonly<Record<string, Rule>>>>;
}

interface CrownRow {
  readonly method: CrownShape;
  readonly cloud: string;
  readonly strictness: number;
  /** Fraction of the true volume; m3 for real trees. */
  readonly clean: number;
  /** Largest error of an extent, as a fraction of it; NaN for real trees. */
  readonly extents: number;
  /** Volume with strays, as `clean`. */
  readonly stray: number;
  /** The same volumes by the rule of trimmed quantiles. */
  readonly rule_clean: number;
  readonly rule_stray: number;
}

/** The float32 positions of a generated cloud, or null where they cannot be made bit for bit. */
function generated(folder: string, { cloud, sha256 }: Reference): Float64Array | null {
  const [solid = "", mode = "", strays = ""] = cloud.split("/");
  const path = join(folder, "cloud.ply");
  const write = ["write", join(FOLDER, "solids.json"), solid, mode, strays, path];
  if (spawnSync("python3", [join(FOLDER, "crown_gen.py"), ...write]).status !== 0) return null;
  const bytes = readFileSync(path);
  const data = bytes.subarray(bytes.indexOf("end_header\n") + 11);
  if (createHash("sha256").update(data).digest("hex") !== sha256) return null;
  return Float64Array.from({ length: data.length / 4 }, (_, i) => data.readFloatLE(4 * i));
}

function csv(name: string): number[] {
  const lines = gunzipSync(readFileSync(join(FOLDER, name)))
    .toString()
    .trim()
    .split("\n")
    .slice(1);
  return lines.flatMap((line) => line.split(",").slice(0, 3).map(Number));
}

function points(folder: string, reference: Reference): Float64Array | null {
  if (!reference.cloud.startsWith(REAL)) return generated(folder, reference);
  const leaves = csv(`${REAL}_clean.csv.gz`);
  return Float64Array.from(
    reference.cloud.endsWith("stray") ? [...leaves, ...csv(`${REAL}_stray_points_only.csv.gz`)] : leaves,
  );
}

async function crownOf(xyz: Float64Array, shape: CrownShape, strictness: number): Promise<fit.NativeCrown> {
  const cloud = positions(xyz);
  const rows = { positions: cloud, skip: null, order: null, first: 0, count: 0, leaf_only: false } as const;
  const params = { shape, strictness, offset: [0, 0, 0], alpha_m: null, most_triangles: 1e7 } as const;
  const { crown } = await fit.fitCrown({ ...rows, ground_class: null, wood_class: null }, params).promise;
  cloud.release();
  if (!crown) throw new Error("no crown was fitted");
  return crown;
}

interface Pair {
  readonly clean: Reference;
  readonly stray: Reference;
}

async function rowsOf(folder: string, { clean, stray }: Pair, shape: CrownShape): Promise<CrownRow[]> {
  const clouds = [points(folder, clean), points(folder, stray)] as const;
  if (!clouds[0] || !clouds[1]) {
    console.error(`${clean.cloud} left out: python3 with numpy does not make the cloud of the checksum`);
    return [];
  }
  const volume = clean.truth?.volume_m3 ?? 1;
  const rows: CrownRow[] = [];
  for (const strictness of STRICTNESS) {
    const [crown, moved] = [
      await crownOf(clouds[0], shape, strictness),
      await crownOf(clouds[1], shape, strictness),
    ] as const;
    const errors = (clean.truth?.dims_m ?? []).map((wanted, i) => Math.abs((2 * (crown.half[i] ?? 0)) / wanted - 1));
    const rule = (reference: Reference) =>
      (reference.contract_rules[strictness]?.[shape]?.volume ?? Number.NaN) / volume;
    rows.push({
      method: shape,
      cloud: clean.cloud.replace("/clean", ""),
      strictness,
      clean: crown.volume_m3 / volume,
      extents: errors.length > 0 ? Math.max(...errors) : Number.NaN,
      stray: moved.volume_m3 / volume,
      rule_clean: rule(clean),
      rule_stray: rule(stray),
    });
  }
  return rows;
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<CrownRow[]> {
  if (!existsSync(FOLDER)) {
    console.error(`crowns left out: there is no ${FOLDER} (APP_TEST_DATA)`);
    return [];
  }
  const references = JSON.parse(readFileSync(join(FOLDER, "results.json"), "utf8")) as Reference[];
  const pairs = references.flatMap((clean) => {
    const stray = references.find(({ cloud }) => cloud === clean.cloud.replace("/clean", "/stray"));
    return clean.cloud.endsWith("/clean") && stray ? [{ clean, stray }] : [];
  });
  const folder = mkdtempSync(join(tmpdir(), "crowns-"));
  try {
    const rows: CrownRow[] = [];
    for (const pair of pairs) {
      const [solid = ""] = pair.clean.cloud.split("/");
      if (!groups.includes(solid)) continue;
      const shapes =
        solid === REAL ? CROWN_SHAPES : CROWN_SHAPES.filter((shape) => shape === SHAPE_OF[solid] || shape === "alpha");
      for (const shape of shapes.filter((name) => methods.includes(name)))
        rows.push(...(await rowsOf(folder, pair, shape)));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isReal = ({ cloud }: CrownRow) => cloud.startsWith(REAL);
const four = (value: number) => (Number.isNaN(value) ? "" : value.toFixed(4));

function tables(rows: readonly CrownRow[]): string {
  const solids = rows
    .filter((row) => !isReal(row))
    .map(
      ({ method, cloud, strictness, clean, extents, stray, rule_clean, rule_stray }) =>
        `| ${cloud}, ${method} | ${strictness} | ${four(clean)} | ${(100 * extents).toFixed(3)} % | ${four(stray)} | ${four(rule_clean)} | ${four(rule_stray)} |`,
    );
  const real = rows
    .filter(isReal)
    .map(
      ({ method, strictness, clean, stray, rule_clean, rule_stray }) =>
        `| ${method} | ${strictness} | ${[clean, stray, rule_clean, rule_stray].map((v) => (Number.isNaN(v) ? "" : v.toFixed(0))).join(" | ")} |`,
    );
  return [
    "| solid, shape | strictness | volume | worst extent | volume with strays | quantiles: volume | quantiles: with strays |",
    "|---|---|---|---|---|---|---|",
    ...solids,
    "",
    "| real tree, shape | strictness | volume m3 | with strays | quantiles: volume | quantiles: with strays |",
    "|---|---|---|---|---|---|",
    ...real,
  ].join("\n");
}

function targets(rows: readonly CrownRow[]): string {
  const solids = rows.filter((row) => !isReal(row));
  const most = (values: readonly number[]) => Math.max(...values.map(Math.abs));
  const at = (strict: boolean, alpha: boolean) =>
    solids.filter(({ strictness, method }) => strictness > 0 === strict && (method === "alpha") === alpha);
  const volume = (rows: readonly CrownRow[]) => most(rows.map(({ clean }) => clean - 1));
  const extents = (rows: readonly CrownRow[]) => most(rows.map((row) => row.extents));
  const strays = (rows: readonly CrownRow[]) => most(rows.map(({ stray, clean }) => stray / clean - 1));
  const lines = [
    ["strictness 0: volume within 1 %", volume(at(false, false)), 0.01],
    ["strictness 0: extents within 0.5 %", extents(at(false, false)), 0.005],
    ["strictness 0.2, 0.5: volume within 3 %", volume(at(true, false)), 0.03],
    ["strictness 0.2, 0.5: strays move it by less than 5 %", strays(at(true, false)), 0.05],
    ["alpha, strictness 0: volume within 3 %", volume(at(false, true)), 0.03],
    ["alpha, strictness 0: extents within 0.5 %", extents(at(false, true)), 0.005],
    ["alpha, strictness 0.2, 0.5: volume within 3 %", volume(at(true, true)), 0.03],
    ["alpha, strictness 0.2, 0.5: strays move it by less than 5 %", strays(at(true, true)), 0.05],
  ] as const;
  return lines
    .map(([name, worst, bound]) => `${name}: ${(100 * worst).toFixed(2)} %, ${worst < bound ? "reached" : "MISSED"}`)
    .join("\n");
}

/** `npm run accuracy -- crown`. */
export const crownPart: Part<CrownRow> = {
  methods: CROWN_SHAPES,
  groups: [...Object.keys(SHAPE_OF), REAL],
  measure,
  tables,
  targets,
};
