import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { DEFAULT_PLANT_AGE_DAYS, DEFAULT_PLANT_SPACING_M, DEFAULT_PLANT_TYPE, MAX_PLANT_TRIANGLES } from "../limits.ts";
import { Warnings } from "./fields.ts";
import { fieldsOfMethods, withIdleKeys } from "./idle-keys.ts";
import { MaterialGroup, MeshMaterial } from "./mesh.ts";

export const PlantType = z.string().describe("id of a species, see GET /api/plant/models");

export const LeafInclination = z
  .object({
    beta_mu: z.number().positive().describe("first shape parameter, > 0"),
    beta_nu: z.number().positive().describe("second shape parameter, > 0"),
  })
  .meta({
    id: "LeafInclination",
    description:
      "distribution of leaf inclinations: angle between the normal of a blade and the vertical, degrees = 90 * Beta(beta_nu, beta_mu); mean 90 * beta_nu / (beta_mu + beta_nu)",
  });
export type LeafInclination = z.infer<typeof LeafInclination>;

export const RandomSeed = z
  .int()
  .nullish()
  .default(null)
  .describe("the same seed gives the same plant; null = a different plant each time");

export const Steering = LeafInclination.nullish()
  .default(null)
  .describe("steers the inclination of every blade, also of later growth; null = as the species grows");

const position = (axis: string) => z.number().default(0).describe(`${axis} of the plant's base, metres; +z points up`);
export const PlantPosition = {
  position_x: position("x"),
  position_y: position("y"),
  position_z: position("z"),
};

/** Days; a negative age is answered with success: false, as the contract demands. */
const Age = z
  .number()
  .default(DEFAULT_PLANT_AGE_DAYS)
  .describe("days; < 0: success is false; a plant does not grow older than its species does, see age_reached");

const instances = z
  .boolean()
  .default(false)
  .describe(
    "frames only (Accept: application/octet-stream): send each organ prototype once and a matrix per organ instead of triangles; with JSON: 400",
  );

export const PlantRequest = z
  .object({
    plant_type: PlantType.default(DEFAULT_PLANT_TYPE),
    age: Age,
    ...PlantPosition,
    random_seed: RandomSeed,
    leaf_inclination: Steering,
    instances,
  })
  .meta({ id: "PlantRequest" });
export type PlantRequest = z.infer<typeof PlantRequest>;

const center = (axis: string) => z.number().default(0).describe(`${axis} of the centre of the canopy, metres`);
const spacing = (axis: string) =>
  z.number().min(0).default(DEFAULT_PLANT_SPACING_M).describe(`distance between plants along ${axis}, metres`);
const count = (axis: string) =>
  z.int().default(3).describe(`plants along ${axis}; not above 0: success is false and nothing grows`);

export const PlantCanopyRequest = z
  .object({
    plant_type: PlantType.default(DEFAULT_PLANT_TYPE),
    age: Age,
    center_x: center("x"),
    center_y: center("y"),
    center_z: center("z"),
    spacing_x: spacing("x"),
    spacing_y: spacing("y"),
    count_x: count("x"),
    count_y: count("y"),
    germination_rate: z
      .number()
      .default(1)
      .describe("probability that a place has a plant; not within 0..1: success is false and nothing grows"),
    random_seed: RandomSeed,
    leaf_inclination: Steering,
    instances,
  })
  .meta({
    id: "PlantCanopyRequest",
    description:
      "plants on a grid: plant (i, j) stands at center + (i - (count_x - 1) / 2) * spacing_x, (j - (count_y - 1) / 2) * spacing_y",
  });
export type PlantCanopyRequest = z.infer<typeof PlantCanopyRequest>;

const STREAM_FIELDS = {
  single: Object.keys(PlantRequest.shape),
  canopy: Object.keys(PlantCanopyRequest.shape),
};
const PlantStreamFields = z
  .object({
    mode: z.enum(["single", "canopy"]).default("single").describe("single: one plant and its session; canopy: a grid"),
    ...PlantRequest.shape,
    ...PlantCanopyRequest.shape,
  })
  .omit({ instances: true })
  .meta({
    id: "PlantStreamRequest",
    description:
      "fields of the other mode are ignored, with a warning: those of PlantRequest, or those of PlantCanopyRequest",
  });
export const PlantStreamRequest = withIdleKeys(PlantStreamFields, fieldsOfMethods("mode", "single", STREAM_FIELDS));
export type PlantStreamRequest = z.infer<typeof PlantStreamRequest>;

const triples = (meaning: string) => z.array(z.tuple([z.number(), z.number(), z.number()])).describe(meaning);
const nullable = <S extends z.ZodType>(schema: S, meaning: string) => schema.nullable().describe(meaning);
const MESH_ABSENT = `null without a mesh`;

