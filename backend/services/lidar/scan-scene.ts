import type { BulkColumn } from "../../../shared/contract/bulk-list.ts";
import type { PointList } from "../../../shared/contract/geometry.ts";
import type { PairList, ScanMesh } from "../../../shared/contract/scan-mesh.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/ray.ts";
import { numbersColumn, pointsColumn } from "../run/points.ts";
import { Textures } from "./textures.ts";

/** Bytes per triangle of a mesh: its lists, the copy and the tree. */
const TRIANGLE_BYTES = 420;
const INSTANCE_BYTES = 1000;

export interface OpenedScene extends native.OpenedScene {
  readonly warnings: readonly string[];
}

/** Memory that the surfaces of a request need. */
export function sceneBytes(meshes: readonly ScanMesh[]): number {
  return meshes.reduce((sum, mesh) => {
    const triangles = triangleCount(mesh.triangles, mesh.indices) + triangleCount(null, mesh.prototype_indices);
    return sum + TRIANGLE_BYTES * triangles + INSTANCE_BYTES * (mesh.instance_prototype?.length ?? 0);
  }, 0);
}

type Flat = BulkColumn | readonly number[] | null | undefined;
const triangleCount = (triples: PointList | null | undefined, flat: Flat): number =>
  triples ? triples.length : Math.floor((flat?.length ?? 0) / 3);

/** Builds the trees of all meshes. The run owns the scene. Errors: invalid_argument. */
export async function openScene(meshes: readonly ScanMesh[], job: Job): Promise<OpenedScene> {
  if (meshes.length === 0) throw new AppError("invalid_argument", "No geometry to scan");
  const textures = new Textures(job);
  const parts: native.SceneMesh[] = [];
  for (const [i, mesh] of meshes.entries()) parts.push(await sceneMesh(mesh, `meshes[${i}]`, textures, job));
  const opened = await job.track(() => native.openScanScene(parts, textures.decoded));
  job.adopt(opened.scene);
  const { unused_texture_count: unused } = opened;
  const left =
    unused > 0
      ? [`${unused} meshes have textures, but no uv_coordinates for every vertex: their triangles have their colours.`]
      : [];
  return { ...opened, warnings: [...textures.warnings, ...left] };
}

async function sceneMesh(mesh: ScanMesh, name: string, textures: Textures, job: Job): Promise<native.SceneMesh> {
  if (mesh.triangles && mesh.indices) throw refused(`${name} has triangles and indices: send one of them`);
  if (!mesh.triangles && !mesh.indices && !mesh.instance_prototype) throw refused(`${name} has no triangles`);
  if (!mesh.vertices && !mesh.instance_prototype) throw refused(`${name} has no vertices`);
  const points = (list: PointList | null | undefined) => (list ? job.adopt(pointsColumn(list)).native : null);
  const numbers = (list: Flat | PairList) => (list ? job.adopt(numbersColumn(flatOf(list))).native : null);
  const material_textures = await textures.ofMaterials(mesh, name);
  const materials = (mesh.materials ?? []).flatMap(({ triangle_indices }, m) => {
    const texture = material_textures[m] ?? null;
    const triangles = triangle_indices ? numbers(triangle_indices) : null;
    return texture === null || triangles === null ? [] : [{ texture, triangles }];
  });
  const lists = (of: SurfaceLists, triangles: NativeColumn | null): native.SurfaceLists => ({
    vertices: points(of.vertices ?? []),
    triangles,
    colors: points(of.colors),
    uvs: numbers(of.uv_coordinates),
    organs: numbers(of.organ_codes),
    materials: of === mesh ? materials : [],
    triangle_textures: numbers(of.triangle_materials),
    material_textures,
  });
  const instanced = mesh.instance_prototype ?? mesh.instance_matrix ?? mesh.prototype_vertices;
  return {
    name,
    origin: mesh.origin ?? [0, 0, 0],
    surfaces: lists(mesh, points(mesh.triangles) ?? numbers(mesh.indices)),
    prototypes: instanced ? lists(prototypesOf(mesh), numbers(mesh.prototype_indices)) : null,
    firsts: firstsOf(mesh, name),
    instance_prototype: numbers(mesh.instance_prototype),
    instance_matrix: numbers(mesh.instance_matrix),
  };
}

type SurfaceLists = Pick<ScanMesh, "colors" | "uv_coordinates" | "organ_codes" | "triangle_materials"> & {
  readonly vertices?: PointList | null | undefined;
};

const prototypesOf = (mesh: ScanMesh): SurfaceLists => ({
  vertices: mesh.prototype_vertices,
  colors: mesh.prototype_colors,
  uv_coordinates: mesh.prototype_uv_coordinates,
  organ_codes: mesh.prototype_organ_codes,
  triangle_materials: mesh.prototype_triangle_materials,
});

function firstsOf({ prototype_first_triangle }: ScanMesh, name: string): number[] {
  const firsts = prototype_first_triangle ?? [];
  if (firsts.some((first) => first < 0)) throw refused(`${name}.prototype_first_triangle has a negative number`);
  return firsts;
}

/** Pairs one after another. */
function flatOf(list: NonNullable<Flat> | NonNullable<PairList>): BulkColumn | readonly number[] {
  return Array.isArray(list) && Array.isArray(list[0])
    ? (list as [number, number][]).flat()
    : (list as readonly number[]);
}

const refused = (message: string) => new AppError("invalid_argument", message);
