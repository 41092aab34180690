import type { PlantCanopyRequest, PlantRequest } from "../../../shared/contract/plant.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as meshes from "../../native/plants/mesh.ts";
import * as native from "../../native/plants/plants.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { NativeJson } from "../../sessions/native-json.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { type Grown, growCanopy, growSingle, retained } from "./generate.ts";
import { domainFailure, FINALIZING } from "./growth.ts";
import { builtMesh, checkJsonSize, meshFields, NO_MESH } from "./mesh.ts";

const NOT_A_CANOPY = { plant_count: null, count_x: null, count_y: null, spacing_x: null, spacing_y: null };
const NO_GERMINATION =
  "No plant germinated, so there is nothing to build; use a higher germination_rate, more plants or another seed";

/** Which endpoint asks: the streamed one reports the age reached, and errors by its own event. */
export interface Asked {
  readonly unknown_keys: readonly string[];
  readonly streamed: boolean;
}

/** One plant as a JSON response; its session is kept. */
export async function singlePlant(request: PlantRequest, asked: Asked, deps: Deps, job: Job): Promise<object> {
  return answered(request, asked, job, NOT_A_CANOPY, async () => {
    const grown = await growSingle(request, deps, job);
    const fields = await jsonMesh(grown, deps, job);
    const age = asked.streamed ? { age: fields.age_reached } : {};
    return { ...fields, ...NOT_A_CANOPY, ...age, session_id: retained(grown, deps, job) };
  });
}

/** A canopy as a JSON response. */
export async function canopy(request: PlantCanopyRequest, asked: Asked, deps: Deps, job: Job): Promise<object> {
  const echo = canopyEcho(request);
  return answered(request, asked, job, echo, async () => {
    const grown = await growCanopy(request, deps, job);
    const { plant_count } = meshes.placedSummary(grown.placed.native);
    if (plant_count === 0)
      return { success: false, error: NO_GERMINATION, code: "invalid_argument", ...NO_PLANT, ...echo, plant_count };
    return { ...(await jsonMesh(grown, deps, job)), ...echo, plant_count, session_id: null };
  });
}

export const canopyEcho = ({ count_x, count_y, spacing_x, spacing_y }: PlantCanopyRequest) => ({
  plant_count: null,
  count_x,
  count_y,
  spacing_x,
  spacing_y,
});

const NO_PLANT = {
  ...NO_MESH,
  age_reached: null,
  height: null,
  sim_xml: null,
  session_id: null,
  random_seed: null,
};

async function answered(
  { plant_type, age }: { readonly plant_type: string; readonly age: number },
  { unknown_keys, streamed }: Asked,
  job: Job,
  echo: object,
  body: () => Promise<object>,
): Promise<object> {
  const warned = unknownKeyWarnings(unknown_keys);
  const common = { plant_type, age, available_models: null, ...(warned.length > 0 ? { warnings: warned } : {}) };
  try {
    return { success: true, error: null, ...common, ...(await body()) };
  } catch (raw) {
    if (streamed) throw raw; // its own event
    return { ...common, ...NO_PLANT, ...echo, ...domainFailure(raw, job) };
  }
}

/** Mesh, document and measures of grown plants. */
async function jsonMesh(grown: Grown, deps: Deps, job: Job) {
  checkJsonSize(grown.placed);
  const mesh = await builtMesh(grown.placed, grown.species, grown.origin, deps, job);
  const measures = await measured(grown, job);
  return { ...(await meshFields(mesh, job)), ...measures.fields, sim_xml: new NativeJson(measures.document, "text") };
}

/** Structure document and measures; the end of every run that builds plants. */
export async function measured({ first, placed, seed }: Grown, job: Job) {
  if (!first) throw new Error("measures of no plant");
  job.stage(FINALIZING, 0.97, 1);
  const document = job.adopt(new ColumnRef(await job.track(() => native.plantDocument(first.native))));
  const { age_days } = native.plantSummary(first.native);
  const { height_m } = meshes.placedSummary(placed.native);
  job.advance(1);
  return { document, fields: { age_reached: age_days, height: height_m, random_seed: seed } };
}
