// Skeletons of scanned trees against the true axes of their wood, with nodes at centroids and on fitted axes.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { levelSetSkeleton, type SkeletonParams } from "../../backend/native/skeleton.ts";
import { root } from "../bench/folders.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { drawPoints } from "./forest/picture.ts";
import { ORGAN } from "./forest/stand.ts";
import { metres, npy } from "./forest-plots.ts";
import { positions, values } from "./native.ts";
import type { Part } from "./part.ts";
import { type AxisPiece, type Bone, type SkeletonScores, skeletonScores } from "./skeleton-scores.ts";
import { scanTree } from "./tree-scans.ts";
import { boxOf, pointAt, type Vector } from "./vector.ts";

const METHODS = ["defaults", "centroids", "recenter"] as const;
type Method = (typeof METHODS)[number];

interface Tree {
  readonly xyz: Float64Array;
  readonly axes: readonly AxisPiece[];
}
export interface SkeletonRow extends SkeletonScores {
  readonly method: Method;
  readonly cloud: string;
  readonly points: number;
  readonly reached: number;
  readonly search_radius_m: number;
}

const DEFAULTS: SkeletonParams = {
  remove_outliers: true,
  outlier_nb_neighbors: 20,
  outlier_std_ratio: 2,
  search_radius_m: 0.05,
  max_neighbors: 20,
  root_threshold_m: 0.02,
  quantization_levels: 60,
  use_nonlinear_quantization: true,
  threshold_filter: 30,
  use_proportion_filter: true,
  proportion_threshold: 0.1,
  smooth_skeleton: true,
  smoothing_iterations: 2,
  recenter: true,
};
/** Fine levels of hops, and no points or blocks given up: what follows branches best. */
const FINE = {
  remove_outliers: false,
  quantization_levels: 1000,
  use_nonlinear_quantization: false,
  threshold_filter: 5,
  use_proportion_filter: false,
  smoothing_iterations: 1,
};
const ENOUGH = 0.995;
const MOST_LINK_M = 0.5;
const paramsOf = (method: Method, fine: Partial<SkeletonParams>): SkeletonParams =>
  method === "defaults" ? DEFAULTS : { ...DEFAULTS, ...FINE, ...fine, recenter: method === "recenter" };

/** Wood points and cylinders of a tree of forest_reference, by their true labels. */
function referenceTree(plot: string, id: number): Tree {
  const folder = join(DATA, "forest_reference", plot);
  const all = metres(join(folder, "xyz_mm.npy.gz"), 3);
  const tree = npy(join(folder, "tree.npy.gz"));
  const organ = npy(join(folder, "organ.npy.gz"));
  const rows: number[] = [];
  for (let i = 0; i < organ.length; i += 1) if (organ[i] === 2 && tree.readUInt16LE(2 * i) === id) rows.push(i);
  const xyz = new Float64Array(rows.flatMap((i) => [...pointAt(all, i)]));
  const lines = gunzipSync(readFileSync(join(folder, "segments.csv.gz")))
    .toString()
    .trim()
    .split("\n")
    .slice(1);
  const segments = lines.map((line) => line.split(",").map(Number)).filter(([owner]) => owner === id);
  const index = new Map(segments.map(([, segment = 0], i) => [segment, i]));
  const axes = segments.map((s): AxisPiece => {
    const at = (k: number): Vector => [s[k] ?? 0, s[k + 1] ?? 0, s[k + 2] ?? 0];
    const radius = s[10] ?? 0;
    return { start: at(4), end: at(7), radius, radius_end: radius, parent: index.get(s[2] ?? 0) ?? -1 };
  });
  return { xyz, axes };
}

async function scanned(species: string, positionCount: number): Promise<Tree> {
  const options = { species, seed: 11, positions: positionCount, scanner: "riegl_vz400i", every: 1, leaves: false };
  const { xyz, organ, cylinders } = await scanTree({ ...options, range_noise_m: 0.003 });
  const rows = Array.from(organ.keys()).filter((i) => organ[i] === ORGAN.wood);
  return { xyz: new Float64Array(rows.flatMap((i) => [...pointAt(xyz, i)])), axes: cylinders };
}

/** Clouds with the parameters that suit their spacing. */
interface Cloud {
  readonly read: () => Tree | Promise<Tree>;
  readonly fine: Partial<SkeletonParams>;
}
const REFERENCE = { search_radius_m: 0.12, max_neighbors: 30, threshold_filter: 3, smoothing_iterations: 0 };
/** Neighbours keep the links short where points are dense; the radius is for thin twigs. */
const SCANS = { search_radius_m: 0.05, threshold_filter: 2 };
const CLOUDS: Readonly<Record<string, Cloud>> = {
  ...Object.fromEntries(
    [1, 5, 9].map((id) => [`open_11 tree ${id}`, { read: () => referenceTree("open_11", id), fine: REFERENCE }]),
  ),
  ...Object.fromEntries(
    ["red_oak", "norway_spruce", "apple", "walnut"].flatMap((species) =>
      [4, 9].map((n) => [`${species} ${n} scans`, { read: () => scanned(species, n), fine: SCANS }]),
    ),
  ),
};

async function skeletonOf({ xyz }: Tree, params: SkeletonParams) {
  const column = positions(xyz);
  const found = await levelSetSkeleton(column, null, params, [0, 0, 0]).promise;
  const [places, edges] = [values(found.points) as Float64Array, values(found.edges) as Uint32Array];
  for (const one of [column, found.points, found.edges, found.blocks, found.branch_orders]) one.release();
  if (found.failure) return null;
  const bones: Bone[] = [];
  const isParent = new Set<number>();
  for (let i = 0; i < edges.length; i += 2) {
    bones.push({ start: pointAt(places, edges[i] ?? 0), end: pointAt(places, edges[i + 1] ?? 0) });
    isParent.add(edges[i] ?? 0);
  }
  const ends = Array.from({ length: places.length / 3 }, (_, i) => i).filter((i) => !isParent.has(i));
  return { found, bones, ends: ends.map((i) => pointAt(places, i)) };
}

