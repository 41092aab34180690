// Trees whose wood is known cylinder by cylinder, and real ones with the model of another program.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DATA } from "../support/scans/data-folder.ts";
import { handTrees } from "./qsm-hand.ts";
import type { TruePiece } from "./qsm-structure.ts";

/** A cylinder: start, end, radius (metres); `stem`: it belongs to the stem. */
export interface TrueCylinder {
  readonly start: readonly number[];
  readonly end: readonly number[];
  readonly radius: number;
  readonly stem: boolean;
}

export interface KnownTree {
  readonly name: string;
  readonly xyz: Float64Array;
  /** Number of the scan of each point, where there are several. */
  readonly scan?: Uint8Array;
  /** Null for a real tree. */
  readonly truth: readonly TrueCylinder[] | null;
  /** The same with what grows from what; null if it is not known. */
  readonly pieces: readonly TruePiece[] | null;
  /** Of another program; null if it was not run. */
  readonly theirs: {
    readonly volume_m3: number;
    readonly dbh_m: number;
    readonly height_m: number;
    readonly length_m: number;
  } | null;
  /** Stem diameter at `height_m` above the lowest point, from the data's own table; null if unknown. */
  readonly diameter: { readonly height_m: number; readonly diameter_m: number } | null;
}

/** Rows of a cloud that is one tree, thinned as the service does it. */
export const WHOLE_TREE = {
  skip: null,
  order: null,
  first: 0,
  count: 0,
  offset: [0, 0, 0],
  max_points: 60_000,
  time_s: null,
  height_above_ground: null,
  leafless: true,
} as const;
/** Of models, as the service has them. */
export const MODEL_PARAMS = {
  twig_radius_mm: 4.23,
  axis_termination: true,
  fork_symmetry: 0.75,
  w_growthlength: 1,
  w_area: 0,
  w_colinear: 0,
} as const;
export const PLOTS = ["open_11", "slope20_13", "dense_12"] as const;
const REAL = ["itsme_tree1", "itsme_tree2", "itsme_buttressed1"] as const;
const WOOD = 2;
const LABELLED = ["lewos_tropical", "weiser_oak"] as const;
const LABELLED_WOOD = 1;

/** The bytes of an array after the header of its .npy file. */
function arrayOf(path: string): Buffer {
  const file = gunzipSync(readFileSync(path));
  return file.subarray(10 + file.readUInt16LE(8));
}

/** Millimetres as differences of 32-bit integers in four planes of bytes (MANIFEST of the data). */
function decoded(path: string): Float64Array {
  const planes = arrayOf(path);
  const count = planes.length / 4;
  const at = (plane: number, i: number) => planes[plane * count + i] ?? 0;
  const last = [0, 0, 0];
  return Float64Array.from({ length: count }, (_, i) => {
    last[i % 3] = (last[i % 3] ?? 0) + (at(0, i) | (at(1, i) << 8) | (at(2, i) << 16) | (at(3, i) << 24));
    return (last[i % 3] ?? 0) / 1000;
  });
}

const rowsOf = (text: string): number[][] =>
  text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").map(Number));

/** Trees of one plot of forest_reference above their ground, by their true labels of tree and wood. */
export function* plotTrees(plot: (typeof PLOTS)[number]): Generator<KnownTree> {
  const folder = join(DATA, "forest_reference", plot);
  if (!existsSync(folder)) return;
  const xyz = decoded(join(folder, "xyz_mm.npy.gz"));
  const trees = arrayOf(join(folder, "tree.npy.gz"));
  const organ = arrayOf(join(folder, "organ.npy.gz"));
  const scans = arrayOf(join(folder, "scan.npy.gz"));
  const segments = rowsOf(gunzipSync(readFileSync(join(folder, "segments.csv.gz"))).toString());
  const table = readFileSync(join(folder, "trees.csv"), "utf8");
  const ground = (table.split("\n")[0] ?? "").split(",").indexOf("z_ground");
  for (const row of rowsOf(table)) {
    const [id, z] = [row[0] ?? 0, row[ground] ?? 0];
    const own: number[] = [];
    const scan: number[] = [];
    for (let i = 0; i < organ.length; i += 1) {
      if (organ[i] !== WOOD || trees.readUInt16LE(2 * i) !== id || !((xyz[3 * i + 2] ?? 0) > z)) continue;
      own.push(xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0, xyz[3 * i + 2] ?? 0);
      scan.push(scans[i] ?? 0);
    }
    yield {
      name: `${plot} ${id}`,
      xyz: Float64Array.from(own),
      scan: Uint8Array.from(scan),
      truth: segments
        .filter((s) => s[0] === id)
        .map((s) => ({ start: s.slice(4, 7), end: s.slice(7, 10), radius: s[10] ?? 0, stem: s[3] === 1 })),
      pieces: null,
      theirs: null,
      diameter: null,
    };
  }
}

