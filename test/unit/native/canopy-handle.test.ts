// What a canopy holds is freed by its handle, not by the garbage collector.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCanopy, openPlantSpecies } from "../../../backend/native/plants/plants.ts";
import { SpeciesFile } from "../../../shared/contract/plant-species-file.ts";
import { eventually } from "../../support/run/stopwatch.ts";

/** null: the canopy is gone. */
function grown<T>(grow: () => T): T | null {
  try {
    return grow();
  } catch (error) {
    expect((error as Error).message).toBe("the canopy was already released");
    return null;
  }
}

test("the plants of a canopy are gone once its handle is released", async () => {
  const path = join(import.meta.dirname, "../../../resources/species/bean.json");
  const file = SpeciesFile.parse(JSON.parse(readFileSync(path, "utf8")));
  const species = await openPlantSpecies(file, file.shapes).promise;
  const canopy = openCanopy(species, {
    age_days: 10,
    seed: 1,
    leaf_inclination: null,
    center: [0, 0, 0],
    spacing: [0.5, 0.5],
    count: [2, 1],
    germination_rate: 1,
  });
  const growing = canopy.grow(0, 1).promise;
  canopy.placed.release();
  const first = await growing; // a part that grows keeps the plants until it ends
  expect(first).not.toBeNull();
  await eventually(async () => {
    const more = grown(() => canopy.grow(1, 1)); // the part that has ended gives the plants back a moment later
    if (more !== null) (await more.promise)?.release();
    expect(more).toBeNull();
  });
  first?.release();
  species.release();
});
