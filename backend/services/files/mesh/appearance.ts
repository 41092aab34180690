import type { MaterialGroup, MeshMaterial } from "../../../../shared/contract/mesh.ts";
import { MAX_LISTED_TRIANGLES } from "../../../../shared/limits.ts";
import type { Job } from "../../../jobs/job.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import * as native from "../../../native/files/mesh.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { readMaterials, shown } from "./materials.ts";
import { readTextures } from "./textures.ts";

/** How the triangles of a mesh look. */
export interface Appearance {
  readonly materials: MeshMaterial[] | null;
  readonly groups: MaterialGroup[] | null;
  readonly textures: Record<string, string> | null;
  readonly colors: ColumnRef;
  readonly warnings: readonly string[];
}

/** Materials, textures and colours of an OBJ file. The run owns the column. */
export async function appearance(
  path: string,
  { material_names, libraries }: native.NativeMeshFile,
  of_triangles: ColumnRef,
  vertex_colors: ColumnRef | null,
  job: Job,
): Promise<Appearance> {
  job.stage("Loading textures", 0.6, 0.9);
  const { defined, warnings: of_libraries } = await readMaterials(path, libraries, job);
  const materials = material_names.map(
    (name): native.MtlMaterial => defined.get(name) ?? { name, color: null, texture: "", last_token: "" },
  );
  const textures = await readTextures(path, materials, job);
  const warnings = [...of_libraries, ...undefinedNames(material_names, defined), ...textures.warnings];
  const listed = materials.map(({ name, color }): MeshMaterial => {
    const texture_name = textures.name_of.get(name) ?? null;
    const has_alpha = texture_name?.toLowerCase().endsWith(".png") ?? false;
    return { name, color: color && [...color], texture_name, has_alpha };
  });
  const triangles = of_triangles.native;
  const flat = materials.flatMap(({ color }) => color ?? [Number.NaN, Number.NaN, Number.NaN]);
  const colors = await job.track(() => native.paintTriangles(triangles, flat, vertex_colors?.native ?? null));
  const adopted = job.adopt(new ColumnRef(colors));
  if (vertex_colors && materials.some(({ color }) => color)) {
    warnings.push("Vertex colours are used only where the material has no colour.");
  }
  if (listed.length === 0) return { materials: null, groups: null, textures: null, colors: adopted, warnings };
  const groups = await materialGroups(triangles, material_names, job);
  if (!groups) {
    warnings.push(
      `More than ${MAX_LISTED_TRIANGLES} triangles have materials: material_groups is null; use the buffer triangle_materials.`,
    );
  }
  const images = textures.name_of.size > 0 ? textures.images : null;
  return { materials: listed, groups, textures: images, colors: adopted, warnings };
}

/** Triangles of each material; null if there are too many for a list. */
async function materialGroups(
  triangles: NativeColumn,
  names: readonly string[],
  job: Job,
): Promise<MaterialGroup[] | null> {
  if (triangles.length > MAX_LISTED_TRIANGLES) return null;
  const grouped = await job.track(() => native.groupTriangles(triangles, names.length));
  const column = job.adopt(new ColumnRef(grouped.triangles)).native;
  const all = new Uint32Array(column.length);
  column.readInto(new Uint8Array(all.buffer), 0);
  return names.map((material_name, m) => ({
    material_name,
    triangle_indices: Array.from(all.subarray(grouped.firsts[m], grouped.firsts[m + 1])),
  }));
}

/** Names that no library defines, in one sentence. */
function undefinedNames(names: readonly string[], defined: ReadonlyMap<string, unknown>): string[] {
  const missing = names.filter((name) => !defined.has(name));
  const [first] = missing;
  if (first === undefined) return [];
  const others = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
  return [`No material library defines the material "${shown(first)}"${others}.`];
}
