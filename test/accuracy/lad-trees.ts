// Trees of our own species, whose leaves are known, scanned by our own scanner and inverted.
import { Job } from "../../backend/jobs/job.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import type { BeamScan } from "../../backend/native/lad.ts";
import { type HitLabels, hitCounts } from "../../backend/native/lad-inversion.ts";
import * as native from "../../backend/native/ray.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { WOOD_PROJECTION } from "../../shared/limits.ts";
import { NO_SURFACE } from "./forest/surface.ts";
import { invert } from "./lad-inversion.ts";
import { triangleG } from "./lad-triangles.ts";
import {
  areaOf,
  boundsOf,
  type LeafyTree,
  leafyTree,
  meanProjection,
  ORGAN,
  onlyOf,
  scattered,
  surfaceOf,
} from "./leafy-tree.ts";
import { column, positions, values } from "./native.ts";

/** What becomes of the wood: the tree has none, it counts as leaves, its hits are deleted, or it is split off. */
type Wood = "none" | "kept" | "removed" | "split";

export interface TreeCase {
  readonly name: string;
  readonly species: string;
  readonly age_days: number;
  readonly scans: number;
  readonly noise_m: number;
  readonly wood: Wood;
  readonly voxel_m: number;
  /** Leaves at random places in their voxels. */
  readonly scattered: boolean;
  readonly seeds: number;
}

export interface TreeRow extends Pick<TreeCase, "name" | "seeds"> {
  readonly leaf_area_m2: number;
  /** Total leaf area over the true one, mean over the seeds: with the true mean G, with that of triangles. */
  readonly true_g: number;
  readonly own_g: number;
  /** G of triangles, weighed by the leaf area found with it, over the true one. */
  readonly g_ratio: number;
  /** Total surface of the wood over the true one; null unless it is split off. */
  readonly wood: number | null;
}

const PLAIN = { scans: 4, noise_m: 0, wood: "none", voxel_m: 0.5, scattered: false, seeds: 3 } as const;
const SPECIES = [
  ["almond", 930],
  ["apple", 700],
  ["walnut", 700],
] as const;

/** In small voxels alone. */
const OTHERS = [
  ["olive", 700],
  ["pistachio", 700],
  ["easternredbud", 700],
  ["grapevine_VSP", 200],
  ["almond_aldrich", 700],
] as const;
const SMALL_M = [0.15, 0.1] as const;

const casesOf = (species: string, age_days: number): TreeCase[] => {
  const one = { ...PLAIN, species, age_days };
  const split = { ...one, wood: "split" as const };
  const named = (name: string, more: Partial<TreeCase>): TreeCase => ({ ...one, ...more, name: `${species}: ${name}` });
  return [
    named("leaves alone", {}),
    named("leaves alone, at random in the voxels", { scattered: true }),
    named("leaves alone, voxels of 0.25 m", { voxel_m: 0.25 }),
    named("leaves alone, voxels of 0.125 m", { voxel_m: 0.125 }),
    named("leaves alone, voxels of 0.05 m", { voxel_m: 0.05 }),
    named("wood as leaves", { wood: "kept" }),
    named("wood removed", { wood: "removed" }),
    named("wood split", split),
    named("wood split, 2 scans", { ...split, scans: 2 }),
    named("wood split, 1 scan", { ...split, scans: 1 }),
    named("wood split, voxels of 0.05 m", { ...split, voxel_m: 0.05 }),
    named("wood split, noise 5 mm", { ...split, noise_m: 0.005 }),
    named("wood split, noise 20 mm", { ...split, noise_m: 0.02 }),
  ];
};
export const TREE_CASES: readonly TreeCase[] = [
  ...SPECIES.flatMap(([species, age]) => casesOf(species, age)),
  ...[...SPECIES, ...OTHERS].flatMap(([species, age_days]) =>
    SMALL_M.map((voxel_m) => ({ ...PLAIN, species, age_days, voxel_m, name: `${species}: voxels of ${voxel_m} m` })),
  ),
];

