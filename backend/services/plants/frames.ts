import type { PlantCanopyRequest, PlantRequest } from "../../../shared/contract/plant.ts";
import { AppError } from "../../../shared/errors.ts";
import type { FrameDtype } from "../../../shared/wire/phb1.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as meshes from "../../native/plants/mesh.ts";
import * as native from "../../native/plants/plants.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { Counted } from "../../sessions/counted.ts";
import { PlantMeshArray } from "../../sessions/plant-mesh-array.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { canopyEcho } from "./answers.ts";
import { type Grown, growCanopy, growSingle, retained } from "./generate.ts";
import { domainFailure, FINALIZING, PACKING } from "./growth.ts";
import { checkMemory } from "./memory.ts";
import { type Appearance, adopted, appearanceOf, type MeshColumns } from "./mesh.ts";

interface FrameBuffer {
  readonly dtype: FrameDtype;
  readonly length: number;
  readonly data: ColumnRef | PlantMeshArray;
}
type Buffers = Readonly<Record<string, FrameBuffer>>;

export interface PlantFrame {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly buffers: Buffers;
}

/** One plant as a frame; its session is kept. A failure is reported in the meta; a cancel is thrown. */
export function singleFrame(request: PlantRequest, unknown: readonly string[], deps: Deps, job: Job) {
  return framed(request, unknown, job, {}, async () => {
    const grown = await growSingle(request, deps, job);
    const frame = await plantFrame(grown, request.instances, deps, job);
    return { ...frame, meta: { ...frame.meta, session_id: retained(grown, deps, job) } };
  });
}

/** A canopy as a frame. */
export function canopyFrame(request: PlantCanopyRequest, unknown: readonly string[], deps: Deps, job: Job) {
  const echo = canopyEcho(request);
  return framed(request, unknown, job, echo, async () => {
    const grown = await growCanopy(request, deps, job);
    const { plant_count } = meshes.placedSummary(grown.placed.native);
    if (plant_count === 0) {
      const error = "No plant germinated, so there is nothing to build; use a higher germination_rate";
      return {
        meta: { ...NOTHING, success: false, error, code: "invalid_argument", ...echo, plant_count },
        buffers: {},
      };
    }
    const frame = await plantFrame(grown, request.instances, deps, job);
    return { ...frame, meta: { ...frame.meta, ...echo, plant_count } };
  });
}

const NOTHING = { vertex_count: 0, triangle_count: 0, session_id: null };

async function framed(
  { plant_type, age }: { readonly plant_type: string; readonly age: number },
  unknown_keys: readonly string[],
  job: Job,
  echo: object,
  body: () => Promise<PlantFrame>,
): Promise<PlantFrame> {
  const warnings = unknownKeyWarnings(unknown_keys);
  const common = { success: true, error: null, plant_type, age, ...(warnings.length > 0 ? { warnings } : {}) };
  try {
    const { meta, buffers } = await body();
    return { meta: { ...common, available_models: null, session_id: null, ...meta }, buffers };
  } catch (raw) {
    const failure = domainFailure(raw, job);
    return { meta: { ...common, ...NOTHING, ...echo, ...failure }, buffers: {} };
  }
}

async function plantFrame(grown: Grown, instances: boolean, deps: Deps, job: Job): Promise<PlantFrame> {
  const { buffers, meta } = instances ? await instanced(grown, deps, job) : await expanded(grown, job);
  const { document, fields } = await documented(grown, job);
  return { meta: { ...fields, origin: [...grown.origin], ...meta }, buffers: { ...buffers, sim_xml: document } };
}

/** Structure document, padded with blanks to whole words, and measures. */
async function documented({ first, placed, seed }: Grown, job: Job) {
  if (!first) throw new AppError("internal", "a frame of no plant");
  job.stage(FINALIZING, 0.97, 1);
  const text = job.adopt(new ColumnRef(await job.track(() => native.plantDocument(first.native, 4))));
  const { age_days } = native.plantSummary(first.native);
  const { height_m, leaf_area_m2, wood_volume_m3 } = meshes.placedSummary(placed.native);
  job.advance(1);
  return {
    document: { dtype: "u32" as const, length: text.length / 4, data: text },
    fields: { age_reached: age_days, height: height_m, random_seed: seed, leaf_area_m2, wood_volume_m3 },
  };
}

