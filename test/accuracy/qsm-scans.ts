// Simulated scans of trees whose wood is known cylinder by cylinder: leafless, or with leaves and the labels of our network.
import { type KnownTree, knownTree } from "./qsm-trees.ts";
import { FOREST_SPECIES, OWN_TREES, scanTree } from "./tree-scans.ts";
import { LABELLERS } from "./wood-labellers.ts";

interface ScanGroup {
  readonly species: readonly string[];
  /** 201, 301 to 306 and 401 to 406 were looked at while the method was written, and are not among them. */
  readonly seeds: readonly number[];
  readonly positions: number;
  readonly leaves: boolean;
}

const LEAFLESS = { species: FOREST_SPECIES, seeds: [202, 203], positions: 4, leaves: false } as const;
export const SCAN_GROUPS = {
  scans: LEAFLESS,
  "scans_4.23": LEAFLESS,
  scans_9: { ...LEAFLESS, seeds: [204], positions: 9 },
  scans_1: { ...LEAFLESS, seeds: [204], positions: 1 },
  own: { species: OWN_TREES.slice(0, 6), seeds: [205], positions: 4, leaves: false },
  // The network was trained on seeds from 1 on, and not on these.
  leafy: { ...LEAFLESS, seeds: [9002], leaves: true },
} as const satisfies Readonly<Record<string, ScanGroup>>;
export type ScanGroupName = keyof typeof SCAN_GROUPS;

/** Radius of a twig's tip in the generator of the forest trees, mm. */
export const SCAN_TWIG_MM = 1;
/** Of trees of our own species, days. */
const AGE_DAYS = 900;
const WOOD = 1;

/** The points that the bundled network calls wood. */
async function woodOf(name: string, xyz: Float64Array): Promise<Float64Array> {
  const labels = await LABELLERS.ml?.({ name, xyz, truth: new Uint8Array(xyz.length / 3) });
  return xyz.filter((_, i) => labels?.[Math.floor(i / 3)] === WOOD);
}

async function scan(group: ScanGroup, species: string, seed: number): Promise<KnownTree> {
  const { positions, leaves } = group;
  const every = leaves ? 2 : 1;
  const options = { species, seed, positions, every, leaves, age_days: AGE_DAYS };
  const { xyz, cylinders } = await scanTree({ ...options, scanner: "riegl_vz400i", range_noise_m: 0.003 });
  const name = `${species} ${seed}`;
  return knownTree(name, leaves ? await woodOf(name, xyz) : xyz, cylinders);
}

const scanned = new Map<string, Promise<KnownTree>>();

/** Trees scanned once each with 3 mm of noise. */
export async function* scannedTrees(name: ScanGroupName): AsyncGenerator<KnownTree> {
  const group: ScanGroup = SCAN_GROUPS[name];
  for (const species of group.species)
    for (const seed of group.seeds) {
      const key = [species, seed, group.positions, group.leaves].join();
      const tree = scanned.get(key) ?? scan(group, species, seed);
      scanned.set(key, tree);
      yield await tree;
    }
}
