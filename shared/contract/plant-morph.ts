import { z } from "zod";
import { bulkText } from "./bulk-list.ts";
import { PlantArrays, PlantFailure, PlantMeshFields, PlantType } from "./plant.ts";

const simXml = bulkText().describe("structure document of a plant (docs/species.md), as sim_xml of a plant response");
const expression = z
  .string()
  .nullish()
  .default(null)
  .describe(
    "edits, separated by ;: [shoot_type.]parameter = | *= | += number | uniform(a, b) | normal(mean, sd) | constant(a), such as: proleptic.insertion_angle_tip = 40; leaf_scale *= 1.2",
  );

export const MorphParseRequest = z
  .object({ sim_xml: simXml, plant_type: PlantType, expression })
  .meta({ id: "MorphParseRequest" });
export type MorphParseRequest = z.infer<typeof MorphParseRequest>;

/** `sim_xml` may be a native column, so the morph is read with its own schema. */
export const MorphRequest = z
  .object({ plant_type: PlantType, sim_xml: simXml, expression })
  .meta({ id: "MorphRequest" });
export type MorphRequest = z.infer<typeof MorphRequest>;

const Texts = z.record(z.string(), z.unknown());

const MorphPhytomer = z
  .looseObject({
    internode: Texts.describe("values of the internode by tag, as texts; length in metres, angles in degrees"),
    petioles: z
      .array(
        z.looseObject({
          leaves: z.array(Texts).describe("blades: values by tag, as texts"),
          floral_buds: z.array(Texts).describe("floral buds: values by tag, as texts"),
        }),
      )
      .describe("petioles: values by tag, as texts, with their leaves and floral buds"),
  })
  .meta({ id: "MorphPhytomer", description: "an internode and the organs at its tip; unknown tags are kept" });

const MorphShoot = z
  .looseObject({
    shoot_id: z.int().describe("number of the shoot"),
    shoot_type_label: z.string().describe("shoot type of the species"),
    parent_shoot_id: z.int().describe("-1 = the base of the plant"),
    parent_node_index: z.int().describe("phytomer of the parent, from 0"),
    parent_petiole_index: z.int().describe("petiole of that phytomer, from 0"),
    base_rotation: z.string().describe("pitch, yaw, roll, degrees"),
    phytomers: z.array(MorphPhytomer).describe("from base to tip"),
  })
  .meta({ id: "MorphShoot", description: "a shoot of the document" });

export const ParamDistribution = z
  .object({
    distribution: z.enum(["constant", "uniform", "normal", "weibull"]).describe("kind"),
    parameters: z
      .array(z.number())
      .describe("constant: value; uniform: lowest, highest; normal: mean, standard deviation; weibull: shape, scale"),
  })
  .meta({ id: "ParamDistribution", description: "distribution of a growth parameter" });
export type ParamDistribution = z.infer<typeof ParamDistribution>;

export const MorphEdit = z
  .object({
    shoot_type: z.string().nullable().describe("null = every shoot type"),
    param: z.string().describe("parameter or geometry scale"),
    op: z.enum(["=", "*=", "+="]).describe("= representative value, *= factor, += offset"),
    value: z.union([z.number(), ParamDistribution]).describe("number, or distribution drawn once per phytomer"),
  })
  .meta({ id: "MorphEdit", description: "an edit of the expression" });
export type MorphEdit = z.infer<typeof MorphEdit>;

const MorphSlider = z
  .object({
    shoot_type: z.string().nullable().describe("null = a geometry scale of the whole plant"),
    param: z.string().describe("parameter or geometry scale"),
    default: z.number().describe("representative value of the species: value, midpoint or mean; 1 for a scale"),
    min: z.number().describe("lowest value of the slider"),
    max: z.number().describe("highest value of the slider"),
    step: z.number().describe("step of the slider"),
  })
  .meta({ id: "MorphSlider", description: "a value that a morph can change" });
export type MorphSlider = z.infer<typeof MorphSlider>;

export const MorphParseResponse = z
  .object({
    ...PlantFailure,
    plant_type: z.string().describe("the requested species"),
    plant_age: z.number().nullable().describe("age of the plant, days; null on failure"),
    base_position: z.string().nullable().describe('"x y z", metres; null on failure'),
    shoots: z.array(MorphShoot).describe("shoots of the document, parents first; empty on failure"),
    distribution_params: z
      .record(z.string(), z.record(z.string(), z.union([ParamDistribution, z.boolean()])))
      .describe("growth parameters of the species by shoot type; {} for an unknown species"),
    sliders: z.array(MorphSlider).describe("values that a morph can change; empty for an unknown species"),
    edits: z.array(MorphEdit).describe("the expression; empty without one"),
  })
  .meta({ id: "MorphParseResponse", description: "a structure document as editable values" });
export type MorphParseResponse = z.infer<typeof MorphParseResponse>;

export const MorphResponse = z
  .object({
    ...PlantFailure,
    session_id: z.string().nullable().describe("session of the new plant; null on failure"),
    current_age: z.number().nullable().describe("age of the plant, days; null on failure"),
    height: z.number().nullable().describe("highest point above the base, metres; null on failure"),
    ...PlantMeshFields.shape,
    ...PlantArrays.shape,
  })
  .meta({ id: "MorphResponse", description: "the plant of an edited document as triangles" });
export type MorphResponse = z.infer<typeof MorphResponse>;
