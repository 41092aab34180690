// `node scripts/train/make-scans.mjs FOLDER [trees per species] [first seed] [species,..]`: scans of generated trees as crops for training.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { uniform } from "./random.ts";
import { FOREST_SPECIES, OWN_TREES, scanTree, type TreeScan, type TreeScanOptions } from "./tree-scans.ts";
import { writeCrops } from "./wood-crops.ts";
import { drawnVariant, variantOf } from "./wood-variants.ts";

const SCANNERS = ["leica_blk360_g2", "riegl_vz400i", "faro_focus_s350"] as const;
const MAX_VOXELS = 8192;
/** Variants of a scan, and crops of a variant. */
const VARIANTS = 3;
const CROPS = 3;

/** A tree, its scanners and their step, drawn. */
export function drawnScan(species: string, seed: number): TreeScanOptions {
  const next = uniform(seed * 7919 + species.length * 31 + species.charCodeAt(0));
  const isForest = (FOREST_SPECIES as readonly string[]).includes(species);
  const positions = [1, 4, 4, 9][Math.floor(4 * next())] ?? 4;
  return {
    species,
    seed,
    positions,
    scanner: SCANNERS[Math.floor(SCANNERS.length * next())] ?? SCANNERS[0],
    every: (isForest ? Math.exp(0.4 + 1.2 * next()) : Math.exp(2 * next())) * Math.sqrt(positions / 2),
    leaves: next() < 0.87,
    bare: next() < 0.5 ? 0.2 + 0.7 * next() : 0,
    // Within the season that has leaves; a bougainvillea has more shoots at 240 days than a tree at 1200.
    age_days: Math.round(365 * (species === "bougainvillea" ? 0 : Math.floor(4 * next())) + 110 + 120 * next()),
  };
}

async function crops(scan: TreeScan, options: TreeScanOptions, folder: string): Promise<number> {
  const next = uniform(options.seed * 6007 + options.species.charCodeAt(1));
  let written = 0;
  for (let k = 0; k < VARIANTS; k += 1) {
    const variant = drawnVariant(next);
    const cloud = variantOf(scan, variant, next);
    if (cloud.organ.length < 500) continue;
    // Of a large cloud the first crops are at one side: take some from anywhere.
    const share = Math.min(1, (CROPS * MAX_VOXELS) / cloud.organ.length);
    const keep = (crop: number) => share >= 0.5 || next() < 2 * share || crop > 40;
    const { species, seed, positions, leaves } = options;
    written += await writeCrops(
      join(folder, `${species}_${seed}_${k}`),
      cloud,
      { max_voxels: MAX_VOXELS, inner_fraction: 0.9, keep, most: CROPS },
      { species, seed, positions, leaves, ...variant },
    );
  }
  return written;
}

const [folder, trees = "6", first = "1", chosen] = process.argv.slice(2);
if (!folder) throw new Error("usage: make-scans.mjs FOLDER [trees per species] [first seed] [species,..]");
mkdirSync(folder, { recursive: true });
const started = Date.now();
for (let seed = Number(first); seed < Number(first) + Number(trees); seed += 1) {
  for (const species of chosen ? chosen.split(",") : [...FOREST_SPECIES, ...OWN_TREES]) {
    const options = drawnScan(species, seed);
    const scan = await scanTree(options);
    const written = await crops(scan, options, folder);
    const seconds = ((Date.now() - started) / 1000).toFixed(0);
    const wood = scan.organ.reduce((sum, organ) => sum + (organ === 2 ? 1 : 0), 0) / scan.organ.length;
    console.log(
      `${seconds} s ${species} ${seed}: ${scan.organ.length} points, ${wood.toFixed(2)} wood, ${options.positions} positions, leaves ${options.leaves}, ${written} crops`,
    );
  }
}
