import { z } from "zod";

/* Species files, resources/species/<id>.json: the growth part. Shapes of organs: plant-shapes.ts. */

const MOST_DAYS = 40_000;

/** A number that varies between shoots or between organs. */
export const Distribution = z.union([
  z.number(),
  z.strictObject({ uniform: z.tuple([z.number(), z.number()]).describe("lowest and highest value") }),
  z.strictObject({
    normal: z.tuple([z.number(), z.number().min(0)]).describe("mean and standard deviation; draws stay within 3 of it"),
  }),
  z.strictObject({ weibull: z.tuple([z.number().min(0.5), z.number().min(0)]).describe("shape and scale") }),
]);
export type Distribution = z.infer<typeof Distribution>;

const varies = (text: string) => Distribution.describe(text);
const optional = (text: string) => varies(text).default(0);
const probability = (text: string) => z.number().min(0).max(1).describe(text);
const days = (text: string) => z.number().min(0).max(MOST_DAYS).nullable().default(null).describe(text);
const profile = (what: string) =>
  z
    .array(z.tuple([z.number().min(0).max(1), z.number().min(0).max(100)]))
    .max(64)
    .default([])
    .describe(`[node index / (max_nodes - 1), factor of ${what}], ascending, linear between; empty = 1`);
const whole = (least: number, most: number, text: string) => z.int().min(least).max(most).describe(text);

export const Phenology = z.strictObject({
  dormancy_break_day: z
    .number()
    .min(0)
    .max(MOST_DAYS)
    .default(0)
    .describe("days from the start of dormancy, which is age 0, to bud break; 0 = starts growing at once"),
  flower_initiation_days: days("days from the start of the season to the first closed flowers; null = at once"),
  flower_opening_days: days("days from initiation to opening; null = no open flowers"),
  fruit_set_days: days("days from opening to fruit set; null = no fruits"),
  fruit_maturity_days: days("days from fruit set to full size; null = fruits are full-grown at once"),
  season_days: days("days from dormancy break to the next dormancy, or of an annual to senescence; null = no end"),
  flower_lifespan_days: days("days that a flower stays open if it sets no fruit; null = until the end of the season"),
  leaf_lifespan_days: days("age at which a leaf falls, days; null = at dormancy or never"),
  evergreen: z.boolean().default(false).describe("leaves stay through dormancy"),
});

export const LeafGrowth = z.strictObject({
  leaf_shape: z.string().describe("name of the blade in `shapes`"),
  leaflets: whole(1, 101, "blades per petiole; more than one = a compound leaf").default(1),
  area_coefficient: z.number().min(0).max(10).describe("one-sided area of a blade / square of its length"),
  leaf_scale: varies("length of the full-grown blade, of a compound leaf that of the terminal leaflet, metres"),
  leaf_pitch: optional("degrees, blade against the petiole"),
  leaf_yaw: optional("degrees"),
  leaf_roll: optional("degrees, about the blade's midrib"),
  leaflet_scale: varies("length of each pair of leaflets / that of the next one toward the tip").default(1),
  leaflet_offset: optional("distance between pairs of leaflets / length of the petiole"),
  petiole_length: optional("metres"),
  petiole_radius: optional("radius at its base, metres"),
  petiole_pitch: optional("degrees between shoot and petiole"),
  petiole_curvature: optional("degrees per metre toward the vertical; negative droops"),
  petiole_taper: optional("0..1: radius at the tip = (1 - taper) times that at the base"),
  petiole_length_segments: whole(1, 64, "segments of the drawn petiole").default(3),
  petiole_radial_subdivisions: whole(1, 64, "sides of the drawn petiole").default(6),
});

export const Inflorescence = z.strictObject({
  flower_shape: z.string().default("").describe('name of the flower in `shapes`; "" = not drawn'),
  fruit_shape: z.string().default("").describe('name of the fruit in `shapes`; "" = not drawn'),
  buds: varies("floral buds per petiole; of terminal ones per shoot (max_terminal_floral_buds)"),
  first_node: whole(0, 10_000, "axillary buds: first node of a shoot that bears them").default(0),
  last_node: whole(0, 10_000, "last node that bears them; null = the tip").nullable().default(null),
  flower_bud_break_probability: probability("share of the buds that become active"),
  fruit_set_probability: probability("share of the flowering buds that set fruit"),
  flowers: varies("flowers per bud").default(1),
  flower_pitch: optional("degrees from the peduncle"),
  flower_yaw: optional("degrees"),
  flower_roll: optional("degrees"),
  flower_azimuth: optional("degrees round the peduncle from one flower to the next"),
  flower_base_scale: optional("length of the open flower, metres"),
  fruit_scale: optional("length of the full-grown fruit, metres"),
  flower_offset: optional("distance between flowers / length of the peduncle"),
  peduncle_length: optional("metres"),
  peduncle_radius: optional("metres"),
  peduncle_pitch: optional("degrees from the shoot"),
  peduncle_curvature: optional("degrees per metre toward the vertical; negative droops"),
  peduncle_roll: optional("degrees"),
});

