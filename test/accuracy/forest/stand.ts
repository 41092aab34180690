// Stands of trees with scans whose truth is known, kept in the temporary folder.
import { Job } from "../../../backend/jobs/job.ts";
import type { Vector } from "../vector.ts";
import { type CrownCover, crownCover } from "./hull.ts";
import type { StandKind } from "./layout.ts";
import { buildScene, type Scan, type Scene, scan, tripods } from "./scene.ts";
import { readStand, standPath, writeStand } from "./stand-files.ts";
import { NO_CYLINDER, SCANNED } from "./surface.ts";
import type { TreeTruth } from "./tree.ts";

/** Labels of returns. */
export const ORGAN = { ground: 1, wood: 2, leaf: 3 } as const;

/** A tree of a scanned stand. */
export interface ScannedTree extends TreeTruth {
  /** Returns. */
  readonly hits: number;
  readonly wood_hits: number;
  /** Of its stem between 1 m and 2 m above the base: returns, and sectors of 10 degrees around it that have one, degrees. */
  readonly stem_hits: number;
  readonly stem_arc_deg: number;
  /** In the list of cylinders. */
  readonly first_cylinder: number;
}

export interface StandPoints {
  /** x, y, z after each other, metres; the plot is (0, 0) to (side, side). */
  readonly xyz: Float64Array;
  /** Id of the tree, 0 = ground. */
  readonly tree: Uint32Array;
  /** In the list of cylinders; NO_CYLINDER for leaves and ground. */
  readonly cylinder: Uint32Array;
  /** Above the exact ground, metres. */
  readonly height: Float32Array;
  /** Of ORGAN. */
  readonly organ: Uint8Array;
  /** Number of the scanner, from 0. */
  readonly scan: Uint8Array;
}

export interface StandOptions {
  readonly kind: StandKind;
  readonly seed: number;
  /** Scan positions: 1, 4, 9. */
  readonly positions: number;
  /** Metres; 50 in the tables. */
  readonly side: number;
  /** One beam in this many rows and columns of the scanner's pattern; 5 in the tables. */
  readonly every: number;
}
export const SIDE_M = 50;
export const EVERY = 5;

export interface Stand extends StandOptions {
  readonly points: StandPoints;
  readonly trees: readonly ScannedTree[];
  /** Numbers of each cylinder: CYLINDER_NUMBERS. */
  readonly cylinders: Float64Array;
  /** Of each cylinder: 0 = stem, 1 = its branches, and so on. */
  readonly orders: Uint8Array;
  readonly scanners: readonly Vector[];
  readonly cover: CrownCover;
  readonly triangle_count: number;
}

const LABELS: Readonly<Record<number, number>> = {
  [SCANNED.ground]: ORGAN.ground,
  [SCANNED.wood]: ORGAN.wood,
  [SCANNED.leaf]: ORGAN.leaf,
};

function joined(scans: readonly Scan[], scene: Scene): StandPoints {
  const count = scans.reduce((sum, { organ }) => sum + organ.length, 0);
  const points = {
    xyz: new Float64Array(3 * count),
    tree: new Uint32Array(count),
    cylinder: new Uint32Array(count),
    height: new Float32Array(count),
    organ: new Uint8Array(count),
    scan: new Uint8Array(count),
  };
  let first = 0;
  for (const [number, one] of scans.entries()) {
    points.xyz.set(one.xyz, 3 * first);
    points.tree.set(one.tree, first);
    for (const [i, organ] of one.organ.entries()) {
      const at = first + i;
      const cylinder = one.cylinder[i] ?? NO_CYLINDER;
      const before = scene.first_cylinder[(one.tree[i] ?? 0) - 1] ?? 0;
      points.cylinder[at] = cylinder === NO_CYLINDER ? NO_CYLINDER : before + cylinder;
      points.organ[at] = LABELS[organ] ?? 0;
      points.scan[at] = number;
      const [x, y, z] = [one.xyz[3 * i] ?? 0, one.xyz[3 * i + 1] ?? 0, one.xyz[3 * i + 2] ?? 0];
      points.height[at] = z - scene.ground(x, y);
    }
    first += one.organ.length;
  }
  return points;
}

const SECTORS = 36;

function scanned(scene: Scene, points: StandPoints): ScannedTree[] {
  const count = scene.truths.length + 1;
  const [hits, wood, stem] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  const sectors = new Uint8Array(count * SECTORS);
  for (const [i, tree] of points.tree.entries()) {
    if (tree === 0) continue;
    hits[tree] = (hits[tree] ?? 0) + 1;
    if (points.organ[i] !== ORGAN.wood) continue;
    wood[tree] = (wood[tree] ?? 0) + 1;
    const cylinder = points.cylinder[i] ?? 0;
    if (scene.orders[cylinder] !== 0) continue;
    const above = (points.xyz[3 * i + 2] ?? 0) - (scene.truths[tree - 1]?.base[2] ?? 0);
    if (above < 1 || above > 2) continue;
    stem[tree] = (stem[tree] ?? 0) + 1;
    const at = (k: number) => scene.cylinders[8 * cylinder + k] ?? 0;
    const [dx, dy] = [0, 1].map((k) => (points.xyz[3 * i + k] ?? 0) - (at(k) + at(3 + k)) / 2) as [number, number];
    const sector = Math.floor(((Math.atan2(dy, dx) / (2 * Math.PI) + 1) % 1) * SECTORS);
    sectors[tree * SECTORS + sector] = 1;
  }
  return scene.truths.map((truth, k) => ({
    ...truth,
    hits: hits[k + 1] ?? 0,
    wood_hits: wood[k + 1] ?? 0,
    stem_hits: stem[k + 1] ?? 0,
    stem_arc_deg: 10 * sectors.subarray((k + 1) * SECTORS, (k + 2) * SECTORS).reduce((sum, one) => sum + one, 0),
    first_cylinder: scene.first_cylinder[k] ?? 0,
  }));
}

/** Builds and scans a stand; the same options give the same stand, bit for bit. */
async function makeStand(options: StandOptions): Promise<Stand> {
  const { kind, seed, side, positions, every } = options;
  const job = new Job();
  const scene = await buildScene(kind, seed, side, job);
  const scanners = tripods(positions, side, scene.plans, scene.ground);
  const scans: Scan[] = [];
  for (const [k, origin] of scanners.entries()) scans.push(await scan(scene, origin, k, every, job));
  scene.scene.release();
  const points = joined(scans, scene);
  return {
    ...options,
    points,
    trees: scanned(scene, points),
    cylinders: scene.cylinders,
    orders: scene.orders,
    scanners,
    cover: crownCover(
      scene.truths.filter((tree) => !tree.is_understorey && tree.crown_hull.length > 2).map((tree) => tree.crown_hull),
    ),
    triangle_count: scene.triangle_count,
  };
}

/** A stand from the temporary folder, or built and kept there. */
export async function buildStand(options: StandOptions): Promise<Stand> {
  const path = standPath(options);
  const kept = readStand(path);
  if (kept) return kept;
  const made = await makeStand(options);
  writeStand(path, made);
  return made;
}