/** Metres beyond the crown, and of the scanners above its foot. */
const [AWAY, HEIGHT] = [3, 1.6];
const STEP_DEG = 0.06;
const LIMITS = { lmax: 0.03, max_aspect_ratio: 4 };

function gridOf(tree: LeafyTree, edge: number): VoxelBox {
  const { min, max } = boundsOf(tree);
  // The same box for any edge.
  const size = min.map((low, k) => Math.ceil(((max[k] ?? 0) - low + 0.1) / PLAIN.voxel_m) * PLAIN.voxel_m);
  const [sx = 1, sy = 1, sz = 1] = size;
  const center = min.map((low, k) => (low + (max[k] ?? 0)) / 2) as [number, number, number];
  const count = (length: number) => Math.round(length / edge);
  const counts = { nx: count(sx), ny: count(sy), nz: count(sz) };
  return { center, size: [sx, sy, sz], ...counts, rotation_deg: 0, offsets: null, kept: null };
}

/** Scanners on a circle around the tree, single returns, each with the window in which it sees the sphere around it. */
export function scannersOf(tree: LeafyTree, { scans, noise_m }: Pick<TreeCase, "scans" | "noise_m">) {
  const { min, max } = boundsOf(tree);
  const middle = min.map((low, k) => (low + (max[k] ?? 0)) / 2) as [number, number, number];
  const radius = Math.hypot(...max.map((high, k) => (high - (min[k] ?? 0)) / 2));
  const reach = Math.hypot((max[0] - min[0]) / 2, (max[1] - min[1]) / 2) + AWAY;
  return Array.from({ length: scans }, (_, k) => {
    const turn = 0.7 + (2 * Math.PI * k) / scans;
    const origin: [number, number, number] = [
      middle[0] + reach * Math.cos(turn),
      middle[1] + reach * Math.sin(turn),
      min[2] + HEIGHT,
    ];
    const d = middle.map((value, axis) => value - (origin[axis] ?? 0)) as [number, number, number];
    const range = Math.hypot(...d);
    const half = (Math.asin(Math.min(0.95, radius / range)) * 180) / Math.PI;
    const theta = (Math.acos(d[2] / range) * 180) / Math.PI;
    const phi = (Math.atan2(d[0], d[1]) * 180) / Math.PI;
    const [low, high] = [Math.max(1, theta - half), Math.min(179, theta + half)];
    return {
      id: `${k}`,
      origin,
      n_theta: Math.round((high - low) / STEP_DEG),
      theta_min_deg: low,
      theta_max_deg: high,
      n_phi: Math.round((2 * half) / STEP_DEG),
      phi_min_deg: phi - half,
      phi_max_deg: phi + half,
      return_mode: "single" as const,
      range_noise_m: noise_m,
    };
  });
}

export interface TreeScan extends BeamScan {
  /** u8 per row. */
  readonly wood: NativeColumn;
  readonly leaf: NativeColumn;
}

export async function scansOf(
  tree: LeafyTree,
  scanners: ReturnType<typeof scannersOf>,
  seed: number,
): Promise<TreeScan[]> {
  const job = new Job();
  const mesh = {
    name: "tree",
    origin: [0, 0, 0] as const,
    surfaces: surfaceOf(tree),
    prototypes: NO_SURFACE,
    firsts: [],
    instance_prototype: null,
    instance_matrix: null,
  };
  const { scene } = await job.track(() => native.openScanScene([mesh], []));
  const request = LidarScanRequest.parse({ meshes: [], scanners, rays_per_pulse: 1, record_misses: true, seed });
  const scans: TreeScan[] = [];
  for (const [k, scanner] of request.scanners.entries()) {
    const found = await job.quiet().track(() => native.syntheticScan(scene, scanParams(scanner, k, request, job)));
    if (!found.organ || !found.is_miss) throw new Error("the scan has no organs or no misses");
    const [organ, miss] = [values(found.organ), values(found.is_miss)];
    const rows = (isIt: (organ: number) => boolean) =>
      column(
        "u8",
        Uint8Array.from(organ as Uint8Array, (one, i) => (!miss[i] && isIt(one) ? 1 : 0)),
      );
    scans.push({
      positions: found.positions,
      origins: positions(Float64Array.from(scanner.origin)),
      shift: [0, 0, 0],
      is_miss: found.is_miss,
      deleted: null,
      timestamps: null,
      target_index: null,
      wood: rows((one) => one !== ORGAN.leaf),
      leaf: rows((one) => one === ORGAN.leaf),
    });
  }
  scene.release();
  return scans;
}

