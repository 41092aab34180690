import { describe, expect, test } from "vitest";
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import { SPECIES_IDS } from "../../shared/contract/plant-species-file.ts";
import { meanMeasures, measuredPlant } from "../accuracy/plant-measures.ts";

/* `npm run accuracy -- plants` measures every age; old trees would take most of the time here. */

const library = new SpeciesLibrary();

describe.each(SPECIES_IDS)("%s", (id) => {
  test("measures what its file expects, as the mean of five seeds", async () => {
    const species = await library.find(id);
    const expected = species?.file.expected;
    if (!species || !expected) throw new Error(`${id} has no ranges`);
    const native = await species.native();
    const ages = expected.ages.slice(0, species.file.group === "Trees" ? 1 : undefined);
    for (const age of ages) {
      const plants = [];
      for (const seed of [1, 2, 3, 4, 5]) plants.push(await measuredPlant(native, age.age_days, seed));
      const mean = meanMeasures(plants);
      for (const metric of ["height_m", "leaves", "leaf_area_m2", "base_diameter_m"] as const) {
        const [low, high] = age[metric].range;
        expect(mean[metric], `${metric} at ${age.age_days} d`).toBeGreaterThanOrEqual(low);
        expect(mean[metric], `${metric} at ${age.age_days} d`).toBeLessThanOrEqual(high);
      }
    }
  });
});
