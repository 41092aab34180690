// Leaf area from the hits themselves: what several scanners see of a tree tells what none of them sees.
import { captureRecapture } from "../../backend/native/capture-recapture.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { viewInterval } from "../../backend/services/lad/views.ts";
import { scannersOf, scansOf, type TreeScan } from "./lad-trees.ts";
import { triangleG } from "./lad-triangles.ts";
import { areaOf, boundsOf, type LeafyTree, leafyTree, meanProjection, ORGAN, onlyOf } from "./leafy-tree.ts";
import { inTheWind, offsetOf } from "./moved-views.ts";
import { column, coordinatesOf, values } from "./native.ts";
import type { Vector } from "./vector.ts";
import { byNetwork } from "./wood-labellers.ts";

/** Its hits on wood: there are none, they are known, or told apart by the network. */
type Wood = "none" | "known" | "network";

export interface SeenCase {
  readonly name: string;
  readonly species: string;
  readonly age_days: number;
  readonly scans: number;
  readonly noise_m: number;
  readonly wood: Wood;
  readonly seed: number;
  /** How far each scan lies from its place, metres. */
  readonly moved_m?: number;
  /** How far wind moved the leaves between the scans, standard deviation, metres. */
  readonly wind_m?: number;
}

export interface SeenRow extends Pick<SeenCase, "name"> {
  readonly leaf_area_m2: number;
  /** Shares of the true area, with G of triangles: seen by 1, 2, .. scanners. */
  readonly seen_by: readonly number[];
  readonly seen: number;
  /** With the area that no scanner sees; with G of triangles and with the true mean G. */
  readonly estimate: number;
  readonly true_g: number;
  /** 95 %, with G of triangles; null with two scanners. */
  readonly interval: readonly [number, number] | null;
  /** G of triangles over the true one. */
  readonly g_ratio: number;
  readonly agreement: number;
}

const SPECIES = [
  ["almond", 930],
  ["apple", 700],
  ["walnut", 700],
] as const;
/** Metres. */
const MOVES = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1] as const;
const casesOf = (species: string, age_days: number): SeenCase[] => {
  const one = { species, age_days, scans: 4, noise_m: 0, wood: "none" as const, seed: 1 };
  const named = (name: string, more: Partial<SeenCase>): SeenCase => ({ ...one, ...more, name: `${species}: ${name}` });
  return [
    named("seen by 4", {}),
    named("seen by 4, another tree", { seed: 2 }),
    named("seen by 3", { scans: 3 }),
    named("seen by 2", { scans: 2 }),
    named("seen by 4, with its wood", { wood: "known" }),
    named("seen by 4, wood by the network", { wood: "network" }),
    named("seen by 4, noise 5 mm", { noise_m: 0.005 }),
    named("seen by 4, noise 20 mm", { noise_m: 0.02 }),
    ...MOVES.map((by) => named(`seen by 4, scans moved by ${1000 * by} mm`, { moved_m: by })),
    ...MOVES.map((by) => named(`seen by 4, leaves moved by ${1000 * by} mm`, { wind_m: by })),
  ];
};
export const SEEN_CASES: readonly SeenCase[] = SPECIES.flatMap(([species, age]) => casesOf(species, age));

/** Of a leaf, metres: the default of `lad/compute`. */
const ELEMENT_WIDTH = 0.05;
const LIMITS = { lmax: 0.03, max_aspect_ratio: 4 };

/** Hits on leaves (u8 per row): known, or those that the network finds in the hits of all scans together. */
async function leavesOf(scans: readonly TreeScan[], wood: Wood): Promise<NativeColumn[]> {
  if (wood !== "network") return scans.map(({ leaf }) => leaf);
  const places = scans.map(({ positions }) => coordinatesOf(positions));
  const hits = scans.map(({ is_miss }) => {
    const miss = is_miss && values(is_miss);
    return Array.from(miss ?? [], (_, i) => i).filter((i) => miss?.[i] === 0);
  });
  const xyz = Float64Array.from(hits.flatMap((rows, k) => rows.flatMap((i) => [...xyzOf(places[k], i)])));
  const labels = await byNetwork({ xyz });
  let at = 0;
  return hits.map((rows, k) => {
    const leaf = new Uint8Array(scans[k]?.positions.length ?? 0);
    for (const i of rows) leaf[i] = labels[at++] === 2 ? 1 : 0;
    return column("u8", leaf);
  });
}
const xyzOf = (places: Float64Array | undefined, i: number) => places?.subarray(3 * i, 3 * i + 3) ?? [];

