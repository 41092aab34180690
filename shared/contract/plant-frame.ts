import { z } from "zod";
import { PlantFields, PlantGenerationResponse } from "./plant.ts";

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);
const MESH = {
  vertices: "f32 (9 T) x, y, z of the three corners of each triangle, metres, relative to the meta's origin",
  indices: "u32 (3 T) 0, 1, 2, ...: every triangle has its own corners",
  normals: "f32 (9 T) normal of the triangle at each corner",
  colors: "f32 (9 T) red, green, blue, 0..1",
  uv_coordinates: "f32 (6 T) texture coordinates u, v, with v = 0 at the top of the image; only with textures",
  triangle_materials: "u32 (T) index in materials, 4294967295 = none; only with textures",
  organ_codes: "u32 (T) organ codes, as in JSON",
};

/** Meta of a frame. */
export const PlantFrameMeta = PlantFields.extend({
  origin: z
    .tuple([z.number(), z.number(), z.number()])
    .optional()
    .describe("x, y, z, metres: coordinates = those of the buffers + origin; absent on failure"),
  material_groups: z.null().optional().describe("null: use the buffer triangle_materials"),
  leaf_area_m2: z.number().optional().describe("one-sided area of all blades, without the holes of textures, m2"),
  wood_volume_m3: z.number().optional().describe("volume of all shoots, m3"),
  expanded_triangle_count: z.int().optional().describe("with instances: triangles that the mesh would have"),
  instance_count: z.int().optional().describe("with instances: number of organs and tube segments"),
  prototype_names: z
    .array(z.string())
    .optional()
    .describe("with instances: name of each prototype, leaf/, flower/, fruit/ or tube/..."),
  prototype_first_triangle: z
    .array(z.int())
    .optional()
    .describe("with instances: first triangle of each prototype in the prototype_ buffers, and their number"),
})
  .partial({ materials: true, textures: true, age_reached: true, height: true, available_models: true })
  .meta({ id: "PlantFrameMeta", description: "scalars of a plant or canopy; textures are base64 of PNG files" });
export type PlantFrameMeta = z.infer<typeof PlantFrameMeta>;

const prototypes = Object.entries(MESH)
  .filter(([name]) => name !== "vertices")
  .map(([name, meaning]) => [`prototype_${name}`, buffer(`with instances: ${meaning}`)] as const);

/** Buffers of a frame; absent on failure. */
const PlantFrameBuffers = z
  .object({
    ...Object.fromEntries(Object.entries(MESH).map(([name, meaning]) => [name, buffer(meaning)] as const)),
    prototype_vertices: buffer(
      "with instances: f32 (9 P) corners of the prototypes, each of size 1 at the origin; tubes go along z, their lower radius is 1",
    ),
    ...Object.fromEntries(prototypes),
    instance_prototype: buffer(
      "with instances: u32 (I) prototype of each organ or tube segment; the segments of a plant precede its organs",
    ),
    instance_plant: buffer("with instances: u32 (I) plant of each instance, from 0"),
    instance_matrix: buffer(
      "with instances: f32 (12 I) 3 x 4 matrix of each instance, row-major: from its prototype to the frame of vertices",
    ),
    sim_xml: buffer("u32: the bytes of the structure document (UTF-8), with blanks at its end up to a whole word"),
  })
  .meta({
    id: "PlantFrameBuffers",
    description: "arrays of the frame; with instances, prototypes and matrices replace the mesh",
  });

/** Form in which the documentation shows the PHB1 frame. */
export const PlantFrame = z
  .object({ meta: PlantFrameMeta, buffers: PlantFrameBuffers })
  .meta({ id: "PlantFrame", description: "PHB1 frame: scalars and arrays" });

/** Events of a streamed build. */
export const PlantEvents = z
  .object({
    run_id: z.object({ run_id: z.string().describe("run for POST /api/cancel/{run_id}") }).describe("first event"),
    progress: z
      .object({
        progress: z
          .number()
          .describe("0..1, never decreases: growing to 0.6, packing geometry to 0.95, then the document"),
        message: z.string().describe("stage, for the user"),
      })
      .describe("per change"),
    result: PlantGenerationResponse.describe("last event of a run that succeeded"),
    canceled: z.object({}).describe("last event of a canceled run"),
    error: z
      .object({
        detail: z.string().describe("reason for the failure, a sentence for the user"),
        code: z.string().describe("error code"),
      })
      .describe("last event of a run that failed, also for values that are refused"),
  })
  .meta({ id: "PlantEvents", description: "data of each event by its name" });
