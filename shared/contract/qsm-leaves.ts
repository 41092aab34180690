import { z } from "zod";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { MaterialGroup, MeshMaterial } from "./mesh.ts";
import { QsmFields } from "./qsm-phyllotaxis.ts";

/** Pictures of single leaves that the service has; base at the left edge. */
export const LEAF_TEXTURE_NAMES = [
  "AlmondLeaf.png",
  "AppleLeaf.png",
  "WalnutLeaf.png",
  "PistachioLeaf.png",
  "OliveLeaf_upper.png",
  "GrapeLeaf.png",
  "RedbudLeaf.png",
] as const;

export const LeafTexturesResponse = z
  .object({ textures: z.array(z.string()).describe("names for builtin_texture_name, without folders") })
  .meta({ id: "LeafTexturesResponse" });
export type LeafTexturesResponse = z.infer<typeof LeafTexturesResponse>;

const file = (what: string) => z.string().nullish().default(null).describe(what);

export const LeafFields = {
  leaf_spacing: z.number().positive().default(0.05).describe("distance of nodes along a shoot, metres"),
  leaf_pitch_deg: z
    .number()
    .default(45)
    .describe("angle between a leaf and its shoot, degrees: 0 along the shoot, 90 across it"),
  leaf_size_m: z.number().positive().default(0.08).describe("length of a leaf, metres"),
  phyllotaxis_deg: z.number().default(137.5).describe("step of azimuth from node to node, degrees"),
  leaves_per_node: z.int().min(1).max(1000).default(1).describe("leaves at each node, evenly spread about the shoot"),
  builtin_texture_name: file("one of leaf-textures, for flat rectangular leaves; used without the two other looks"),
  texture_path: file(
    "picture of a leaf for flat leaves, PNG or JPG: an absolute path on the service's machine, ~ is the user's home folder; its longer side is the length of the leaf; used without obj_path",
  ),
  obj_path: file(
    "OBJ mesh of a leaf: an absolute path on the service's machine; its longest axis is the length of the leaf; its materials and textures come from the folder of the file",
  ),
  max_leaves: z
    .int()
    .min(1)
    .default(200_000)
    .describe("most leaves; with more, so many spread evenly over all places, and a warning"),
} as const;

export const LeavesRequest = z.object({ ...QsmFields, ...LeafFields }).meta({ id: "LeavesRequest" });
export type LeavesRequest = z.infer<typeof LeavesRequest>;

const Triples = z.array(z.tuple([z.number(), z.number(), z.number()]));

export const LeafMeshFields = {
  success: Success,
  vertices: Triples.describe(
    "[x, y, z], metres, frame of the model, rounded to 1e-7; vertices 3 t, 3 t + 1, 3 t + 2 are triangle t",
  ),
  indices: Triples.describe("[i, j, k] of each triangle: [0, 1, 2], [3, 4, 5], ..."),
  normals: Triples.describe("unit normal of each vertex"),
  uv_coordinates: z
    .array(z.tuple([z.number(), z.number()]))
    .nullable()
    .describe("[u, v] of each vertex, v = 0 at the top of the picture; null without textures"),
  materials: z.array(MeshMaterial).nullable().describe("flat leaves: one named leaf; null for an OBJ without textures"),
  material_groups: z.array(MaterialGroup).nullable().describe("triangles of each material; null without materials"),
  textures: z
    .record(z.string(), z.string())
    .nullable()
    .describe("pictures by file name, base64 of the files as they are; null without textures"),
  vertex_count: z.int().describe("3 * triangle_count"),
  triangle_count: z.int().describe("number of triangles"),
  leaf_count: z.int().describe("number of leaves"),
  warnings: Warnings.optional(),
  error: ErrorText,
  code: FailureCode,
} as const;

export const LeavesResponse = z
  .object(LeafMeshFields)
  .meta({ id: "LeavesResponse", description: "mesh of leaves on the youngest growth of a tree" });
export type LeavesResponse = z.infer<typeof LeavesResponse>;
