import type {
  PlantAdvanceRequest,
  PlantSessionCreateRequest,
  PlantSessionList,
  PlantSessionStatus,
} from "../../../shared/contract/plant-session.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as meshes from "../../native/plants/mesh.ts";
import * as native from "../../native/plants/plants.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { Counted } from "../../sessions/counted.ts";
import { NativeJson } from "../../sessions/native-json.ts";
import { PlantOwner } from "../../sessions/plant-owner.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { placedPlant } from "./generate.ts";
import { checkAge, domainFailure, GROWING, grownPlant, growthBytes, runFailure, seedOr, speciesOf } from "./growth.ts";
import { builtMesh, checkJsonSize, meshFields, NO_MESH } from "./mesh.ts";

/** Starts a session. A failure is success: false; a cancel is thrown. */
export async function createPlantSession(
  request: PlantSessionCreateRequest,
  unknown_keys: readonly string[],
  deps: Deps,
  job: Job,
): Promise<object> {
  const { plant_type, initial_age } = request;
  const warnings = unknownKeyWarnings(unknown_keys);
  const common = { plant_type, available_models: null, ...(warnings.length > 0 ? { warnings } : {}) };
  try {
    const species = await speciesOf(plant_type, deps);
    checkAge(initial_age, "initial_age");
    const params = {
      age_days: initial_age,
      seed: seedOr(request.random_seed ?? null),
      base: [request.position_x, request.position_y, request.position_z] as const,
      leaf_inclination: request.leaf_inclination ?? null,
    };
    const plant = await grownPlant(species, params, deps, job);
    const placed = await placedPlant(plant, species, deps, job);
    const { height_m } = meshes.placedSummary(placed.native);
    const document = job.adopt(new ColumnRef(await job.track(() => native.plantDocument(plant.native))));
    const { age_days } = native.plantSummary(plant.native);
    job.checkpoint();
    const { id } = deps.plants.add(plant_type, new PlantOwner(plant, species, height_m));
    const sim_xml = new NativeJson(document, "text");
    return { success: true, error: null, ...common, session_id: id, current_age: age_days, height: height_m, sim_xml };
  } catch (raw) {
    const failure = domainFailure(raw, job);
    return { ...common, session_id: null, current_age: null, height: null, sim_xml: null, ...failure };
  }
}

/** Errors: invalid_argument, not_found: before the run begins. */
export function checkAdvance(id: string, { dt }: PlantAdvanceRequest, deps: Deps): void {
  deps.plants.get(id);
  if (!(dt >= 0)) throw new AppError("invalid_argument", `dt must be 0 or more days, not ${dt}`);
}

/** Grows the plant of a session on and returns its mesh. Errors: not_found; a failure keeps the plant as it was. */
export async function advanceSession(
  id: string,
  { dt }: PlantAdvanceRequest,
  unknown_keys: readonly string[],
  deps: Deps,
  job: Job,
): Promise<object> {
  const warnings = unknownKeyWarnings(unknown_keys);
  return deps.plants.use<object>(id, job, async (owner) => {
    const { age_days: previous_age } = native.plantSummary(owner.plant.native);
    const common = { session_id: id, previous_age, ...(warnings.length > 0 ? { warnings } : {}) };
    try {
      const { next, fields } = await advanced(owner, dt, deps, job);
      return { next, value: { success: true, error: null, ...common, ...fields } };
    } catch (raw) {
      const failure = runFailure(raw, job);
      return { next: null, value: { ...common, current_age: previous_age, height: null, ...NO_MESH, ...failure } };
    }
  });
}

async function advanced({ plant, species }: PlantOwner, dt: number, deps: Deps, job: Job) {
  const opened = await species.native();
  const { age_days, base, growth } = native.plantSummary(plant.native);
  if (dt > 0 && !growth) {
    throw new AppError("invalid_argument", "this plant cannot grow: its document does not say how it was grown");
  }
  const grow = async () => {
    job.stage(GROWING, 0, 0.6);
    return job.adopt(new Counted(await job.track(() => native.advancePlant(plant.native, opened, dt))));
  };
  const grown =
    dt > 0 ? await deps.admission.run(job, "Plant growth", growthBytes(opened, age_days + dt), grow) : plant;
  const placed = await placedPlant(grown, species, deps, job);
  checkJsonSize(placed);
  const mesh = await builtMesh(placed, species, base, deps, job);
  const { height_m } = meshes.placedSummary(placed.native);
  const current_age = native.plantSummary(grown.native).age_days;
  const fields = { current_age, height: height_m, ...(await meshFields(mesh, job)) };
  job.checkpoint();
  const next = dt > 0 ? new PlantOwner(grown, species, height_m) : null;
  return { next, fields };
}

/** Errors: not_found. */
export function plantSessionStatus(id: string, deps: Deps): PlantSessionStatus {
  const { plant_type, plant: owner } = deps.plants.get(id);
  const { age_days: current_age } = native.plantSummary(owner.plant.native);
  return { success: true, session_id: id, plant_type, current_age, height: owner.height_m, error: null };
}

export function plantSessionList(deps: Deps): PlantSessionList {
  const sessions = deps.plants.list().map(({ id, plant_type, created_at, plant: { plant } }) => ({
    session_id: id,
    plant_type,
    current_age: native.plantSummary(plant.native).age_days,
    created_at,
  }));
  return { success: true, sessions, count: sessions.length };
}
