import { randomInt } from "node:crypto";
import { AppError, type ErrorCode } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { GrowthParams, NativePlant, NativeSpecies } from "../../native/plants/plants.ts";
import * as native from "../../native/plants/plants.ts";
import { Counted } from "../../sessions/counted.ts";
import type { Species } from "../../sessions/species-library.ts";

/** Progress labels of the contract; clients show them. */
export const GROWING = "Growing plants...";
export const PACKING = "Packing geometry...";
export const FINALIZING = "Finalizing...";

/** Seeds that are drawn for requests without one; every one is exact in JSON. */
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

/** Memory for the structure of one plant of that age. */
export const growthBytes = (species: NativeSpecies, age_days: number): number =>
  native.plantCost(species, age_days).structure_bytes;

/** Grows one plant; the run owns it. */
export async function grownPlant(
  species: Species,
  params: GrowthParams,
  deps: Deps,
  job: Job,
): Promise<Counted<NativePlant>> {
  const opened = await species.native();
  return deps.admission.run(job, "Plant growth", growthBytes(opened, params.age_days), async () => {
    job.stage(GROWING, 0, 0.6);
    return job.adopt(new Counted(await job.track(() => native.growPlant(opened, params))));
  });
}

/** Why a computation gives no result although the request has the right shape. */
export interface DomainFailure {
  readonly success: false;
  readonly error: string;
  readonly code: ErrorCode;
  readonly available_models: string[] | null;
}

/** These have a status of their own, not success: false. */
const SERVICE_FAULTS: ReadonlySet<ErrorCode> = new Set(["internal", "out_of_memory", "no_space", "io", "canceled"]);

/** The failure that a response reports with success: false. Errors: faults of the service, and a cancel. */
export function domainFailure(raw: unknown, job: Job): DomainFailure {
  const error = fromNative(raw);
  if (job.canceled || SERVICE_FAULTS.has(error.code)) throw error;
  const listed = error.details?.available_models;
  const available_models = Array.isArray(listed) ? (listed as string[]) : null;
  return { success: false, error: error.message, code: error.code, available_models };
}

/** The same for responses that report every failure with success: false. Errors: a cancel. */
export function runFailure(raw: unknown, job: Job): Omit<DomainFailure, "available_models"> {
  const error = fromNative(raw);
  if (job.canceled || error.code === "canceled") throw error;
  return { success: false, error: error.message, code: error.code };
}
