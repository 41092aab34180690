// Scans of trees of our own generators that neither the training of the bundled model nor the choice of any constant saw.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../bench/folders.ts";
import { ORGAN } from "./forest/stand.ts";
import { FOREST_SPECIES, OWN_TREES, scanTree } from "./tree-scans.ts";
import type { WoodCloud } from "./wood-clouds.ts";

/** The training takes seeds from 1 on, one per tree of a species. */
const SEED = 9001;
const POSITIONS = [1, 4, 9] as const;
const TWIG_RADIUS_M = 0.005;
/** Days; a bougainvillea of this age has more shoots than a tree at 900. */
const AGE_DAYS = 900;
const YOUNG_DAYS = 170;

/** Folders of models that were trained without every third species: scripts/train/train-folds.sh writes them. */
const FOLDS = join(root, "build", "wood_folds");
const FOLD_COUNT = 3;

/** ownScans, each with the model that was trained without its species; none without the models. */
export async function* scansLeftOut(): AsyncGenerator<WoodCloud> {
  if (!existsSync(FOLDS)) return;
  const species: string[] = [...FOREST_SPECIES, ...OWN_TREES].sort();
  for await (const cloud of ownScans()) {
    const fold = species.indexOf(cloud.name.split(",")[0] ?? "") % FOLD_COUNT;
    yield { ...cloud, models: join(FOLDS, `fold_${fold}`) };
  }
}

/** Each species with its leaves from 1, 4 and 9 positions in turn. */
export async function* ownScans(): AsyncGenerator<WoodCloud> {
  for (const [k, species] of [...FOREST_SPECIES, ...OWN_TREES].entries()) {
    const positions = POSITIONS[k % POSITIONS.length] ?? 1;
    const age_days = species === "bougainvillea" ? YOUNG_DAYS : AGE_DAYS;
    const every = 3 * Math.sqrt(positions);
    const scan = await scanTree({
      species,
      seed: SEED,
      positions,
      scanner: "riegl_vz400i",
      every,
      leaves: true,
      age_days,
    });
    yield {
      name: `${species}, ${positions} positions`,
      xyz: scan.xyz,
      truth: Uint8Array.from(scan.organ, (organ) => (organ === ORGAN.wood ? 1 : 2)),
      twig: Uint8Array.from(scan.cylinder, (id, i) => {
        const one = scan.organ[i] === ORGAN.wood ? scan.cylinders[id] : undefined;
        return one && Math.max(one.radius, one.radius_end) < TWIG_RADIUS_M ? 1 : 0;
      }),
    };
  }
}
