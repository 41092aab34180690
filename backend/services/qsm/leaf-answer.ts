import type { MeshMaterial } from "../../../shared/contract/mesh.ts";
import type { LeavesRequest } from "../../../shared/contract/qsm-leaves.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_PLANT_TRIANGLES } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { groupTriangles } from "../../native/files/mesh.ts";
import * as native from "../../native/leaves.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { NativeJson } from "../../sessions/native-json.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { heldModel } from "./held-model.ts";
import { type LeafLook, leafLook } from "./leaf-look.ts";

/** Fields of an answer without leaves. */
const NO_LEAVES = {
  vertices: [],
  indices: [],
  normals: [],
  uv_coordinates: null,
  materials: null,
  material_groups: null,
  textures: null,
  vertex_count: 0,
  triangle_count: 0,
  leaf_count: 0,
} as const;

/** Leaves with their look. */
export interface PlacedLeaves {
  readonly placed: native.PlacedLeaves;
  readonly look: LeafLook;
  readonly warnings: readonly string[];
}

/** Leaves of a request. The run owns them. Errors: invalid_argument for a model without a place for leaves. */
export async function placedLeaves(request: LeavesRequest, job: Job): Promise<PlacedLeaves> {
  job.stage("Placing leaves", 0, 0.3);
  const look = await leafLook(request, job);
  const model = await heldModel(request, job);
  const { leaf_spacing, leaf_pitch_deg, leaf_size_m, phyllotaxis_deg, leaves_per_node, max_leaves } = request;
  const placed = await job.track(() =>
    native.placeLeaves(model, {
      leaf_spacing_m: leaf_spacing,
      leaf_pitch_rad: (leaf_pitch_deg * Math.PI) / 180,
      leaf_size_m,
      phyllotaxis_deg,
      leaves_per_node,
      max_leaves,
    }),
  );
  job.adopt(placed.leaves);
  const { leaf_count, wanted_count } = placed;
  if (leaf_count === 0) {
    throw new AppError("invalid_argument", "There is no place for leaves: no shoot grows beyond its last branch.");
  }
  const triangles = leaf_count * look.triangle_count;
  if (triangles > MAX_PLANT_TRIANGLES) {
    const fits = Math.floor(MAX_PLANT_TRIANGLES / look.triangle_count);
    throw new AppError(
      "unsupported",
      `${leaf_count} leaves of ${look.triangle_count} triangles are ${triangles} triangles, more than the ${MAX_PLANT_TRIANGLES} that a response may have; ${fits > 0 ? `set max_leaves to ${fits}` : "use a simpler mesh"}`,
    );
  }
  const warnings = [...look.warnings, ...doubtfulLengths({ leaf_size_m, leaf_spacing })];
  if (wanted_count > leaf_count) {
    warnings.push(
      `${leaf_count} of ${wanted_count} leaves were placed, evenly spread: the limit is max_leaves = ${max_leaves}.`,
    );
  }
  return { placed, look, warnings };
}

/** Blades of bananas reach 3 m, and nodes of bamboos 0.6 m. */
const [LONGEST_LEAF_M, WIDEST_SPACING_M] = [5, 2];

/** Warns of lengths that no leaf has, as centimetres that are sent as metres. */
function doubtfulLengths({ leaf_size_m, leaf_spacing }: { leaf_size_m: number; leaf_spacing: number }): string[] {
  const told = (name: string, value: number) => `${name} ${value}: the unit is metres, 8 cm are 0.08.`;
  return [
    ...(leaf_size_m > LONGEST_LEAF_M ? [told("leaf_size_m", leaf_size_m)] : []),
    ...(leaf_spacing > WIDEST_SPACING_M ? [told("leaf_spacing", leaf_spacing)] : []),
  ];
}

/** The mesh of leaves as fields of an answer. */
export async function leafMeshFields(
  leaves: native.NativeLeaves,
  leaf_count: number,
  { look, leaf_size_m }: { readonly look: LeafLook; readonly leaf_size_m: number },
  job: Job,
) {
  job.stage("Packing leaves", 0.8, 0.95);
  const mesh = await job.track(() => native.leafMesh(leaves, leaf_size_m, look.shape));
  const own = (column: native.NativeLeafMesh["vertices"]) => job.adopt(new ColumnRef(column));
  const vertices = own(mesh.vertices);
  const normals = own(mesh.normals);
  const uvs = mesh.uvs && own(mesh.uvs);
  const materials = mesh.materials && own(mesh.materials);
  const triangle_count = leaf_count * look.triangle_count;
  return {
    success: true,
    vertices: new NativeJson(vertices, "triples"),
    indices: new NativeJson(vertices, "counts", 0, 3 * triangle_count),
    normals: new NativeJson(normals, "triples"),
    uv_coordinates: uvs && new NativeJson(uvs, "pairs"),
    materials: look.materials,
    material_groups: materials && look.materials ? await groupsOf(materials, look.materials, job) : null,
    textures: look.textures,
    vertex_count: 3 * triangle_count,
    triangle_count,
    leaf_count,
    error: null,
  } as const;
}

async function groupsOf(of_triangles: ColumnRef, materials: readonly MeshMaterial[], job: Job) {
  const { triangles, firsts } = await job.track(() => groupTriangles(of_triangles.native, materials.length));
  const all = job.adopt(new ColumnRef(triangles));
  return materials.map(({ name }, m) => {
    const first = firsts[m] ?? 0;
    return {
      material_name: name,
      triangle_indices: new NativeJson(all, "numbers", first, (firsts[m + 1] ?? first) - first),
    };
  });
}

/** The answer of `work`, or its failure as an answer; a cancel is thrown. */
export async function leafAnswer<T extends object>(
  unknown_keys: readonly string[],
  job: Job,
  work: () => Promise<T & { readonly warnings: readonly string[] }>,
): Promise<object> {
  const named = unknownKeyWarnings(unknown_keys);
  const withWarnings = (answer: object, own: readonly string[]) => {
    const warnings = [...named, ...own];
    return warnings.length > 0 ? { ...answer, warnings } : answer;
  };
  try {
    const { warnings, ...answer } = await work();
    return withWarnings(answer, warnings);
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return withWarnings({ success: false, ...NO_LEAVES, error: message, code }, []);
  }
}
