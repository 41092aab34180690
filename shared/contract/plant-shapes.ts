import { z } from "zod";

/* Species files, resources/species/<id>.json: `shapes`, what the organs look like. Growth: plant-species.ts. */

const number = (least: number, most: number, text: string) => z.number().min(least).max(most).describe(text);
const whole = (least: number, most: number, text: string) => z.int().min(least).max(most).describe(text);
const range = (least: number, most: number, text: string) =>
  z.tuple([z.number().min(least).max(most), z.number().min(least).max(most)]).describe(text);
const color = (text: string) =>
  z
    .tuple([z.number().min(0).max(1), z.number().min(0).max(1), z.number().min(0).max(1)])
    .describe(`${text}, sRGB 0..1`);

/** A blade of length 1: leaf, leaflet, petal. Lengths are relative to it. */
export const Blade = z
  .strictObject({
    form: z
      .enum(["pinnate", "polar", "needle"])
      .default("pinnate")
      .describe("half width by exponents along the midrib; radius by angle round the base; closed round spindle"),
    width_ratio: number(0.0001, 4, "largest width / length"),
    base_exponent: number(
      0.05,
      5,
      "half width ~ x^base (1 - x)^tip: small = blunt, 1 = wedge, larger = drawn out",
    ).default(0.7),
    tip_exponent: number(0.05, 5, "the same at the tip").default(0.7),
    outline: z
      .array(z.tuple([z.number().min(0).max(179), z.number().min(0.01).max(10)]))
      .max(64)
      .default([])
      .describe("polar: [degrees from the tip's direction, radius] of one side, ascending from 0; mirrored"),
    fold_deg: number(-85, 85, "degrees by which each half is raised at the midrib").default(0),
    bend_deg: number(-360, 360, "degrees by which the midrib turns down from base to tip").default(0),
    bend_exponent: number(0.5, 10, "1 = even bend; larger = near the tip").default(1),
    cup_deg: number(-170, 170, "degrees by which the surface turns up from the midrib to the margin").default(0),
    twist_deg: number(-1080, 1080, "degrees about the midrib from base to tip").default(0),
    wave_amplitude: number(0, 0.2, "of the margin / length of the blade").default(0),
    wave_count: number(0, 50, "waves along the margin").default(0),
    buckle_position: range(0, 1, "place where the blade folds over, from .. to between variants").default([0.4, 0.6]),
    buckle_deg: range(0, 150, "degrees by which it folds over, from .. to between variants").default([0, 0]),
    length_divisions: whole(1, 256, "cells along the blade; polar: along one side of the outline").default(8),
    width_divisions: whole(1, 64, "cells of each half; polar: along the radius").default(3),
  })
  .refine((blade) => blade.form !== "polar" || blade.outline.length >= 3, "a polar blade needs 3 points of outline")
  .refine(
    ({ outline }) => outline.every(([angle], i) => (i === 0 ? angle === 0 : angle > (outline[i - 1]?.[0] ?? 0))),
    "the angles of the outline must ascend from 0",
  );
export type Blade = z.infer<typeof Blade>;

/** The picture on a blade: drawn by scripts/draw-leaf-textures.mjs from these numbers. */
export const LeafTexture = z.strictObject({
  file: z
    .string()
    .regex(/^[a-z0-9_]+\.png$/)
    .describe("in resources/leaf-textures"),
  coverage: number(0.01, 1, "share of the blade that is not cut out by the alpha channel; measured by the script"),
  veins: z
    .enum(["pinnate", "palmate", "parallel"])
    .describe("branching from the midrib; from the base to the corners of the outline; side by side"),
  vein_pairs: whole(0, 60, "side veins of each half; palmate: main veins of each half").default(7),
  vein_angle_deg: number(5, 90, "between midrib and side veins").default(50),
  teeth: whole(0, 200, "teeth along each half of the margin; 0 = entire").default(0),
  tooth_depth: number(0, 0.2, "cut between two teeth / length of the blade").default(0),
  double_teeth: z.boolean().default(false).describe("each tooth carries smaller ones"),
  vein_color: color("veins"),
  tip_color: color("blade at the tip").nullable().default(null),
});
export type LeafTexture = z.infer<typeof LeafTexture>;

export const LeafShape = z.strictObject({
  blade: Blade,
  variants: whole(1, 64, "prototypes with waves and buckles of their own").default(1),
  color: color("blade; also where the texture is not drawn"),
  texture: LeafTexture.nullable().default(null),
  leaflet_angle_deg: number(0, 180, "degrees between the petiole and lateral leaflets").default(60),
  petiolule_length: number(0, 2, "stalk of a lateral leaflet / length of its blade").default(0),
  petiolule_radius: number(0, 0.5, "its radius / length of its blade").default(0.01),
  turns_up: z
    .boolean()
    .default(false)
    .describe("the petiole twists until the upper side of its blades faces the sky, as on runners and level twigs"),
  is_sheathed: z.boolean().default(false).describe("the petiole is a sheath that follows the shoot above its node"),
});
export type LeafShape = z.infer<typeof LeafShape>;

