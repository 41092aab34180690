// The clouds that the authors' programs segmented (treeiso_reference), with their labels.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { CutPursuitParams } from "../../backend/native/trees.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { readLas } from "./native.ts";

const FOLDER = join(DATA, "treeiso_reference");
const GENERATOR = join(DATA, "../tools/gen.py");

export interface ReferenceRun {
  readonly cloud: string;
  readonly run: string;
  /** PY, PY+CC, P25, P23 or ML. */
  readonly program: string;
  readonly params: Omit<CutPursuitParams, "score_candidate_thresh" | "init_stem_rel_length_thresh" | "max_outlier_gap">;
  readonly input_change: Readonly<Record<string, unknown>>;
  readonly trees: number | null;
  readonly against_own_default?: { readonly ari: number };
  readonly files?: readonly string[];
}

/** A cloud without what the programs did not get. */
export interface ReferenceCloud {
  readonly xyz: Float64Array;
  /** Tree of each point, 1 .. ; null where nobody knows it. */
  readonly truth: Uint32Array | null;
  /** Rows of the points in the file. */
  readonly rows: Uint32Array;
}

export const available = (): boolean => existsSync(FOLDER);

export const referenceRuns = (): readonly ReferenceRun[] =>
  available() ? (JSON.parse(readFileSync(join(FOLDER, "runs.json"), "utf8")) as ReferenceRun[]) : [];

/** The trees that a program found; null for runs without labels. */
export function labelsOfRun(run: ReferenceRun, cloud: ReferenceCloud): Uint32Array | null {
  const file = run.files?.find((name) => name.includes(".trees."));
  if (!file) return null;
  const bytes = gunzipSync(readFileSync(join(FOLDER, file)));
  return cloud.rows.map((row) => bytes.readUInt16LE(2 * row));
}

function subset(
  xyz: Float64Array,
  used: (row: number) => boolean,
  truth: ((row: number) => number) | null,
): ReferenceCloud {
  const rows = Uint32Array.from({ length: xyz.length / 3 }, (_, i) => i).filter(used);
  const kept = new Float64Array(3 * rows.length);
  rows.forEach((row, i) => {
    kept.set(xyz.subarray(3 * row, 3 * row + 3), 3 * i);
  });
  return { xyz: kept, truth: truth && rows.map(truth), rows };
}

function python(...args: string[]): void {
  const ended = spawnSync("python3", args, { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`python3 ${args.join(" ")}: ${ended.stderr ?? ended.error?.message ?? ""}`);
}

async function generatedPlot(...constants: string[]): Promise<ReferenceCloud> {
  const folder = mkdtempSync(join(tmpdir(), "trees-reference-"));
  try {
    const path = join(folder, "plot.las");
    python(join(FOLDER, "genx.py"), GENERATOR, path, "1000000", ...constants);
    const { xyz, column } = await readLas(path, "classification");
    const source = (await readLas(path, "point_source_id")).column;
    return subset(
      xyz,
      (row) => column[row] === 4 || column[row] === 5,
      (row) => Number(source[row]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function composed(): ReferenceCloud {
  const folder = mkdtempSync(join(tmpdir(), "trees-reference-"));
  try {
    const path = join(folder, "compB");
    python(join(FOLDER, "compose.py"), DATA, path, "22", "9", "5", "1");
    const xyz = new Float64Array(new Uint8Array(readFileSync(`${path}.f64`)).buffer);
    const truth = new Uint16Array(new Uint8Array(readFileSync(`${path}.truth`)).buffer);
    return subset(
      xyz,
      () => true,
      (row) => truth[row] ?? 0,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const CLOUDS: Readonly<Record<string, () => Promise<ReferenceCloud>>> = {
  lpine1: async () =>
    subset((await readLas(join(DATA, "trees_tls/treeiso_LPine1_demo.laz"), "classification")).xyz, () => true, null),
  comp_a: async () => {
    const path = join(DATA, "trees_composite/composite_plot_a.laz");
    const { xyz, column } = await readLas(path, "ground_class");
    const tree = (await readLas(path, "tree_instance")).column;
    return subset(
      xyz,
      (row) => column[row] !== 1,
      (row) => Number(tree[row]),
    );
  },
  compB: async () => composed(),
  plotA: () => generatedPlot("50", "40", "3.5", "7", "11"),
  plotB: () => generatedPlot("50", "90", "3.5", "21", "22"),
};

export const CLOUD_NAMES = Object.keys(CLOUDS);
export const readCloud = (name: string): Promise<ReferenceCloud> => {
  const read = CLOUDS[name];
  if (!read) throw new Error(`no cloud ${name}`);
  return read();
};
