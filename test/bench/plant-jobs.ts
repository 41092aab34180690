// Plants through the running service: request to last byte of the frame.
import { growPlant, type NativeSpecies, plantSummary } from "../../backend/native/plants/plants.ts";
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import { metaOf, postForFrame } from "./frame-client.ts";
import type { ProcessFigures } from "./native.ts";
import { usageOf } from "./process.ts";
import { type Service, withService } from "./service.ts";
import { used } from "./service-jobs.ts";
import { now, sleep } from "./stage-clock.ts";

/** A build of one plant or canopy. */
export interface PlantWish {
  readonly path: "/api/plant/generate" | "/api/plant/canopy/generate";
  readonly request: Readonly<Record<string, unknown>>;
  /** Requests of which the median is taken, after one that is not counted. */
  readonly repeats: number;
}

export interface PlantFigures extends ProcessFigures {
  /** Triangles of the mesh, or those that the instances stand for. */
  readonly count: number;
  readonly answer_ms: number;
  readonly frame_mib: number;
}

/** Median time of an answer, in a service of its own. */
export const plantAnswers = ({ path, request, repeats }: PlantWish): Promise<PlantFigures> =>
  withService((service) =>
    used(service, async () => {
      await framed(service, path, request);
      const answers = [];
      for (let i = 0; i < repeats; i += 1) answers.push(await framed(service, path, request));
      return middle(answers);
    }),
  );

/** Time of the first plant after a start; the client, which has a cold start of its own, has had one answer. */
export const firstPlant = (request: PlantWish["request"]): Promise<PlantFigures> =>
  withService((service) =>
    used(service, async () => {
      await postForFrame(`${service.url}/api/plant/no-such-route`, "{}"); // grows nothing
      return framed(service, "/api/plant/generate", request);
    }),
  );

/** Sessions that rest side by side: what one answer leaves behind in the process does not count four times. */
const RESTING = 4;

/** Memory that resting sessions of plants hold, per triangle of their meshes. */
export const restingPlants = (request: PlantWish["request"]) =>
  withService((service) =>
    used(service, async () => {
      await framed(service, "/api/plant/generate", { plant_type: "bean", random_seed: 1 }); // what every plant needs
      const before = await restingMib(service);
      let count = 0;
      for (let random_seed = 1; random_seed <= RESTING; random_seed += 1)
        count += (await framed(service, "/api/plant/generate", { ...request, random_seed })).count;
      const after = await restingMib(service);
      return { count, bytes_per_triangle: ((after - before) * 2 ** 20) / count };
    }),
  );

const GROWTHS = 15;

/** CPU time of growth to an age per node that the plant has then, microseconds; median. */
async function growthUs(species: NativeSpecies, age_days: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < GROWTHS; i += 1) {
    const before = process.cpuUsage();
    const growth = { age_days, seed: 1, base: [0, 0, 0] as const, leaf_inclination: null };
    const plant = await growPlant(species, growth).promise;
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / plantSummary(plant).phytomer_count);
    plant.release();
  }
  return times.sort((a, b) => a - b)[Math.floor(GROWTHS / 2)] ?? Number.NaN;
}

/** Time per node of a young plant and of one of the largest age, which has many times as many. */
export async function growthWithAge(id: string) {
  const species = await new SpeciesLibrary().find(id);
  if (!species) throw new Error(`no species ${id}`);
  const native = await species.native();
  const young_us = await growthUs(native, 0.4 * species.file.max_age_days);
  const old_us = await growthUs(native, species.file.max_age_days);
  return { young_us, old_us, ratio: old_us / young_us };
}

/** Memory of the service once buffers of the last answer are gone. */
async function restingMib(service: Service): Promise<number> {
  await sleep(2000);
  return usageOf(service.pid).anon_mib;
}

interface Answered {
  readonly count: number;
  readonly answer_ms: number;
  readonly frame_mib: number;
}

/** One build, timed from the request to the last byte. */
async function framed(service: Service, path: string, request: object): Promise<Answered> {
  const body = JSON.stringify({ random_seed: 1, ...request });
  const started = now();
  const { head, length } = await postForFrame(service.url + path, body);
  const answer_ms = (now() - started) * 1000;
  const { count, at } = read(head);
  return { count, answer_ms, frame_mib: (length - at) / 2 ** 20 };
}

/** Triangles of a frame, and where it begins, after its markers. Errors: the build failed. */
function read(body: Buffer): { count: number; at: number } {
  const { meta, at } = metaOf(body);
  const { success, error, triangle_count, expanded_triangle_count } = meta;
  if (success !== true) throw new Error(`the build failed: ${String(error)}`);
  return { count: Number(expanded_triangle_count ?? triangle_count), at };
}

function middle(answers: readonly Answered[]): Answered {
  const sorted = [...answers].sort((a, b) => a.answer_ms - b.answer_ms);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (!found) throw new Error("no answers");
  return found;
}
