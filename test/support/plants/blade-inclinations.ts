// Inclinations of the blades of placed plants, from the corners of their prototypes and their matrices.
import { instancePlants } from "../../../backend/native/plants/mesh.ts";
import type { NativePlacedPlants } from "../../../backend/native/plants/plants.ts";
import { columnBytes } from "../native/column-bytes.ts";

type Vector = [number, number, number];

/** Sum of the area vectors of some triangles; that of a closed blade is its upper side. */
function meanNormal(vertices: Float32Array, first: number, end: number): Vector {
  const sum: Vector = [0, 0, 0];
  let area = 0;
  for (let t = first; t < end; t += 1) {
    const e = (corner: number, axis: number): number =>
      (vertices[9 * t + 3 * corner + axis] ?? Number.NaN) - (vertices[9 * t + axis] ?? Number.NaN);
    const n: Vector = [
      e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1),
      e(1, 2) * e(2, 0) - e(1, 0) * e(2, 2),
      e(1, 0) * e(2, 1) - e(1, 1) * e(2, 0),
    ];
    for (const k of [0, 1, 2] as const) sum[k] += n[k];
    area += Math.hypot(...n);
  }
  return Math.hypot(...sum) > 1e-3 * area ? sum : [0, 0, 1];
}

/** Degrees between the normal of each blade, folded upwards, and the vertical. */
export async function bladeInclinations(placed: NativePlacedPlants): Promise<number[]> {
  const made = await instancePlants(placed, [0, 0, 0]).promise;
  const { prototypes, prototype_names, prototype_firsts } = made;
  const vertices = new Float32Array(columnBytes(prototypes.vertices));
  const normals = prototype_names.map((name, i) =>
    name.startsWith("leaf/")
      ? meanNormal(vertices, prototype_firsts[i] ?? Number.NaN, prototype_firsts[i + 1] ?? Number.NaN)
      : null,
  );
  const which = new Uint32Array(columnBytes(made.instance_prototype));
  const matrices = new Float32Array(columnBytes(made.instance_matrix));
  const degrees: number[] = [];
  for (const [i, prototype] of which.entries()) {
    const normal = normals[prototype];
    if (!normal) continue;
    // The matrices of blades turn and scale alike in all directions.
    const row = (k: number): number =>
      [0, 1, 2].reduce((sum, c) => sum + (matrices[12 * i + 4 * k + c] ?? Number.NaN) * (normal[c] ?? 0), 0);
    const turned = [row(0), row(1), row(2)];
    degrees.push((Math.acos(Math.min(1, Math.abs(turned[2] ?? 0) / Math.hypot(...turned))) * 180) / Math.PI);
  }
  for (const column of [made.instance_prototype, made.instance_plant, made.instance_matrix]) column.release();
  const { is_textured: _, ...columns } = prototypes;
  for (const column of Object.values(columns)) column?.release();
  return degrees;
}