/** Scans of real trees with TreeQSM's model (litres, metres) and the stem diameter of ITSMe. */
export function* realTrees(): Generator<KnownTree> {
  for (const name of REAL) {
    const cloud = join(DATA, "trees_tls", `${name}.txt`);
    if (!existsSync(cloud)) continue;
    const numbers = readFileSync(cloud, "utf8").trim().split(/\s+/u).map(Number);
    const model = JSON.parse(readFileSync(join(DATA, "qsm", `${name}_treeqsm_treedata.json`), "utf8"));
    const metrics = readFileSync(join(DATA, "trees_tls", "itsme_metrics_a.csv"), "utf8").split("\n");
    const row = metrics.find((line) => line.startsWith(`${name},`))?.split(",");
    yield {
      name,
      xyz: Float64Array.from(numbers),
      truth: null,
      pieces: null,
      theirs: {
        volume_m3: model.TotalVolume / 1000,
        dbh_m: model.DBHqsm,
        height_m: model.TreeHeight,
        length_m: model.TotalLength,
      },
      diameter: row ? { height_m: Number(row[7]), diameter_m: Number(row[5]) } : null,
    };
  }
}

/** Wood of real trees by the labels that people gave their points; no other program's model of them is at hand. */
export function* labelledTrees(): Generator<KnownTree> {
  for (const name of LABELLED) {
    const path = join(DATA, "leaf_wood", `${name}.xyz`);
    if (!existsSync(path)) continue;
    const lines = readFileSync(path, "utf8").split("\n");
    const rows = lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.split(" ").map(Number));
    const wood = rows.filter((row) => row[3] === LABELLED_WOOD).flatMap((row) => row.slice(0, 3));
    yield { name, xyz: Float64Array.from(wood), truth: null, pieces: null, theirs: null, diameter: null };
  }
}

interface AxisPart {
  readonly id: number;
  readonly parent: number;
  readonly radius: number;
}

/** From the root, at every fork the thickest child, to the last twig: the stem as the reference forest's own table defines it,
 *  and so that of models and of every true tree: a generator may call both leaders of a fork stem. */
export function thickestAxis(parts: readonly AxisPart[]): ReadonlySet<number> {
  const next = new Map<number, AxisPart>();
  for (const one of parts) {
    const best = next.get(one.parent);
    if (!best || one.radius > best.radius) next.set(one.parent, one);
  }
  const axis = new Set<number>();
  for (let at = next.get(-1); at; at = next.get(at.id)) axis.add(at.id);
  return axis;
}

/** The cylinders of the same volume as the cones. */
function cylindersOf(pieces: readonly TruePiece[]): TrueCylinder[] {
  const radii = pieces.map(({ radius: a, radius_end: b }) => Math.sqrt((a * a + a * b + b * b) / 3));
  const stem = thickestAxis(pieces.map(({ parent }, id) => ({ id, parent, radius: radii[id] ?? 0 })));
  return pieces.map(({ start, end }, i) => ({ start, end, radius: radii[i] ?? 0, stem: stem.has(i) }));
}

export const knownTree = (name: string, xyz: Float64Array, pieces: readonly TruePiece[]): KnownTree => ({
  name,
  xyz,
  truth: cylindersOf(pieces),
  pieces,
  theirs: null,
  diameter: null,
});

export const handKnownTrees = (): KnownTree[] =>
  handTrees().map(({ name, xyz, pieces }) => knownTree(name, xyz, pieces));
