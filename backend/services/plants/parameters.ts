import type { MorphSlider, ParamDistribution } from "../../../shared/contract/plant-morph.ts";
import type { Distribution, PlantGrowth, ShootType } from "../../../shared/contract/plant-species.ts";

/** Growth parameters that a morph can change, with the lowest and highest values that make sense. */
export const EDITABLE = {
  internode_length_max: { least: 0, most: 10 },
  insertion_angle_tip: { least: 0, most: 180 },
  girth_area_factor: { least: 0, most: 1e4 },
  gravitropic_curvature: { least: -1e5, most: 1e5 },
  tortuosity: { least: 0, most: 1e4 },
} as const;
export type EditableParameter = keyof typeof EDITABLE;
export const isEditable = (name: string): name is EditableParameter => Object.hasOwn(EDITABLE, name);

/** Parameters that are shown only: they have acted when the plant grew. */
export const READ_ONLY = [
  "max_nodes",
  "max_nodes_per_season",
  "phyllochron_min",
  "elongation_rate_max",
  "vegetative_bud_break_probability_min",
  "vegetative_bud_break_probability_decay_rate",
  "vegetative_bud_break_time",
  "flower_bud_break_probability",
  "max_terminal_floral_buds",
  "fruit_set_probability",
  "flowers_require_dormancy",
  "insertion_angle_decay_rate",
  "base_roll",
  "base_yaw",
] as const;

/** Scales of organs that exist, of 1 without a morph. */
export const GEOMETRY_SCALES = ["leaf_scale", "petiole_length", "petiole_radius", "internode_radius"] as const;
export type GeometryScale = (typeof GEOMETRY_SCALES)[number];
export const isGeometryScale = (name: string): name is GeometryScale =>
  (GEOMETRY_SCALES as readonly string[]).includes(name);
export const SCALE_RANGE = { least: 0.1, most: 3, step: 0.01 } as const;

/** A distribution of a species file as the wire shows it. */
export function paramDistribution(value: Distribution): ParamDistribution {
  if (typeof value === "number") return { distribution: "constant", parameters: [value] };
  if ("uniform" in value) return { distribution: "uniform", parameters: [...value.uniform] };
  if ("normal" in value) return { distribution: "normal", parameters: [...value.normal] };
  return { distribution: "weibull", parameters: [...value.weibull] };
}

/** The value that stands for a distribution: constant, midpoint, mean; of a Weibull distribution the median. */
export function representative(value: number | ParamDistribution): number {
  if (typeof value === "number") return value;
  const [a = 0, b = 0] = value.parameters;
  if (value.distribution === "uniform") return (a + b) / 2;
  return value.distribution === "weibull" ? b * Math.LN2 ** (1 / a) : a;
}

export const representativeOf = (type: ShootType, parameter: EditableParameter): number =>
  representative(paramDistribution(type[parameter]));

type Params = Record<string, ParamDistribution | boolean>;

/** Growth parameters of every shoot type, the editable ones first. What a shoot type lacks is left out. */
export function distributionParams({ shoot_types }: PlantGrowth): Record<string, Params> {
  const of = (type: ShootType): Params => {
    const flowers = type.axillary ?? type.terminal;
    const values: Record<string, Distribution | boolean | null | undefined> = {
      ...type,
      flower_bud_break_probability: flowers?.flower_bud_break_probability,
      fruit_set_probability: flowers?.fruit_set_probability,
      max_terminal_floral_buds: type.terminal?.buds,
    } as never;
    const shown = [...Object.keys(EDITABLE), ...READ_ONLY].flatMap((name) => {
      const value = values[name];
      if (value === undefined || value === null) return [];
      return [[name, typeof value === "boolean" ? value : paramDistribution(value)] as const];
    });
    return Object.fromEntries(shown);
  };
  return Object.fromEntries(Object.entries(shoot_types).map(([label, type]) => [label, of(type)]));
}

/** Sliders of a species: 0 to three times the default, and the scales of the whole plant. */
export function sliders({ shoot_types }: PlantGrowth): MorphSlider[] {
  const of = ([shoot_type, type]: [string, ShootType]) =>
    (Object.keys(EDITABLE) as EditableParameter[]).map((param): MorphSlider => {
      const value = representativeOf(type, param);
      const [min, max] = value < 0 ? [3 * value, 0] : [0, 3 * value];
      return { shoot_type, param, default: value, min, max, step: stepOf(Math.abs(value)) };
    });
  const scales = GEOMETRY_SCALES.map((param): MorphSlider => {
    const { least, most, step } = SCALE_RANGE;
    return { shoot_type: null, param, default: 1, min: least, max: most, step };
  });
  return [...Object.entries(shoot_types).flatMap(of), ...scales];
}

const stepOf = (value: number): number => (value < 0.01 ? 0.001 : value < 1 ? 0.005 : value < 10 ? 0.1 : 1);
