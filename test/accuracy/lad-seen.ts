// Leaf area from the hits themselves: what several scanners see of a tree tells what none of them sees.
import { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { NO_SURFACE } from "./forest/surface.ts";
import { scannersOf } from "./lad-trees.ts";
import { areaOf, type LeafyTree, leafyTree, meanProjection, ORGAN, onlyOf, surfaceOf } from "./leafy-tree.ts";
import { RangeImage } from "./range-image.ts";

export interface SeenCase {
  readonly name: string;
  readonly species: string;
  readonly age_days: number;
  readonly scans: number;
  readonly noise_m: number;
  /** The wood is there, hides leaves, and its hits are known. */
  readonly wood: boolean;
  readonly seed: number;
}

export interface SeenRow extends Pick<SeenCase, "name"> {
  readonly leaf_area_m2: number;
  /** Shares of the true area: seen by 1, 2, .. scanners. */
  readonly seen_by: readonly number[];
  readonly seen: number;
  /** With the area that no scanner sees. */
  readonly estimate: number;
}

const SPECIES = [
  ["almond", 930],
  ["apple", 700],
  ["walnut", 700],
] as const;
const casesOf = (species: string, age_days: number): SeenCase[] => {
  const one = { species, age_days, scans: 4, noise_m: 0, wood: false, seed: 1 };
  const named = (name: string, more: Partial<SeenCase>): SeenCase => ({ ...one, ...more, name: `${species}: ${name}` });
  return [
    named("seen by 4", {}),
    named("seen by 4, another tree", { seed: 2 }),
    named("seen by 3", { scans: 3 }),
    named("seen by 2", { scans: 2 }),
    named("seen by 4, with its wood", { wood: true }),
    named("seen by 4, noise 5 mm", { noise_m: 0.005 }),
  ];
};
export const SEEN_CASES: readonly SeenCase[] = SPECIES.flatMap(([species, age]) => casesOf(species, age));

const LMAX_M = 0.03;
/** A leaf along a beam reaches this far before a place on it, metres. */
const NEARER_M = 0.05;

async function imagesOf(tree: LeafyTree, whole: LeafyTree, one: SeenCase): Promise<RangeImage[]> {
  const job = new Job();
  const nothing = { firsts: [], instance_prototype: null, instance_matrix: null };
  const mesh = {
    name: "tree",
    origin: [0, 0, 0] as const,
    surfaces: surfaceOf(tree),
    prototypes: NO_SURFACE,
    ...nothing,
  };
  const { scene } = await job.track(() => native.openScanScene([mesh], []));
  const wish = { meshes: [], scanners: scannersOf(whole, one), rays_per_pulse: 1, record_misses: true, seed: one.seed };
  const request = LidarScanRequest.parse(wish);
  const images: RangeImage[] = [];
  for (const [k, scanner] of request.scanners.entries()) {
    const params = scanParams(scanner, k, request, job);
    const scan = await job.quiet().track(() => native.syntheticScan(scene, params));
    images.push(new RangeImage(scan, params));
  }
  scene.release();
  return images;
}

/**
 * Each hit stands for the leaf area across its beam over the mean projection, shared among the scanners that see its place
 * (Horvitz & Thompson 1952). Unseen: the lower bound of Chao 1987 (Biometrics 43) with `scans` occasions.
 */
function shares(images: readonly RangeImage[], g: number, slack_m: number): number[] {
  const area = new Array<number>(images.length + 1).fill(0);
  for (const own of images)
    for (let i = 0; i < own.count; i += 1) {
      if (!own.isLeaf(i)) continue;
      const [place, normal] = [own.at(i), own.normal(i, LMAX_M)];
      const others = images.filter((image) => image !== own && image.sees(place, normal, slack_m, NEARER_M));
      const times = 1 + others.length;
      area[times] = (area[times] ?? 0) + own.areaAcross(i) / g / times;
    }
  return area.slice(1);
}

export async function seenRow(one: SeenCase): Promise<SeenRow> {
  const whole = await leafyTree(one.species, one.age_days, one.seed);
  const leaves = onlyOf(whole, (organ) => organ === ORGAN.leaf);
  const images = await imagesOf(one.wood ? whole : leaves, whole, one);
  const origins = images.map(({ params }) => params.origin);
  const truth = areaOf(leaves);
  const seen_by = shares(images, meanProjection(leaves, origins), 3 * one.noise_m).map((area) => area / truth);
  const seen = seen_by.reduce((sum, share) => sum + share, 0);
  const [once = 0, twice = 0] = seen_by;
  const unseen = (((one.scans - 1) / one.scans) * once ** 2) / (2 * twice);
  return { name: one.name, leaf_area_m2: truth, seen_by, seen, estimate: seen + unseen };
}