/** Arrays of a plant's mesh in JSON. In frames they are buffers. */
export const PlantArrays = z.object({
  vertices: triples("(3 T) x, y, z of the three corners of each triangle, metres; empty without a mesh"),
  indices: triples("(T) [0, 1, 2], [3, 4, 5], ...: every triangle has its own corners"),
  normals: nullable(triples(""), `(3 T) normal of the triangle at each corner, a unit vector; ${MESH_ABSENT}`),
  colors: nullable(
    triples(""),
    `(3 T) red, green, blue, 0..1, for triangles without a texture and for clients that draw none; ${MESH_ABSENT}`,
  ),
  uv_coordinates: nullable(
    z.array(z.tuple([z.number(), z.number()])),
    "(3 T) texture coordinates u, v, with v = 0 at the top of the image; [0, 0] where there is no texture; null if no triangle has one",
  ),
  material_groups: nullable(
    z.array(MaterialGroup),
    "triangles of each material; null without textures, and in frames: use the buffer triangle_materials",
  ),
  organ_codes: nullable(
    z.array(z.int()),
    `(T) 0 unknown (flowers), 1 leaf, 2 petiole, 3 shoot, 4 peduncle, 5 fruit, 6 petiolule; ${MESH_ABSENT}`,
  ),
  sim_xml: z
    .string()
    .nullable()
    .describe("structure document of the plant, of a canopy that of its first one (docs/species.md); null without one"),
});

/** Scalars of a plant's mesh. */
export const PlantMeshFields = z.object({
  materials: z.array(MeshMaterial).nullable().describe("the materials with textures; null = there is none"),
  textures: z
    .record(z.string(), z.string())
    .nullable()
    .describe("images by file name, base64 of PNG files; null = there is none"),
  vertex_count: z.int().describe("number of vertices, three per triangle"),
  triangle_count: z.int().describe("number of triangles"),
});

export const PlantFailure = {
  success: z.boolean().describe("false: the reason is in `error`, and there is no mesh"),
  error: z.string().nullable().describe("reason for the failure, a sentence for the user; null = success"),
  code: z.enum(errorCodes).optional().describe("only on failure: error code"),
  warnings: Warnings.optional(),
};

const canopyOnly = (meaning: string) => z.number().nullable().default(null).describe(`${meaning}; null for one plant`);

/** Fields of a plant that are no arrays. */
export const PlantFields = z.object({
  ...PlantFailure,
  ...PlantMeshFields.shape,
  plant_type: z.string().describe("the requested species"),
  age: z.number().describe("the requested age, days; in the result of a stream of one plant the age reached"),
  age_reached: z
    .number()
    .nullable()
    .describe("age of the plants, days: the requested one, or the largest age of the species; null on failure"),
  height: z
    .number()
    .nullable()
    .describe("highest point above the base, of a canopy that of its first plant, metres; null on failure"),
  available_models: z
    .array(z.string())
    .nullable()
    .describe("all species, if the requested one does not exist; otherwise null"),
  session_id: z
    .string()
    .nullable()
    .describe("session in which the plant can grow on, see /api/plant/session; null for canopies and on failure"),
  plant_count: canopyOnly("plants that germinated"),
  count_x: canopyOnly("echo"),
  count_y: canopyOnly("echo"),
  spacing_x: canopyOnly("echo, metres"),
  spacing_y: canopyOnly("echo, metres"),
  random_seed: z
    .int()
    .nullable()
    .default(null)
    .describe("seed of the plants, also where the request has none; null on failure"),
});
export type PlantFields = z.infer<typeof PlantFields>;

export const PlantGenerationResponse = z.object({ ...PlantFields.shape, ...PlantArrays.shape }).meta({
  id: "PlantGenerationResponse",
  description: `a plant or canopy as triangles: at most ${MAX_PLANT_TRIANGLES}; a larger one is a failure that names the frame (Accept: application/octet-stream)`,
});
export type PlantGenerationResponse = z.infer<typeof PlantGenerationResponse>;

const PlantModel = z
  .object({
    id: z.string().describe("species for plant_type"),
    name: z.string().describe("name for the user"),
    scientific_name: z.string().describe("botanical name"),
    group: z.string().describe("group in lists"),
    woody: z.boolean().describe("trees, shrubs and vines"),
    max_age_days: z.number().describe("age at which growth ends, days"),
    origin: z.enum(["bundled", "user"]).describe("user: from the folder APP_SPECIES_DIR"),
  })
  .meta({ id: "PlantModel", description: "a species" });
export type PlantModel = z.infer<typeof PlantModel>;

const SpeciesProblem = z
  .object({
    file: z.string().describe("file in the folder APP_SPECIES_DIR"),
    line: z.int().nullable().describe("line of the problem, from 1; null = of the whole file"),
    reason: z.string().describe("what is wrong with it"),
  })
  .meta({ id: "SpeciesProblem", description: "a species file that cannot be used" });
export type SpeciesProblem = z.infer<typeof SpeciesProblem>;

export const PlantModelsResponse = z
  .object({
    success: z.literal(true).describe("the library was read"),
    models: z.array(z.string()).describe("ids of all species, sorted"),
    details: z.array(PlantModel).describe("the same species with their names, in the same order"),
    problems: z.array(SpeciesProblem).describe("files of the user's folder that cannot be used; the others are listed"),
  })
  .meta({ id: "PlantModelsResponse", description: "the species that can grow" });
export type PlantModelsResponse = z.infer<typeof PlantModelsResponse>;