/** With links half as long again as often as that is needed to reach the points; the defaults stay as they are. */
async function reachingSkeleton(tree: Tree, params: SkeletonParams) {
  let one = await skeletonOf(tree, params);
  for (let radius = params.search_radius_m ?? 0; params !== DEFAULTS && radius < MOST_LINK_M; ) {
    if (one && one.found.reached >= ENOUGH * one.found.points_after) break;
    radius *= 1.5;
    one = (await skeletonOf(tree, { ...params, search_radius_m: radius })) ?? one;
  }
  return one;
}

/** Points in grey, true axes in blue, the skeleton in red, seen from the south. */
function draw(name: string, { xyz, axes }: Tree, bones: readonly Bone[]): string {
  const dots: { at: Vector; color: readonly [number, number, number]; depth: number }[] = [];
  for (let i = 0; i < xyz.length / 3; i += 1) dots.push({ at: pointAt(xyz, i), color: [205, 205, 205], depth: 2 });
  const along = (list: readonly Bone[], color: readonly [number, number, number], depth: number) => {
    for (const { start, end } of list)
      for (let k = 0; k <= 60; k += 1)
        dots.push({ at: start.map((v, a) => v + ((end[a] ?? 0) - v) * (k / 60)) as unknown as Vector, color, depth });
  };
  along(axes, [70, 110, 230], 1);
  along(bones, [220, 30, 30], 0);
  const { low, high } = boxOf(xyz);
  const scale = 1400 / Math.max(high[0] - low[0], high[2] - low[2]);
  const folder = join(root, "build", "accuracy");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `skeleton-${name.replaceAll(/[^a-z0-9]+/g, "-")}.png`);
  drawPoints(
    path,
    {
      count: dots.length,
      across: (i) => dots[i]?.at[0] ?? 0,
      up: (i) => dots[i]?.at[2] ?? 0,
      depth: (i) => dots[i]?.depth ?? 3,
      color: (i) => dots[i]?.color ?? [0, 0, 0],
    },
    {
      left: low[0],
      low: low[2],
      scale,
      width: Math.ceil((high[0] - low[0]) * scale) + 1,
      height: Math.ceil((high[2] - low[2]) * scale) + 1,
    },
  );
  return path;
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<SkeletonRow[]> {
  const rows: SkeletonRow[] = [];
  for (const name of groups) {
    const cloud = CLOUDS[name];
    if (!cloud || (name.startsWith("open_11") && !existsSync(join(DATA, "forest_reference")))) continue;
    const tree = await cloud.read();
    for (const method of METHODS.filter((one) => methods.includes(one))) {
      const one = await reachingSkeleton(tree, paramsOf(method, cloud.fine));
      if (!one) {
        console.error(`${name}, ${method}: the points have no skeleton`);
        continue;
      }
      const { found, bones, ends } = one;
      const { points_after, reached, search_radius_m } = found;
      const scores = skeletonScores(bones, ends, tree.axes);
      rows.push({ method, cloud: name, points: points_after, reached, search_radius_m, ...scores });
      if (method === "recenter") console.error(`picture: ${draw(name, tree, bones)}`);
    }
  }
  return rows;
}

const share = (value: number) => value.toFixed(2);
const cells = (row: SkeletonRow) => [
  row.cloud,
  row.method,
  row.points,
  share(row.reached / row.points),
  share(row.mean_over_radius),
  share(row.median_over_radius),
  share(row.branch_over_radius),
  share(row.thick_over_radius),
  (1000 * row.mean_m).toFixed(1),
  share(row.precision),
  share(row.recall),
  share(row.length_share),
  `${row.tips} / ${row.true_tips}`,
  share(row.tips_right),
  (1000 * row.tip_median_m).toFixed(0),
  share(row.tips_found),
];
const HEAD =
  "| cloud | nodes | points | reached | mean / r | median / r | mean / r, r >= 1 cm | r >= 5 cm | mean, mm | on an axis | axes found | length / true | ends / tips | ends right | ends off, mm | tips found |";

export const skeletonPart: Part<SkeletonRow> = {
  methods: METHODS,
  groups: Object.keys(CLOUDS),
  measure,
  tables: (rows) =>
    [
      `defaults: ${JSON.stringify(DEFAULTS)}`,
      `centroids and recenter: ${JSON.stringify(FINE)}; forest_reference: ${JSON.stringify(REFERENCE)}; scans: ${JSON.stringify(SCANS)}`,
      "",
      HEAD,
      HEAD.replaceAll(/[^|]+/g, "---"),
      ...rows.map((row) => `| ${cells(row).join(" | ")} |`),
    ].join("\n"),
  targets: (rows) => {
    const best = rows.filter(({ method }) => method === "recenter");
    const worst = best.reduce((a, b) => (b.mean_over_radius > a.mean_over_radius ? b : a), best[0] as SkeletonRow);
    const near = best.filter(({ mean_over_radius }) => mean_over_radius <= 0.5).length;
    const branches = best.filter(({ branch_over_radius }) => branch_over_radius <= 0.5).length;
    return `mean distance at most half the radius: ${near} of ${best.length} trees, ${branches} over the axes of at least 1 cm of radius; worst ${worst?.cloud}, ${worst?.mean_over_radius.toFixed(2)} radii`;
  },
};
