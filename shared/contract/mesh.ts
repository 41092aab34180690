import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { MAX_LISTED_TRIANGLES, MAX_TEXTURE_BYTES, MIB } from "../limits.ts";
import { Warnings } from "./fields.ts";
import { NumberList } from "./geometry.ts";

export const MeshImportRequest = z
  .object({
    path: z
      .string()
      .describe("absolute path of an .obj, .ply or .stl file on the service's machine; ~ is the user's home folder"),
    world_shift: NumberList.nullish()
      .default(null)
      .describe(
        "[x, y, z], metres: subtracted from every vertex in float64, before it is narrowed to float32; null = none; not three finite numbers: 400",
      ),
  })
  .meta({ id: "MeshImportRequest" });
export type MeshImportRequest = z.infer<typeof MeshImportRequest>;

export const MeshMaterial = z
  .object({
    name: z.string().describe("name in the file"),
    color: z
      .tuple([z.number(), z.number(), z.number()])
      .nullable()
      .describe("diffuse colour (Kd), red, green, blue, 0..1; null = the libraries do not state one"),
    texture_name: z.string().nullable().describe("key of its image in `textures`; null = no texture was found"),
    has_alpha: z.boolean().describe("whether the texture is a PNG file, which may be transparent"),
  })
  .meta({ id: "MeshMaterial", description: "a material of a mesh" });
export type MeshMaterial = z.infer<typeof MeshMaterial>;

export const MaterialGroup = z
  .object({
    material_name: z.string().describe("name of the material"),
    triangle_indices: z.array(z.int()).describe("numbers of its triangles, from 0, ascending"),
  })
  .meta({ id: "MaterialGroup", description: "the triangles of a material" });
export type MaterialGroup = z.infer<typeof MaterialGroup>;

const common = {
  filename: z.string().describe("name of the file without its folder"),
  warnings: Warnings.optional(),
};

/** Meta of the frame. */
export const MeshImportSuccess = z
  .object({
    ...common,
    success: z.literal(true).describe("the mesh was read"),
    error: z.null().describe("null: success"),
    vertex_count: z.int().describe("number of vertices in the buffers; OBJ, STL: three per triangle"),
    triangle_count: z.int().describe("number of triangles"),
    materials: z
      .array(MeshMaterial)
      .nullable()
      .describe(
        "OBJ: the materials that triangles use, in the order of their first one; null = none, and for PLY and STL",
      ),
    material_groups: z
      .array(MaterialGroup)
      .nullable()
      .describe(
        `triangles of each material, in the order of materials; null = no materials, or more than ${MAX_LISTED_TRIANGLES} triangles (a warning says so): use the buffer triangle_materials`,
      ),
    textures: z
      .record(z.string(), z.string())
      .nullable()
      .describe(
        `images by file name, base64 of the files as they are, at most ${MAX_TEXTURE_BYTES / MIB} MiB in total; null = none`,
      ),
    has_textures: z.boolean().describe("whether there are textures and triangles with materials"),
    bounds: z
      .object({
        min: z.tuple([z.number(), z.number(), z.number()]).describe("smallest x, y, z, metres"),
        max: z.tuple([z.number(), z.number(), z.number()]).describe("largest x, y, z, metres"),
      })
      .describe("box of the vertices that triangles use, in the frame of the buffers, in float64"),
    world_shift: z
      .tuple([z.number(), z.number(), z.number()])
      .describe("metres; coordinates of the file = those of the buffers + world_shift"),
  })
  .meta({ id: "MeshImportSuccess", description: "a triangle mesh" });
export type MeshImportSuccess = z.infer<typeof MeshImportSuccess>;

export const MeshImportFailure = z
  .object({
    ...common,
    success: z.literal(false).describe("no mesh was read"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    vertex_count: z.literal(0).describe("0: there is no mesh"),
    triangle_count: z.literal(0).describe("0: there is no mesh"),
  })
  .meta({ id: "MeshImportFailure", description: "failure: no mesh was read" });
export type MeshImportFailure = z.infer<typeof MeshImportFailure>;

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);

/** Buffers of the frame; absent on failure. */
export const MeshImportBuffers = z
  .object({
    vertices: buffer("f32 (3 * vertex_count) x, y, z of each vertex, metres, frame of the file minus world_shift"),
    indices: buffer("u32 (3 * triangle_count) vertices of each triangle, from 0, wound as in the file"),
    normals: buffer(
      "f32 (3 * vertex_count) normal of each vertex: that of the file, else computed as a unit vector; OBJ: zero for a corner without normal beside others that have one; STL: always computed, from the winding",
    ),
    colors: buffer(
      "f32 (3 * vertex_count) red, green, blue, 0..1. OBJ: of the material, else of the vertex, else 0.8; PLY: only if the file has colours; STL: never",
    ),
    uv_coordinates: buffer(
      "f32 (2 * vertex_count) texture coordinates u, v, with v = 0 at the top of the image; only with has_textures",
    ),
    triangle_materials: buffer(
      "u32 (triangle_count) index in materials, 4294967295 = none; only if there are materials",
    ),
  })
  .meta({ id: "MeshImportBuffers", description: "arrays of the frame" });

/** Form in which the documentation shows the PHB1 frame. */
export const MeshImportFrame = z
  .object({
    meta: z.discriminatedUnion("success", [MeshImportSuccess, MeshImportFailure]).describe("scalars of the frame"),
    buffers: MeshImportBuffers,
  })
  .meta({ id: "MeshImportFrame", description: "PHB1 frame: scalars and arrays" });