const sum = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

/** Scans of which each sees the leaves elsewhere. */
async function windyScans(scene: LeafyTree, scanners: ReturnType<typeof scannersOf>, wind_m: number, seed: number) {
  const scans: TreeScan[] = [];
  for (const [k, scanner] of scanners.entries())
    scans.push(...(await scansOf(inTheWind(scene, k, wind_m), [scanner], seed)));
  return scans;
}

const none = (leaf: NativeColumn, is_miss: NativeColumn | null): NativeColumn => {
  const [leaves, misses] = [values(leaf), is_miss && values(is_miss)];
  return column(
    "u8",
    Uint8Array.from(leaves as Uint8Array, (one, i) => (one === 0 && misses?.[i] === 0 ? 1 : 0)),
  );
};

export async function seenRow(one: SeenCase): Promise<SeenRow> {
  const whole = await leafyTree(one.species, one.age_days, one.seed);
  const leaves = onlyOf(whole, (organ) => organ === ORGAN.leaf);
  const scanners = scannersOf(whole, one);
  const scene = one.wood === "none" ? leaves : whole;
  const scans = one.wind_m
    ? await windyScans(scene, scanners, one.wind_m, one.seed)
    : await scansOf(scene, scanners, one.seed);
  const off = (k: number): Vector => offsetOf(k, one.moved_m ?? 0);
  const is_leaf = await leavesOf(scans, one.wood);
  const { min, max } = boundsOf(whole);
  const center = min.map((low, k) => (low + (max[k] ?? 0)) / 2) as [number, number, number];
  const size = min.map((low, k) => (max[k] ?? 0) - low + 0.1) as [number, number, number];
  const grid: VoxelBox = { center, size, nx: 1, ny: 1, nz: 1, rotation_deg: 0, offsets: null, kept: null };
  const foliage = scans.map((scan, k) => ({ ...scan, deleted: none(is_leaf[k] as NativeColumn, scan.is_miss) }));
  const { mean_g, error } = await triangleG(foliage, false, grid, LIMITS);
  const true_g = meanProjection(
    leaves,
    scanners.map(({ origin }) => origin),
  );
  const viewed = scans.map(({ positions, shift, is_miss }, k) => ({
    origin: sum(scanners[k]?.origin ?? [0, 0, 0], off(k)),
    rows: [{ positions, shift: sum(shift, off(k)), is_miss, deleted: null, is_leaf: is_leaf[k] ?? null }],
  }));
  const by = (g: number) =>
    captureRecapture(viewed, grid, {
      g: column("f64", Float64Array.of(g)),
      range_noise_m: one.noise_m,
      leaf_width_m: ELEMENT_WIDTH,
    }).promise;
  const [found, given] = [await by(mean_g), await by(true_g)];
  const truth = areaOf(leaves);
  const share = (area: number | null) => (area ?? Number.NaN) / truth;
  const by_chance = (error?.of_all ?? Number.NaN) * (Math.PI / 4) * ELEMENT_WIDTH ** 2;
  const { leaf_area_ci_lower: lower, leaf_area_ci_upper: upper } = viewInterval(
    found,
    Math.hypot(Math.sqrt(by_chance), error?.bias ?? Number.NaN),
  );
  for (const scan of scans) for (const held of [scan.positions, scan.is_miss, scan.wood, scan.leaf]) held?.release();
  return {
    name: one.name,
    leaf_area_m2: truth,
    seen_by: found.seen_by_m2.map(share),
    seen: share(found.seen_m2),
    estimate: share(found.leaf_area_m2),
    true_g: share(given.leaf_area_m2),
    interval: lower === null || upper === null ? null : [share(lower), share(upper)],
    g_ratio: mean_g / true_g,
    agreement: found.agreement ?? Number.NaN,
  };
}