export const ShootType = z.strictObject({
  max_nodes: varies("nodes of a finished shoot"),
  max_nodes_per_season: whole(1, 10_000, "new nodes between dormancies; null = no limit").nullable().default(null),
  phyllochron_min: varies("days from one node to the next"),
  elongation_rate_max: varies("growth of internodes and leaves per day, as a share of their final size"),
  internode_length_max: varies("length of a full-grown internode, metres"),
  internode_length_min: optional("least length where internodes get shorter along the shoot, metres"),
  internode_length_decay_rate: optional("length lost per node, metres"),
  internode_length_profile: profile("internode length"),
  internode_radius_initial: varies("radius of a young internode, metres"),
  girth_area_factor: z.number().min(0).max(1e4).describe("cross-section per leaf area carried, cm2 per m2"),
  internode_pitch: optional("degrees by which each internode tilts away from the leaf below it"),
  phyllotactic_angle: varies("degrees from one node to the next"),
  internode_length_segments: whole(1, 64, "segments of an internode").default(1),
  gravitropic_curvature: optional("degrees per metre toward the vertical; negative droops"),
  tortuosity: optional("spread of the heading along the axis, degrees (per square root of a metre)"),
  insertion_angle_tip: optional("degrees between parent and shoot, at the tip of the parent"),
  insertion_angle_decay_rate: optional("degrees added per node below the tip, to at most 90"),
  base_yaw: optional("degrees by which a lateral leaves the direction of its leaf"),
  base_roll: optional("degrees at which its phyllotaxis starts"),
  bears_vegetative_buds: z.boolean().default(false).describe("axils bear a bud that can grow to a lateral"),
  vegetative_buds_first_node: whole(0, 10_000, "first node of a shoot whose axils bear a bud").default(0),
  vegetative_buds_last_node: whole(0, 10_000, "last node that bears one; null = the tip").nullable().default(null),
  vegetative_bud_break_probability_min: probability("least probability that a bud breaks").default(0),
  vegetative_bud_break_probability_max: probability("at the strongest end of the shoot").default(1),
  vegetative_bud_break_probability_decay_rate: z
    .number()
    .min(-1)
    .max(1)
    .default(0)
    .describe("lost per node: > 0 from tip to base, < 0 from base to tip; 0 = always the least probability"),
  vegetative_bud_break_time: optional("days from a node's birth to the break of its bud"),
  growth_requires_dormancy: z.boolean().default(false).describe("buds break only after a dormancy"),
  flowers_require_dormancy: z.boolean().default(false).describe("floral buds open only after a dormancy"),
  petioles_per_node: whole(0, 32, "leaves per node; 0 = bare").default(1),
  leaf: LeafGrowth.nullable().default(null),
  first_nodes: z
    .strictObject({
      count: whole(1, 10_000, "nodes from the base that differ from the others"),
      petioles_per_node: whole(0, 32, "leaves per node"),
      leaf: LeafGrowth,
    })
    .nullable()
    .default(null),
  leaf_scale_profile: profile("leaf_scale and petiole_length"),
  axillary: Inflorescence.nullable().default(null),
  terminal: Inflorescence.nullable().default(null),
  laterals: z
    .array(z.strictObject({ shoot_type: z.string(), probability: probability("share of the laterals").default(1) }))
    .max(16)
    .default([])
    .describe("shoot types of the laterals; the probabilities add up to 1"),
});
export type ShootType = z.infer<typeof ShootType>;

export const StartShoot = z.strictObject({
  shoot_type: z.string(),
  parent: whole(-1, 255, "index of an earlier entry of `start`; -1 = the base").default(-1),
  parent_node: whole(0, 10_000, "node of the parent; null = the last one").nullable().default(null),
  nodes: varies("number of nodes at age 0").default(1),
  full_grown: z.boolean().default(false).describe("trained: the nodes emerged before age 0"),
  bears_leaves: z.boolean().default(false).describe("full-grown nodes still have their leaves at age 0"),
  pitch: optional("degrees from the parent's direction"),
  yaw: optional("degrees round the parent"),
  roll: optional("degrees at which its phyllotaxis starts"),
});

/** What growth needs of a species file. */
export const PlantGrowth = z.strictObject({
  id: z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/),
  woody: z.boolean().describe("bark instead of green stems"),
  max_age_days: z.number().min(0).max(MOST_DAYS).describe("growth stops at this age"),
  phenology: Phenology,
  shoot_types: z.record(z.string().min(1).max(64), ShootType),
  start: z.array(StartShoot).min(1).max(256).describe("shoots at age 0, parents first"),
});
export type PlantGrowth = z.infer<typeof PlantGrowth>;
