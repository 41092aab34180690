import { z } from "zod";
import { PlantShapes } from "./plant-shapes.ts";
import { PlantGrowth } from "./plant-species.ts";

/* Species files, resources/species/<id>.json: who it is, and what its plants measure; growth: plant-species.ts. */

export const SPECIES_IDS = [
  "almond",
  "almond_aldrich",
  "almond_wood_colony",
  "apple",
  "apple_fruitingwall",
  "asparagus",
  "bean",
  "bindweed",
  "bougainvillea",
  "butterlettuce",
  "capsicum",
  "cheeseweed",
  "cherrytomato",
  "cowpea",
  "easternredbud",
  "grapevine_VSP",
  "grapevine_Wye",
  "groundcherryweed",
  "maize",
  "olive",
  "pistachio",
  "puncturevine",
  "rice",
  "sorghum",
  "soybean",
  "strawberry",
  "sugarbeet",
  "tomato",
  "walnut",
  "wheat",
] as const;
export type SpeciesId = (typeof SPECIES_IDS)[number];

export const SPECIES_GROUPS = ["Trees", "Vines", "Cereals", "Vegetables", "Weeds"] as const;

const source = z.string().min(1).max(64).describe("key in `sources`");

/** What the mean over several seeds must measure. */
export const ExpectedRange = z
  .strictObject({
    range: z.tuple([z.number().min(0), z.number().min(0)]).describe("lowest and highest mean"),
    source,
    note: z.string().min(1).max(200).optional(),
  })
  .refine(({ range: [low, high] }) => low <= high && high <= 2 * low, "the highest value is at most twice the lowest");
export type ExpectedRange = z.infer<typeof ExpectedRange>;

const measured = (text: string) => ExpectedRange.describe(text);

export const ExpectedAge = z.strictObject({
  age_days: z.number().min(0),
  height_m: measured("metres from the ground to the highest organ"),
  leaves: measured("leaves; a compound leaf counts once"),
  leaf_area_m2: measured("one-sided area of all blades, m2"),
  leaf_area_index: measured("leaf area / ground area at the spacing, m2/m2"),
  base_diameter_m: measured("diameter of the first internode, metres"),
});

export const Expected = z.strictObject({
  row_spacing_m: z.number().positive().describe("metres between rows"),
  plant_spacing_m: z.number().positive().describe("metres between the plants of a row"),
  spacing_source: source,
  phyllotactic_angle_deg: measured("mean azimuth step between nodes, degrees"),
  insertion_angle_deg: measured("mean angle between a lateral shoot and its parent, degrees").nullable(),
  ages: z.array(ExpectedAge).length(3).describe("ascending"),
});

/** A species file. */
export const SpeciesFile = PlantGrowth.extend({
  id: z.enum(SPECIES_IDS),
  name: z.string().min(1).max(64).describe("display name"),
  scientific_name: z.string().min(1).max(64),
  group: z.enum(SPECIES_GROUPS),
  expected: Expected,
  sources: z.record(z.string().min(1).max(64), z.string().min(1).max(400)).describe("citations by key"),
  shapes: PlantShapes,
}).strict();
export type SpeciesFile = z.infer<typeof SpeciesFile>;
