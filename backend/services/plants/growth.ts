import { randomInt } from "node:crypto";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { GrowthParams, NativePlant, NativeSpecies } from "../../native/plants/plants.ts";
import * as native from "../../native/plants/plants.ts";
import type { PlantOwner } from "../../sessions/plant-owner.ts";
import type { Species } from "../../sessions/species-library.ts";

/** Progress labels of the contract; clients show them. */
export const GROWING = "Growing plants...";
export const PACKING = "Packing geometry...";
export const FINALIZING = "Finalizing...";

/** Largest seed that is drawn for requests without one; every one is exact in JSON. */
const SEEDS = 2 ** 47;

export const seedOr = (given: number | null): number => given ?? randomInt(SEEDS);

/** Errors: not_found, with the known species in `details.available_models`. */
export async function speciesOf(plant_type: string, deps: Deps): Promise<Species> {
  const species = await deps.species.find(plant_type);
  if (species) return species;
  const available_models = (await deps.species.list()).species.map(({ file }) => file.id);
  const shown = plant_type.slice(0, 64);
  throw new AppError("not_found", `Unknown plant type "${shown}"; available: ${available_models.join(", ")}`, {
    available_models,
  });
}

/** Errors: invalid_argument for a negative age. */
export function checkAge(age: number, name = "age"): void {
  if (!(age >= 0)) throw new AppError("invalid_argument", `${name} must be 0 or more days, not ${age}`);
}

/** Growing to an age needs this memory, for one plant. */
export const growthBytes = (species: NativeSpecies, age_days: number): number =>
  native.plantCost(species, age_days).structure_bytes;

/** Grows one plant; the run owns it. */
export async function grownPlant(species: Species, params: GrowthParams, deps: Deps, job: Job): Promise<NativePlant> {
  const opened = await species.native();
  job.checkpoint();
  const grow = async () => {
    job.stage(GROWING, 0, 0.6);
    return job.adopt(await job.track(() => native.growPlant(opened, params)));
  };
  return deps.admission.run(job, "Plant growth", growthBytes(opened, params.age_days), grow);
}

/** The plant as a session keeps it: its own handle of the structure, which the end of the run does not release. */
export const keptPlant = (plant: NativePlant, species: Species): PlantOwner => ({
  plant,
  species,
  release: () => plant.release(),
});
