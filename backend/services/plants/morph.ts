import type { BulkColumn } from "../../../shared/contract/bulk-list.ts";
import type { MorphParseRequest, MorphRequest } from "../../../shared/contract/plant-morph.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { addon } from "../../native/core/addon.ts";
import * as meshes from "../../native/plants/mesh.ts";
import { morphPlant, plantTables } from "../../native/plants/morph.ts";
import * as native from "../../native/plants/plants.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { Counted } from "../../sessions/counted.ts";
import { ListColumn } from "../../sessions/list-column.ts";
import { NativeJson } from "../../sessions/native-json.ts";
import { PlantOwner } from "../../sessions/plant-owner.ts";
import type { Species } from "../../sessions/species-library.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { type ParsedEdit, parseExpression } from "./expression.ts";
import { placedPlant } from "./generate.ts";
import { GROWING, runFailure, speciesOf } from "./growth.ts";
import { builtMesh, checkJsonSize, meshFields, NO_MESH } from "./mesh.ts";
import { resolveEdits } from "./morph-edits.ts";
import { distributionParams, sliders } from "./parameters.ts";

/** Memory for reading a structure document, per byte of it: its text twice, the index of its elements, the structure. */
const BYTES_PER_TEXT_BYTE = 8;

/** A document as a native column (u8); the run owns it. */
function textColumn(text: string | BulkColumn, job: Job): ColumnRef {
  if (typeof text === "string") return job.adopt(new ColumnRef(new addon.Column("u8", Buffer.from(text))));
  if (text instanceof ListColumn && text.ref) return job.adopt(text.ref.retain());
  throw new AppError("internal", "the document is not a text");
}

/** Reads a structure document into editable values. A failure is success: false; a cancel is thrown. */
export async function parseMorph(
  { sim_xml, plant_type, expression }: MorphParseRequest,
  unknown_keys: readonly string[],
  deps: Deps,
  job: Job,
): Promise<object> {
  const warnings = [...unknownKeyWarnings(unknown_keys)];
  const species = await deps.species.find(plant_type);
  const known = {
    plant_type,
    distribution_params: species ? distributionParams(species.file) : {},
    sliders: species ? sliders(species.file) : [],
  };
  try {
    const text = textColumn(sim_xml, job);
    const edits = expression ? parseExpression(expression) : [];
    if (species) warnings.push(...resolveEdits(edits, species.file).warnings);
    else warnings.push(`Unknown plant type "${plant_type.slice(0, 64)}": the parameters of its species are not known.`);
    return await deps.admission.run(job, "Structure document", BYTES_PER_TEXT_BYTE * text.length, async () => {
      job.adopt(new Counted(await job.track(() => native.readPlantDocument(text.native)))); // refuses wrong values
      const tables = await job.track(() => plantTables(text.native));
      const shoots = job.adopt(new ColumnRef(tables.shoots));
      return {
        success: true,
        error: null,
        ...known,
        plant_age: Number(tables.plant_age),
        base_position: tables.base_position,
        shoots: new NativeJson(shoots, "json"),
        edits: edits.map(({ shoot_type, param, op, value }) => ({ shoot_type, param, op, value })),
        ...(warnings.length > 0 ? { warnings } : {}),
      };
    });
  } catch (raw) {
    const failure = runFailure(raw, job);
    return { ...known, plant_age: null, base_position: null, shoots: [], edits: [], ...failure };
  }
}

/** Rebuilds a plant from an edited document and keeps it in a session. A failure is success: false. */
export async function morphed(
  { sim_xml, plant_type, expression }: MorphRequest,
  unknown_keys: readonly string[],
  deps: Deps,
  job: Job,
): Promise<object> {
  const warnings = [...unknownKeyWarnings(unknown_keys)];
  try {
    const species = await speciesOf(plant_type, deps);
    const text = textColumn(sim_xml, job);
    const parsed = expression ? parseExpression(expression) : [];
    const plant = await edited(text, parsed, species, deps, job, warnings);
    const placed = await placedPlant(plant, species, deps, job);
    checkJsonSize(placed);
    const { age_days: current_age, base } = native.plantSummary(plant.native);
    const mesh = await builtMesh(placed, species, base, deps, job);
    const document = job.adopt(new ColumnRef(await job.track(() => native.plantDocument(plant.native))));
    const { height_m } = meshes.placedSummary(placed.native);
    const fields = await meshFields(mesh, job);
    job.checkpoint();
    const { id } = deps.plants.add(plant_type, new PlantOwner(plant, species, height_m));
    return {
      success: true,
      error: null,
      session_id: id,
      current_age,
      height: height_m,
      ...fields,
      sim_xml: new NativeJson(document, "text"),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  } catch (raw) {
    const failure = runFailure(raw, job);
    const input = typeof sim_xml === "string" ? sim_xml : null;
    return { session_id: null, current_age: null, height: null, ...NO_MESH, sim_xml: input, ...failure };
  }
}

async function edited(
  text: ColumnRef,
  parsed: readonly ParsedEdit[],
  species: Species,
  deps: Deps,
  job: Job,
  warnings: string[],
): Promise<Counted<native.NativePlant>> {
  const { edits, warnings: left_out } = resolveEdits(parsed, species.file);
  warnings.push(...left_out);
  return deps.admission.run(job, "Structure document", BYTES_PER_TEXT_BYTE * text.length, async () => {
    job.stage(GROWING, 0, 0.6);
    const read = job.adopt(new Counted(await job.track(() => native.readPlantDocument(text.native))));
    if (edits.length === 0) return read;
    const { plant, unused } = await job.track(() => morphPlant(read.native, edits));
    const types = new Set(unused.map((i) => edits[i]?.shoot_type ?? ""));
    const whole = (type: string) => parsed.some(({ shoot_type }) => shoot_type === type);
    for (const type of types) if (whole(type)) warnings.push(`The plant has no shoot of the type "${type}".`);
    return job.adopt(new Counted(plant));
  });
}