interface SeedResult {
  readonly leaf_area_m2: number;
  readonly true_g: number;
  readonly own_g: number;
  readonly g_ratio: number;
  readonly wood: number | null;
}

async function measuredSeed(one: TreeCase, seed: number): Promise<SeedResult> {
  const whole = await leafyTree(one.species, one.age_days, seed);
  const leaves = onlyOf(whole, (organ) => organ === ORGAN.leaf);
  const grid = gridOf(whole, one.voxel_m);
  const plain = one.wood === "none" ? leaves : whole;
  const scene = one.scattered ? scattered(plain, grid, seed) : plain;
  const scanners = scannersOf(whole, one);
  const scans = await scansOf(scene, scanners, seed);
  const without = scans.map((scan) => ({ ...scan, deleted: scan.wood }));
  const used = one.wood === "removed" ? without : scans;
  const labels = one.wood === "split" ? await labelsOf(scans, grid) : null;
  const true_g = meanProjection(
    onlyOf(scene, (organ) => organ === ORGAN.leaf),
    scanners.map(({ origin }) => origin),
  );
  const truth = areaOf(leaves);
  const given = await invert(used, grid, column("f64", Float64Array.of(true_g)), { labels });
  const triangles = await triangleG(one.wood === "kept" ? scans : without, false, grid, LIMITS);
  const own = await invert(used, grid, triangles.g, { labels, own: triangles });
  const volume = one.voxel_m ** 3;
  const total = (of: ArrayLike<number>) => Array.from(of).reduce((sum, value) => sum + value * volume, 0);
  const g = values(triangles.g);
  const weighed = Array.from(own.lad).reduce((sum, lad, v) => sum + lad * volume * Number(g[v]), 0);
  const result = {
    leaf_area_m2: truth,
    true_g: total(given.lad) / truth,
    own_g: total(own.lad) / truth,
    g_ratio: weighed / total(own.lad) / true_g,
    wood: given.wad && total(given.wad) / areaOf(onlyOf(whole, (organ) => organ !== ORGAN.leaf)),
  };
  for (const scan of scans) for (const held of [scan.positions, scan.is_miss, scan.wood, scan.leaf]) held?.release();
  return result;
}

async function labelsOf(scans: readonly TreeScan[], grid: VoxelBox): Promise<HitLabels> {
  const counts = (of: "wood" | "leaf") =>
    hitCounts(
      scans.map((scan) => ({ positions: scan.positions, shift: scan.shift, is_counted: scan[of] })),
      grid,
    ).promise;
  return { wood: await counts("wood"), leaf: await counts("leaf"), wood_g: WOOD_PROJECTION };
}

export async function treeRow(one: TreeCase): Promise<TreeRow> {
  const results: SeedResult[] = [];
  for (let seed = 1; seed <= one.seeds; seed += 1) results.push(await measuredSeed(one, seed));
  const mean = (of: (result: SeedResult) => number) => results.reduce((sum, result) => sum + of(result), 0) / one.seeds;
  return {
    name: one.name,
    seeds: one.seeds,
    leaf_area_m2: mean((result) => result.leaf_area_m2),
    true_g: mean((result) => result.true_g),
    own_g: mean((result) => result.own_g),
    g_ratio: mean((result) => result.g_ratio),
    wood: one.wood === "split" ? mean((result) => result.wood ?? Number.NaN) : null,
  };
}