/** The triangles are computed while they are sent: the mesh is never in memory. */
async function expanded({ placed, species, origin }: Grown, job: Job): Promise<PlantFrame> {
  const { triangle_count } = meshes.placedSummary(placed.native);
  job.stage(PACKING, 0.75, 0.95);
  const mesh = job.adopt(new Counted(await job.track(() => meshes.openPlantMesh(placed.native, origin))));
  const array = (field: meshes.PlantMeshField, perTriangle: number) =>
    new PlantMeshArray(mesh, field, perTriangle * triangle_count);
  const arrays = {
    vertices: array("vertices", 9),
    normals: array("normals", 9),
    colors: array("colors", 9),
    uvs: array("uvs", 6),
    indices: array("indices", 3),
    triangle_material: array("triangle_material", 1),
    organ_codes: array("organ_codes", 1),
  };
  const appearance = await appearanceOf(mesh.native, species);
  return {
    meta: { vertex_count: 3 * triangle_count, triangle_count, ...looks(appearance) },
    buffers: meshBuffers(arrays, appearance),
  };
}

const looks = ({ materials, textures }: Appearance) => ({
  materials,
  textures: textures && Object.fromEntries(Object.entries(textures).map(([file, { bytes }]) => [file, base64(bytes)])),
  material_groups: null,
});
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

const buffer = (data: FrameBuffer["data"], dtype: FrameDtype): FrameBuffer => ({ dtype, length: data.length, data });

/** `columns` of a mesh, or what computes them. */
function meshBuffers(
  columns: { readonly [Name in keyof MeshColumns]: MeshColumns[Name] | PlantMeshArray },
  { materials }: Appearance,
  prefix = "",
): Buffers {
  const named = Object.entries({
    vertices: buffer(columns.vertices, "f32"),
    indices: buffer(columns.indices, "u32"),
    normals: buffer(columns.normals, "f32"),
    colors: buffer(columns.colors, "f32"),
    ...(materials && columns.uvs ? { uv_coordinates: buffer(columns.uvs, "f32") } : {}),
    ...(materials ? { triangle_materials: buffer(columns.triangle_material, "u32") } : {}),
    organ_codes: buffer(columns.organ_codes, "u32"),
  });
  return Object.fromEntries(named.map(([name, data]) => [prefix + name, data]));
}

/** Every organ and every segment of a tube as a reference to its prototype. */
async function instanced({ placed, species, origin }: Grown, deps: Deps, job: Job): Promise<PlantFrame> {
  const { instance_count, instance_bytes, triangle_count } = meshes.placedSummary(placed.native);
  checkMemory(`${instance_count} instances`, instance_bytes, "request fewer or younger plants");
  return deps.admission.run(job, "Plant instances", instance_bytes, async () => {
    job.stage(PACKING, 0.75, 0.95);
    const found = await job.track(() => meshes.instancePlants(placed.native, origin));
    const own = (column: ColumnRef["native"]) => job.adopt(new ColumnRef(column));
    const shapes = adopted(found.prototypes, job);
    const appearance = await appearanceOf(found.prototypes, species);
    return {
      meta: {
        vertex_count: 0,
        triangle_count: 0,
        expanded_triangle_count: triangle_count,
        instance_count,
        prototype_names: found.prototype_names,
        prototype_first_triangle: found.prototype_firsts,
        ...looks(appearance),
      },
      buffers: {
        ...meshBuffers(shapes, appearance, "prototype_"),
        instance_prototype: buffer(own(found.instance_prototype), "u32"),
        instance_plant: buffer(own(found.instance_plant), "u32"),
        instance_matrix: buffer(own(found.instance_matrix), "f32"),
      },
    };
  });
}

/** Errors: invalid_argument for instances in a JSON response. */
export function checkInstances({ instances }: { readonly instances: boolean }): void {
  if (!instances) return;
  throw new AppError("invalid_argument", "instances are sent in frames only: add Accept: application/octet-stream");
}
