import type { Client, QsmMesh, QsmModelRecords } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import { decodePng } from "../drawing/framed-picture.ts";
import type { TexturedMesh } from "../meshes/textured.ts";
import type { LeafOptions } from "./options.ts";

/** A texel with less alpha is a hole. */
const OPAQUE = 128;

export interface FoundLeaves {
  /** Relative to the origin of the wood's mesh. */
  readonly mesh: TexturedMesh;
  readonly leaf_count: number;
  /** One side of the blades, without the transparent part of their picture. */
  readonly leaf_area_m2: number;
  readonly phyllotaxis_deg: number;
  readonly leaves_per_node: number;
  /** Shoots that the divergence angle comes from; 0: none, and the angle is the most common one. */
  readonly n_parents_sampled: number;
  readonly warnings: readonly string[];
}

/**
 * Leaves on the youngest growth of a model, at the divergence angle of its branches. Errors: those of the client;
 * invalid_argument for an unknown picture, and where no leaf has a place.
 */
export async function leavesOn(
  model: QsmModelRecords,
  wood: QsmMesh,
  { texture, leaf_size_m, leaf_spacing }: LeafOptions,
  client: Client,
  signal: AbortSignal,
): Promise<FoundLeaves> {
  const { cylinders, shoots } = model;
  const records = { cylinders: [...cylinders], shoots: [...shoots] };
  const angle = await client.qsmPhyllotaxis(records, { signal });
  if (angle.error !== null) throw new AppError("invalid_argument", angle.error);
  const { angle_deg: phyllotaxis_deg, leaves_per_node, n_parents_sampled } = angle;
  const request = { leaf_size_m, leaf_spacing, phyllotaxis_deg, leaves_per_node, builtin_texture_name: texture };
  const answer = await client.qsmLeaves({ ...records, ...request }, { signal });
  if (answer.error !== null) throw new AppError("invalid_argument", `--leaves: ${answer.error}`);
  const mesh = texturedLeaves(answer, wood.origin);
  const warnings = [...(angle.warnings ?? []), ...(answer.warnings ?? [])];
  const leaf_area_m2 = areaOf(mesh) * opaqueShare(mesh);
  return { mesh, leaf_count: answer.leaf_count, leaf_area_m2, ...request, n_parents_sampled, warnings };
}

type Answer = Awaited<ReturnType<Client["qsmLeaves"]>>;

function texturedLeaves(answer: Answer, origin: QsmMesh["origin"]): TexturedMesh {
  const { vertices, normals, uv_coordinates, textures } = answer;
  const [[file, text] = []] = Object.entries(textures ?? {});
  if (!uv_coordinates || file === undefined || text === undefined)
    throw new Error("the answer has no picture of a leaf");
  const png = new Uint8Array(Buffer.from(text, "base64"));
  const name = file.replace(/\.png$/, "").replaceAll(/[^A-Za-z0-9._-]/g, "_");
  return {
    origin: [0, 0, 0],
    vertices: flat(vertices, 3, origin),
    normals: flat(normals, 3, [0, 0, 0]),
    uvs: flat(uv_coordinates, 2, [0, 0]),
    colors: new Float32Array(3 * vertices.length).fill(1),
    indices: Uint32Array.from({ length: vertices.length }, (_, i) => i),
    triangle_texture: new Uint32Array(vertices.length / 3),
    textures: [{ name, png, picture: decodePng(png) }],
    organ_codes: new Uint32Array(vertices.length / 3),
  };
}

/** Differences in float64 first: float32 alone would lose millimetres far from the origin. */
function flat(rows: readonly (readonly number[])[], size: number, from: readonly number[]): Float32Array<ArrayBuffer> {
  const out = new Float32Array(size * rows.length);
  for (const [i, row] of rows.entries())
    for (let k = 0; k < size; k += 1) out[size * i + k] = (row[k] ?? 0) - (from[k] ?? 0);
  return out;
}

function areaOf({ vertices }: TexturedMesh): number {
  let area = 0;
  for (let t = 0; t < vertices.length; t += 9) {
    const side = (corner: number, axis: number) => (vertices[t + 3 * corner + axis] ?? 0) - (vertices[t + axis] ?? 0);
    const part = (i: number, j: number) => side(1, i) * side(2, j) - side(1, j) * side(2, i);
    area += Math.hypot(part(1, 2), part(2, 0), part(0, 1)) / 2;
  }
  return area;
}

function opaqueShare({ textures: [texture] }: TexturedMesh): number {
  const data = texture?.picture.data ?? new Uint8Array();
  let opaque = 0;
  for (let at = 3; at < data.length; at += 4) if ((data[at] ?? 0) >= OPAQUE) opaque += 1;
  return data.length > 0 ? opaque / (data.length / 4) : 0;
}
