import type { LeafTrait } from "../../../shared/contract/fit-prospect.ts";
import { type FittedParameter, LEAF_PARAMETERS } from "../../native/leaf-optics.ts";

export type LeafSymbol = (typeof LEAF_PARAMETERS)[number];

interface TraitText {
  readonly units: string;
  readonly description: string;
  /** As in cpp/ops/fit/leaf_objective.cpp, which keeps estimates inside. */
  readonly bounds: readonly [number, number];
}

const TRAITS: Readonly<Record<LeafSymbol, TraitText>> = {
  N: { units: "-", description: "leaf structure: number of layers", bounds: [1, 3] },
  Cab: { units: "ug/cm2", description: "chlorophyll a + b", bounds: [0, 90] },
  Car: { units: "ug/cm2", description: "carotenoids", bounds: [0, 30] },
  Cbrown: { units: "-", description: "brown pigment", bounds: [0, 1] },
  Cw: { units: "cm", description: "equivalent water thickness", bounds: [0, 0.04] },
  Cm: { units: "g/cm2", description: "dry matter per area", bounds: [0, 0.02] },
  Ant: { units: "ug/cm2", description: "anthocyanins", bounds: [0, 5] },
  prot: { units: "g/cm2", description: "protein", bounds: [0, 0.006] },
  cbc: { units: "g/cm2", description: "carbon-based constituents other than protein", bounds: [0, 0.054] },
  a_scale: { units: "-", description: "scale of the calibration", bounds: [0.9, 1.1] },
  b_offset: { units: "-", description: "offset of the calibration", bounds: [-0.03, 0.03] },
};

export const symbolOf = ({ index }: FittedParameter): LeafSymbol => LEAF_PARAMETERS[index] as LeafSymbol;

/** The answer's entry of a parameter. */
export function leafTrait(parameter: FittedParameter): LeafTrait {
  const symbol = symbolOf(parameter);
  const { units, description, bounds } = TRAITS[symbol];
  const { value, std_error } = parameter;
  const at_bound = value <= bounds[0] ? "lower" : value >= bounds[1] ? "upper" : null;
  return { value, std_error, at_bound, symbol, units, description, fixed: false };
}

/** A value with its error, for sentences: 41.23 +- 0.52 ug/cm2. */
export function shownTrait({ value, std_error, units }: LeafTrait): string {
  const error = std_error === null ? "" : ` +- ${shownNumber(std_error)}`;
  return `${shownNumber(value)}${error}${units === "-" ? "" : ` ${units}`}`;
}

const shownNumber = (value: number) => String(Number(value.toPrecision(3)));
