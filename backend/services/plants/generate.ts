import { availableParallelism } from "node:os";
import type { LeafInclination, PlantCanopyRequest, PlantRequest } from "../../../shared/contract/plant.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_CANOPY_PLANTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as mesh from "../../native/plants/mesh.ts";
import * as native from "../../native/plants/plants.ts";
import { Counted } from "../../sessions/counted.ts";
import { PlantOwner } from "../../sessions/plant-owner.ts";
import type { Species } from "../../sessions/species-library.ts";
import { checkAge, GROWING, grownPlant, growthBytes, PACKING, seedOr, speciesOf } from "./growth.ts";
import { checkMemory } from "./memory.ts";
import type { Placed, Triple } from "./mesh.ts";

/** Plants that have grown, before they become triangles. The run owns what is native. */
export interface Grown {
  readonly species: Species;
  readonly placed: Placed;
  /** The plant, or the first one of a canopy; null if none germinated. */
  readonly first: Counted<native.NativePlant> | null;
  readonly seed: number;
  /** What the mesh is relative to, metres. */
  readonly origin: Triple;
}

interface SingleWish {
  readonly plant_type: string;
  readonly age: number;
  readonly position_x: number;
  readonly position_y: number;
  readonly position_z: number;
  readonly random_seed: number | null;
  readonly leaf_inclination: LeafInclination | null;
}

/** Memory of the placed organs of a plant, relative to that of its structure. */
const PLACED_SHARE = 1;

/** Grows one plant. Errors: not_found, invalid_argument, before anything grows. */
export async function growSingle(wish: PlantRequest | SingleWish, deps: Deps, job: Job): Promise<Grown> {
  const species = await speciesOf(wish.plant_type, deps);
  checkAge(wish.age);
  const seed = seedOr(wish.random_seed ?? null);
  const origin: Triple = [wish.position_x, wish.position_y, wish.position_z];
  const params = { age_days: wish.age, seed, base: origin, leaf_inclination: wish.leaf_inclination ?? null };
  const plant = await grownPlant(species, params, deps, job);
  return { species, placed: await placedPlant(plant, species, deps, job), first: plant, seed, origin };
}

/** Puts the organs of a plant in place; the run owns them. */
export async function placedPlant(
  plant: Counted<native.NativePlant>,
  species: Species,
  deps: Deps,
  job: Job,
): Promise<Placed> {
  const opened = await species.native();
  const { age_days } = native.plantSummary(plant.native);
  return deps.admission.run(job, "Plant geometry", PLACED_SHARE * growthBytes(opened, age_days), async () => {
    job.stage(PACKING, 0.6, 0.75);
    return job.adopt(new Counted(await job.track(() => mesh.placePlant(plant.native, opened))));
  });
}

/** Errors: invalid_argument for values with which no canopy can grow. */
export function checkCanopy(wish: PlantCanopyRequest): void {
  const { count_x, count_y, age, germination_rate } = wish;
  const refuse = (text: string): never => {
    throw new AppError("invalid_argument", text);
  };
  if (count_x <= 0 || count_y <= 0) refuse(`count_x and count_y must be above 0, not ${count_x} and ${count_y}`);
  checkAge(age);
  if (!(germination_rate >= 0 && germination_rate <= 1))
    refuse(`germination_rate must be from 0 to 1, not ${germination_rate}`);
  if (count_x * count_y > MAX_CANOPY_PLANTS)
    refuse(`${count_x} x ${count_y} plants are more than the ${MAX_CANOPY_PLANTS} that a canopy may have`);
}

/** Grows a canopy. Errors: not_found, invalid_argument, before anything grows. */
export async function growCanopy(wish: PlantCanopyRequest, deps: Deps, job: Job): Promise<Grown> {
  checkCanopy(wish);
  const species = await speciesOf(wish.plant_type, deps);
  const opened = await species.native();
  const seed = seedOr(wish.random_seed ?? null);
  const { count_x, count_y, spacing_x, spacing_y, germination_rate, age } = wish;
  const center: Triple = [wish.center_x, wish.center_y, wish.center_z];
  const plants = Math.ceil(count_x * count_y * germination_rate);
  const one = growthBytes(opened, age);
  checkMemory(`A canopy of ${plants} plants`, one + PLACED_SHARE * one * plants, "grow fewer or younger plants");
  return deps.admission.run(job, "Canopy growth", one + PLACED_SHARE * one * plants, async () => {
    const canopy = native.openCanopy(opened, {
      age_days: age,
      seed,
      leaf_inclination: wish.leaf_inclination ?? null,
      center,
      spacing: [spacing_x, spacing_y],
      count: [count_x, count_y],
      germination_rate,
    });
    const placed = job.adopt(new Counted(canopy.placed));
    return { species, placed, first: await grownCanopy(canopy, job), seed, origin: center };
  });
}

/** Plants that one native job grows: few, so that all threads end together, but several of a large canopy. */
const partSize = (plants: number, threads: number): number =>
  Math.max(1, Math.min(32, Math.floor(plants / (4 * threads))));

/** Grows all plants on all cores; returns the first one, which the run owns. */
async function grownCanopy(canopy: native.NativeCanopy, job: Job): Promise<Grown["first"]> {
  job.stage(GROWING, 0, 0.6);
  const { plant_count } = canopy;
  const threads = Math.min(availableParallelism(), plant_count);
  const part = partSize(plant_count, threads);
  let first: Grown["first"] = null;
  let next = 0;
  let done = 0;
  const stop = (error: unknown): never => {
    next = plant_count; // the other threads end with their part
    throw error;
  };
  const work = async () => {
    const quiet = job.quiet(1);
    while (next < plant_count) {
      const begin = next;
      const count = Math.min(part, plant_count - begin);
      next += count;
      const plant = await quiet.track(() => canopy.grow(begin, count));
      if (plant) first = job.adopt(new Counted(plant));
      done += count;
      job.advance(done / plant_count);
    }
  };
  await Promise.all(Array.from({ length: threads }, () => work().catch(stop)));
  return first;
}

/** Keeps the plant of a run in a session: the last step of the run. */
export function retained({ species, first, placed }: Grown, deps: Deps, job: Job): string {
  if (!first) throw new AppError("internal", "there is no plant to keep");
  job.checkpoint();
  const { height_m } = mesh.placedSummary(placed.native);
  return deps.plants.add(species.file.id, new PlantOwner(first, species, height_m)).id;
}