/** Blades round the axis (+x) of a flower or fruit: petals, sepals, bracts, husks, awns. */
export const Whorl = z.strictObject({
  blade: Blade,
  count: whole(1, 500, "blades"),
  length: number(0.001, 10, "of a blade; all lengths of an organ are relative to each other"),
  position: number(-10, 10, "of the insertion along the axis").default(0),
  distance: number(0, 10, "of the insertion from the axis").default(0),
  opening_deg: number(-180, 180, "degrees from the axis: 0 = forwards, 90 = spread flat").default(80),
  closed_deg: number(-180, 180, "the same in a closed flower").default(5),
  closed_scale: number(0.01, 10, "size in a closed flower / in an open one").default(0.7),
  azimuth_deg: number(-360, 360, "of the first blade; 0 = the lower side").default(0),
  spread_deg: number(0, 360, "azimuth range of the blades").default(360),
  color: color("blades"),
});
export type Whorl = z.infer<typeof Whorl>;

/** A solid or shell of revolution round the axis (+x), or many copies of it. */
export const Body = z.strictObject({
  profile: z
    .array(z.tuple([z.number().min(-10).max(10), z.number().min(0).max(10)]))
    .min(2)
    .max(64)
    .describe("[x, radius] from the base on; a smooth curve passes through the points"),
  rings: whole(2, 128, "divisions along the profile").default(8),
  sides: whole(3, 128, "divisions round the axis").default(8),
  ribs: whole(0, 32, "bulges round the axis").default(0),
  rib_depth: number(0, 0.9, "furrow between two bulges / radius").default(0),
  flatness: number(0.01, 10, "thickness / width").default(1),
  bend_deg: number(-360, 360, "degrees by which the axis turns down from base to end").default(0),
  is_shell: z.boolean().default(false).describe("open at ends with a radius above 0"),
  grows_on_opening: z.boolean().default(false).describe("left out of a closed flower"),
  color: color("at the base"),
  tip_color: color("at the end; null = as at the base").nullable().default(null),
  copies: whole(1, 5000, "bodies along the axis: berries, grains, spikelets").default(1),
  copy_position: range(-10, 10, "x of the first and the last copy").default([0, 0]),
  copy_distance: range(0, 10, "of the first and the last copy from the axis").default([0, 0]),
  copy_tilt_deg: range(-180, 180, "degrees of the first and the last copy from the axis").default([0, 0]),
  copy_scale: range(0.01, 10, "size of the first and the last copy").default([1, 1]),
  divergence_deg: number(-360, 360, "degrees round the axis from one copy to the next").default(137.5),
  jitter_deg: number(0, 90, "largest random change of a copy's tilt and azimuth").default(0),
});
export type Body = z.infer<typeof Body>;

/** A flower, inflorescence or fruit: scaled so that its largest extent, of a flower when open, is 1. */
export const Organ = z
  .strictObject({ whorls: z.array(Whorl).max(32).default([]), bodies: z.array(Body).max(32).default([]) })
  .refine(({ whorls, bodies }) => whorls.length + bodies.length > 0, "an organ needs a whorl or a body");
export type Organ = z.infer<typeof Organ>;

const named = <T extends z.ZodType>(shape: T) => z.record(z.string().min(1).max(64), shape).default({});

export const PlantShapes = z.strictObject({
  leaves: named(LeafShape),
  flowers: named(Organ),
  fruits: named(Organ),
  stem_color: color("young shoots").default([0.4, 0.55, 0.25]),
  bark_color: color("shoots from bark_radius_m on").default([0.45, 0.3, 0.15]),
  bark_radius_m: number(0, 100, "radius from which shoots have bark, metres; 100 = none").default(100),
  deviation_ratio: number(
    0,
    0.01,
    "how far organs and tubes may be from their full meshes, relative to the plant's height; 0 = full meshes",
  ).default(0),
  triangle_budget: whole(
    1,
    1_000_000_000,
    "triangles of a plant above which that distance is doubled, twice at most",
  ).default(3_000_000),
  petiole_color: color("petioles and petiolules").default([0.4, 0.6, 0.25]),
  peduncle_color: color("stalks of flowers and fruits").default([0.4, 0.6, 0.25]),
});
export type PlantShapes = z.infer<typeof PlantShapes>;
