import type { Client, RunProgress } from "../../../shared/client/index.ts";
import type { PlantModelsResponse } from "../../../shared/contract/plant.ts";
import type { PlantFrameMeta } from "../../../shared/contract/plant-frame.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { decodePng } from "../drawing/framed-picture.ts";
import { nearestName } from "../edit-distance.ts";
import { type MeshTexture, NO_TEXTURE, type TexturedMesh } from "../meshes/textured.ts";
import type { PlantOptions } from "./options.ts";

export type Species = PlantModelsResponse["details"][number];

/** A plant or canopy with the answer of the service. */
export interface GrownPlant {
  readonly species: Species;
  readonly mesh: TexturedMesh;
  readonly meta: PlantFrameMeta;
}

interface Call {
  readonly signal: AbortSignal;
  readonly onProgress: (step: RunProgress) => void;
}

/** Most triangles that are written: up to 150 bytes each in the service, in the answer and in the file, all in memory. */
const MOST_TRIANGLES = 4_000_000;

/** Errors: invalid_argument for an unknown species, with the nearest one, or all. */
export async function knownSpecies(client: Client, id: string, signal: AbortSignal): Promise<Species> {
  const { details } = await client.plantModels({ signal });
  const species = details.find((model) => model.id === id);
  if (species) return species;
  const ids = details.map((model) => model.id);
  const nearest = nearestName(id, ids);
  const hint = nearest ? `did you mean "${nearest}"? ` : "";
  throw new AppError(
    "invalid_argument",
    `<species> "${id.slice(0, 64)}" is unknown; ${hint}The species are ${ids.join(", ")}`,
  );
}

/** Grows what the options describe. Errors: those of the client; invalid_argument if there is nothing to write, or too much. */
export async function grownPlant(
  client: Client,
  species: Species,
  { age, seed, canopy }: PlantOptions,
  call: Call,
): Promise<GrownPlant> {
  const plant = { plant_type: species.id, age, random_seed: seed };
  const [count_x, count_y] = canopy?.count ?? [1, 1];
  const [spacing_x, spacing_y] = canopy?.spacing ?? [0, 0];
  if (canopy) {
    // What one of its plants has, before a canopy grows that no memory holds.
    const one = await client.generatePlant({ ...plant, instances: true }, { signal: call.signal });
    checkSize((one.meta.expanded_triangle_count ?? 0) * count_x * count_y, "--canopy or --age");
  }
  const { meta, buffers } = canopy
    ? await client.generateCanopy({ ...plant, count_x, count_y, spacing_x, spacing_y }, call)
    : await client.generatePlant(plant, call);
  if (meta.triangle_count === 0)
    throw new AppError(
      "invalid_argument",
      `${species.id} has nothing above the ground at --age ${age}; use a larger one`,
    );
  checkSize(meta.triangle_count, canopy ? "--canopy or --age" : "--age");
  return { species, mesh: plantMesh(meta, buffers), meta };
}

/** Errors: invalid_argument for more triangles than are written. */
function checkSize(triangles: number, options: string): void {
  if (triangles <= MOST_TRIANGLES) return;
  throw new AppError(
    "invalid_argument",
    `${triangles} triangles are more than the ${MOST_TRIANGLES} that are written; use a smaller ${options}`,
  );
}

type Buffers = ReadonlyMap<string, Float32Array | Uint32Array>;

function plantMesh(meta: PlantFrameMeta, buffers: Buffers): TexturedMesh {
  const floats = (name: string) => present(buffers, name, Float32Array);
  const counts = (name: string) => present(buffers, name, Uint32Array);
  const textures = (meta.materials ?? []).map(({ name, texture_name }) => meshTexture(meta, name, texture_name));
  const hasTextures = buffers.has("triangle_materials");
  const triangle_texture = hasTextures ? counts("triangle_materials") : null;
  if (triangle_texture?.some((index) => index !== NO_TEXTURE && index >= textures.length))
    throw new Error("the answer has triangles of a texture that it does not have");
  return {
    origin: (meta.origin ?? [0, 0, 0]) as Triple,
    vertices: floats("vertices"),
    indices: counts("indices"),
    normals: floats("normals"),
    colors: floats("colors"),
    uvs: hasTextures ? floats("uv_coordinates") : null,
    triangle_texture,
    textures,
    organ_codes: counts("organ_codes"),
  };
}

function present<T extends Float32Array | Uint32Array>(buffers: Buffers, name: string, type: new () => T): T {
  const values = buffers.get(name);
  if (!(values instanceof type)) throw new Error(`the answer has no ${name}`);
  return values;
}

function meshTexture({ textures }: PlantFrameMeta, name: string, file: string | null): MeshTexture {
  const text = file === null ? undefined : textures?.[file];
  if (text === undefined) throw new Error(`the answer has no image of the material ${name}`);
  const png = new Uint8Array(Buffer.from(text, "base64"));
  return { name: name.replaceAll(/[^A-Za-z0-9._-]/g, "_"), png, picture: decodePng(png) };
}
