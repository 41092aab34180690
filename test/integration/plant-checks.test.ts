import { describe, expect, test } from "vitest";
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import { SPECIES_IDS } from "../../shared/contract/plant-species-file.ts";
import { DEEPEST_M, otherPlants, STEERED, soundPlant, steeredBlades } from "../support/plants/species-checks.ts";

/* Young plants; `npm run accuracy -- plants` checks every species from its first day to its last. */

const library = new SpeciesLibrary();

async function speciesOf(id: string) {
  const species = await library.find(id);
  if (!species?.file.expected) throw new Error(`no species ${id}`);
  const [first, second] = species.file.expected.ages.map(({ age_days }) => age_days);
  if (first === undefined || second === undefined) throw new Error(`${id} has no ages`);
  // An espalier has no leaves at its first age.
  return { species, young: id === "apple_fruitingwall" ? second : first };
}

describe.each(SPECIES_IDS)("%s", (id) => {
  test("closed tubes, no flat triangle, no NaN, nothing underground; leaf area and wood are those of the document", async () => {
    const { species, young } = await speciesOf(id);
    for (const age of [0, young]) {
      const plant = await soundPlant(species, age);
      expect(plant).toMatchObject({ not_finite: 0, flat: 0, wrong_normals: 0, open_edges: 0 });
      expect(plant.low_m).toBeGreaterThan(-DEEPEST_M);
      expect(Math.abs(plant.leaf_area_ratio - 1)).toBeLessThan(0.01);
      expect(Math.abs(plant.wood_volume_ratio - 1)).toBeLessThan(0.01);
      if (age === young) expect(plant.blade_area_m2).toBeGreaterThan(0);
    }
  });

  test("in steps, read back, on one thread and two: always the same plant", async () => {
    const { species, young } = await speciesOf(id);
    expect(await otherPlants(species, young, [1, 30])).toEqual([]);
  });

  test("the blades of 20 seeds follow a Beta law", async () => {
    const { species, young } = await speciesOf(id);
    const { blades, mean_deg, ks_p } = await steeredBlades(species, young, 20);
    expect(blades).toBeGreaterThanOrEqual(100);
    expect(ks_p).toBeGreaterThan(0.05);
    expect(Math.abs(mean_deg - STEERED.mean_deg)).toBeLessThan(1);
  });
});
