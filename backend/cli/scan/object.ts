import type { Client } from "../../../shared/client/index.ts";
import type { Box, Triple } from "../../../shared/octree/potree2-metadata.ts";
import { knownSpecies } from "../plant/grow.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import { checkInputs, readMesh, refuseReplacing, requireKind } from "../run/inputs.ts";
import type { ScanOptions } from "./options.ts";

type ScanMeshes = Parameters<Client["lidarScan"]>[0]["meshes"];

/** What is scanned. */
export interface ScannedObject {
  readonly name: string;
  readonly meshes: ScanMeshes;
  readonly box: Box;
  readonly triangle_count: number;
  readonly warnings: readonly string[];
}

/** Checks a mesh file before a service is started; reads it, or grows the plant, later. Errors: those of the options and files. */
export async function scannedObject(object: string, options: ScanOptions, names: readonly string[]) {
  const { plant } = options;
  if (plant) return (run: FolderRun) => grown(plant, options, run);
  const [input] = await checkInputs([object], {
    units: undefined,
    up: undefined,
    shift: undefined,
    columns: undefined,
  });
  if (!input) throw new Error("no input was checked");
  requireKind(input, "mesh", "<object>");
  for (const name of names) await refuseReplacing(options.out, name, [input]);
  return async (run: FolderRun): Promise<ScannedObject> => {
    const { mesh, warnings } = await readMesh(input, run);
    const { origin, vertices, indices, colors } = mesh;
    const box = boxOf(vertices, origin);
    const fields = {
      vertices,
      indices,
      origin: [...origin] as [number, number, number],
      ...(colors ? { colors } : {}),
    };
    return { name: input.name, meshes: [fields], box, triangle_count: indices.length / 3, warnings };
  };
}

/** Lists of a plant's frame that a scan reads. */
const PLANT_LISTS =
  /^(prototype_)?(vertices|indices|colors|uv_coordinates|triangle_materials|organ_codes)$|^instance_(prototype|matrix)$/;

async function grown(
  { species, age }: NonNullable<ScanOptions["plant"]>,
  { seed }: ScanOptions,
  run: FolderRun,
): Promise<ScannedObject> {
  const { client, progress, signal } = run;
  const { id } = await knownSpecies(client, species, signal);
  progress.stage(`Growing ${id}`);
  const { meta, buffers } = await client.generatePlant(
    { plant_type: id, age, random_seed: seed, instances: true },
    shown(run),
  );
  const origin = (meta.origin ?? [0, 0, 0]) as [number, number, number];
  const floats = (name: string) => buffers.get(name) as Float32Array;
  const { prototype_first_triangle } = meta;
  const fields = {
    ...Object.fromEntries([...buffers].filter(([name]) => PLANT_LISTS.test(name))),
    origin,
    textures: meta.textures ?? null,
    materials: (meta.materials ?? []).map(({ name, texture_name, has_alpha }) => ({ name, texture_name, has_alpha })),
    ...(prototype_first_triangle ? { prototype_first_triangle } : {}),
  };
  return {
    name: `${id}, ${meta.age_reached ?? age} days, seed ${meta.random_seed}`,
    meshes: [fields],
    box: boxOf(new Float32Array(), origin, floats("instance_matrix")),
    triangle_count: meta.expanded_triangle_count ?? meta.triangle_count,
    warnings: meta.warnings ?? [],
  };
}

/** Box of vertices and of instances; the coordinates of a prototype are about 1 at most, so that its matrix tells how far it reaches. */
function boxOf(vertices: Float32Array, origin: Triple, matrices: Float32Array = new Float32Array()): Box {
  const min: [number, number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const max: [number, number, number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const add = (axis: 0 | 1 | 2, low: number, high: number) => {
    min[axis] = Math.min(min[axis], low + origin[axis]);
    max[axis] = Math.max(max[axis], high + origin[axis]);
  };
  for (let i = 0; i < vertices.length; i += 3) {
    for (const axis of [0, 1, 2] as const) add(axis, vertices[i + axis] ?? 0, vertices[i + axis] ?? 0);
  }
  for (let i = 0; i < matrices.length; i += 12) {
    const m = (row: number, column: number) => matrices[i + 4 * row + column] ?? 0;
    for (const axis of [0, 1, 2] as const) {
      const reach = Math.abs(m(axis, 0)) + Math.abs(m(axis, 1)) + Math.abs(m(axis, 2));
      add(axis, m(axis, 3) - reach, m(axis, 3) + reach);
    }
  }
  return { min, max };
}
