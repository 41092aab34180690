import { z } from "zod";
import { bulkListOf, bulkText } from "./bulk-list.ts";
import { BulkNumbers, Point, PointList } from "./geometry.ts";

const isPair = (value: unknown): boolean => Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);

/** (n, 2) numbers as pairs, or flat. Native: a flat column. */
const PairList = bulkListOf<number | [number, number]>(
  "heights",
  (values) => (Array.isArray(values[0]) ? values.every(isPair) : values.every(Number.isFinite)),
  "must be a list of [u, v] with two finite numbers each",
).meta({ type: "array", items: { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 } });
export type PairList = z.infer<typeof PairList>;

const ScanMaterial = z
  .object({
    name: z.string().nullish().default(null).describe("name, for warnings"),
    texture_data: bulkText().nullish().default(null).describe("base64 of a PNG file; other images are not read"),
    texture_name: z.string().nullish().default(null).describe("key of the image in textures, instead of texture_data"),
    color: z
      .unknown()
      .optional()
      .describe("of a material of a plant's or an imported mesh's frame; hits have those of the list colors"),
    has_alpha: z.boolean().default(false).describe("true: where alpha is below 128 there is nothing, and rays go on"),
    triangle_indices: BulkNumbers.nullish()
      .default(null)
      .describe("triangles with this material, from 0; or use triangle_materials"),
  })
  .meta({ id: "ScanMaterial", description: "a texture and its triangles" });
export type ScanMaterial = z.infer<typeof ScanMaterial>;

const flat = (text: string) => BulkNumbers.nullish().default(null).describe(text);

/** Lists of a mesh, also in the frames of plants and mesh imports; prototypes of plants have the same lists. */
const lists = (of: string) => ({
  vertices: PointList.nullish().default(null).describe(`${of}(V, 3) x, y, z, metres`),
  indices: flat(`${of}(3 T) vertices of each triangle, from 0, flat: instead of triangles`),
  colors: PointList.nullish()
    .default(null)
    .describe(`${of}(V, 3) red, green, blue, 0..1; a triangle has the mean of its corners`),
  uv_coordinates: PairList.nullish()
    .default(null)
    .describe(
      `${of}(V, 2) texture coordinates, v = 0 at the top of the image; without one per vertex, textures are not used`,
    ),
  triangle_materials: flat(`${of}(T) number of each triangle's material, from 0; a larger one than there are = none`),
  organ_codes: flat(`${of}(T) 0 unknown, 1 leaf, 2 petiole, 3 shoot, 4 peduncle, 5 fruit, 6 petiolule`),
});
const prototypes = lists("prototypes: ");

export const ScanMesh = z
  .object({
    ...lists(""),
    triangles: PointList.nullish().default(null).describe("(T, 3) vertices of each triangle, from 0"),
    materials: z.array(ScanMaterial).nullish().default(null).describe("textures of the triangles and the prototypes"),
    textures: z
      .record(z.string(), z.string())
      .nullish()
      .default(null)
      .describe("images by name, base64 of PNG files, as in the frame of a plant"),
    origin: Point.nullish()
      .default(null)
      .describe("added to the coordinates of the mesh and its instances in float64, metres; null = zeros"),
    prototype_vertices: prototypes.vertices,
    prototype_indices: prototypes.indices,
    prototype_colors: prototypes.colors,
    prototype_uv_coordinates: prototypes.uv_coordinates,
    prototype_triangle_materials: prototypes.triangle_materials,
    prototype_organ_codes: prototypes.organ_codes,
    prototype_first_triangle: z
      .array(z.int())
      .nullish()
      .default(null)
      .describe("first triangle of each prototype in the lists of the prototypes, and their number"),
    instance_prototype: flat("(I) prototype of each instance, from 0"),
    instance_matrix: flat(
      "(12 I) 3 x 4 matrix of each instance, row-major: from its prototype to the frame of vertices",
    ),
  })
  .meta({
    id: "ScanMesh",
    description:
      "surfaces of a scene; in a PHB1 request the lists are buffers such as meshes.0.vertices. A plant's frame with instances has the same names",
  });
export type ScanMesh = z.infer<typeof ScanMesh>;
