import type { MaterialGroup, MeshMaterial } from "../../../shared/contract/mesh.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_PLANT_TRIANGLES } from "../../../shared/limits.ts";
import type { Base64Bytes } from "../../../shared/wire/json-values.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { groupTriangles } from "../../native/files/mesh.ts";
import * as native from "../../native/plants/mesh.ts";
import type { NativePlacedPlants } from "../../native/plants/plants.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { Counted } from "../../sessions/counted.ts";
import { NativeJson } from "../../sessions/native-json.ts";
import type { Species } from "../../sessions/species-library.ts";
import { PACKING } from "./growth.ts";
import { checkMemory } from "./memory.ts";
import { leafTextures } from "./textures.ts";

export type Triple = readonly [number, number, number];
export type Placed = Counted<NativePlacedPlants>;

/** Columns of a mesh; the run owns them. */
export interface MeshColumns {
  readonly vertices: ColumnRef;
  readonly normals: ColumnRef;
  readonly colors: ColumnRef;
  readonly uvs: ColumnRef | null;
  readonly indices: ColumnRef;
  readonly triangle_material: ColumnRef;
  readonly organ_codes: ColumnRef;
}

/** The textures that a mesh uses. */
export interface Appearance {
  readonly materials: MeshMaterial[] | null;
  readonly textures: Record<string, Base64Bytes> | null;
}

/** Triangles by material, one after the other, and the first of each. */
interface Groups {
  readonly triangles: ColumnRef;
  readonly firsts: readonly number[];
}

export interface BuiltMesh {
  readonly columns: MeshColumns;
  readonly appearance: Appearance;
  readonly triangle_count: number;
  /** What the vertices are relative to, metres. */
  readonly origin: Triple;
}

/** Errors: unsupported for more triangles than a JSON response may have. */
export function checkJsonSize(placed: Placed): void {
  const { triangle_count } = native.placedSummary(placed.native);
  if (triangle_count <= MAX_PLANT_TRIANGLES) return;
  throw new AppError(
    "unsupported",
    `The mesh has ${triangle_count} triangles, more than the ${MAX_PLANT_TRIANGLES} that a JSON response may have; request a frame instead (Accept: application/octet-stream)`,
  );
}

/** Expands placed plants to triangles. */
export async function builtMesh(
  placed: Placed,
  species: Species,
  origin: Triple,
  deps: Deps,
  job: Job,
): Promise<BuiltMesh> {
  const { mesh_bytes, triangle_count } = native.placedSummary(placed.native);
  checkMemory(`The mesh of ${triangle_count} triangles`, mesh_bytes, "request fewer or younger plants, or instances");
  return deps.admission.run(job, "Plant mesh", mesh_bytes, async () => {
    job.stage(PACKING, 0.75, 0.95);
    const mesh = await job.track(() => native.expandPlants(placed.native, origin));
    const columns = adopted(mesh, job);
    const appearance = await appearanceOf(mesh, species);
    return { columns, appearance, triangle_count, origin };
  });
}

/** Hands the columns of a native mesh to the run. */
export function adopted(mesh: native.NativePlantMesh, job: Job): MeshColumns {
  const own = (column: NativeColumn) => job.adopt(new ColumnRef(column));
  return {
    vertices: own(mesh.vertices),
    normals: own(mesh.normals),
    colors: own(mesh.colors),
    uvs: mesh.uvs && own(mesh.uvs),
    indices: own(mesh.indices),
    triangle_material: own(mesh.triangle_material),
    organ_codes: own(mesh.organ_codes),
  };
}

/** Materials and images of the textures that triangles use. */
export async function appearanceOf(
  { is_textured }: { readonly is_textured: boolean },
  species: Species,
): Promise<Appearance> {
  const files = is_textured ? native.plantTextures(await species.native()) : [];
  if (files.length === 0) return { materials: null, textures: null };
  return {
    materials: files.map((file) => ({
      name: file.replace(/\.[^.]*$/, ""),
      color: null,
      texture_name: file,
      has_alpha: true,
    })),
    textures: await leafTextures(files),
  };
}

/** The mesh as fields of a JSON response. */
export async function meshFields({ columns, appearance, triangle_count, origin }: BuiltMesh, job: Job) {
  const { materials, textures } = appearance;
  return {
    vertices: new NativeJson(columns.vertices, "triples", 0, columns.vertices.length, origin),
    indices: new NativeJson(columns.indices, "counts"),
    normals: new NativeJson(columns.normals, "triples"),
    colors: new NativeJson(columns.colors, "triples"),
    uv_coordinates: materials && columns.uvs ? new NativeJson(columns.uvs, "pairs") : null,
    materials,
    material_groups: materials && (await materialGroups(materials, columns.triangle_material, job)),
    textures,
    organ_codes: new NativeJson(columns.organ_codes, "numbers"),
    vertex_count: 3 * triangle_count,
    triangle_count,
  };
}

type Listed = Omit<MaterialGroup, "triangle_indices"> & { readonly triangle_indices: NativeJson };

async function materialGroups(
  materials: readonly MeshMaterial[],
  triangle_material: ColumnRef,
  job: Job,
): Promise<Listed[]> {
  const { triangles, firsts } = await job.track(() => groupTriangles(triangle_material.native, materials.length));
  return listed(materials, { triangles: job.adopt(new ColumnRef(triangles)), firsts });
}

function listed(materials: readonly MeshMaterial[], groups: Groups): Listed[] {
  return materials.flatMap(({ name }, m) => {
    const first = groups.firsts[m] ?? 0;
    const count = (groups.firsts[m + 1] ?? first) - first;
    return count > 0
      ? [{ material_name: name, triangle_indices: new NativeJson(groups.triangles, "numbers", first, count) }]
      : [];
  });
}

/** Fields of a response without a mesh. */
export const NO_MESH = {
  vertices: [],
  indices: [],
  normals: null,
  colors: null,
  uv_coordinates: null,
  materials: null,
  material_groups: null,
  textures: null,
  organ_codes: null,
  vertex_count: 0,
  triangle_count: 0,
};
