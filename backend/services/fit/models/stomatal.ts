import { AppError } from "../../../../shared/errors.ts";
import { ASSIMILATION, CO2, CONDUCTANCE, DEFICIT, HUMIDITY } from "../quantities/quantity.ts";
import { type Columns, type CurveModelEntry, column, smallest } from "./model.ts";

const A = { name: "A", description: "net photosynthesis, umol m-2 s-1", quantity: ASSIMILATION };
const GS = { name: "gs", description: "stomatal conductance to water vapour, mol m-2 s-1", quantity: CONDUCTANCE };
const VPD = { name: "VPD", description: "vapour pressure deficit of the leaf, kPa, above 0", quantity: DEFICIT };
const CA = {
  name: "Ca",
  description: "CO2 at the leaf surface, umol mol-1; 420 if absent",
  value: 420,
  quantity: CO2,
  is_told: true as const,
};
const GAMMA = {
  name: "Gamma",
  description: "CO2 compensation point, umol mol-1; 0 if absent",
  value: 0,
  quantity: CO2,
};
const GS0 = { symbol: "gs0", description: "conductance without photosynthesis, mol m-2 s-1", low: 0, high: 100 };

/** The models hold for leaves that photosynthesise. */
function darkRows(columns: Columns): string[] {
  const dark = column(columns, "A").filter((net) => net <= 0).length;
  if (dark === 0) return [];
  return [
    `${dark === 1 ? "One row has" : `${dark} rows have`} A of 0 or less, where the model is none of stomata: leave rows of the dark out.`,
  ];
}

/** Errors: invalid_argument for a deficit that is not above 0. */
function checkDeficit(columns: Columns): void {
  const least = smallest(column(columns, "VPD"));
  if (least > 0) return;
  throw new AppError("invalid_argument", `VPD has the value ${least}; the model needs a deficit above 0 kPa`);
}

export const STOMATAL_MODELS: readonly CurveModelEntry[] = [
  {
    id: "med2011",
    name: "Medlyn 2011",
    required: [A, VPD, GS],
    optional: [CA, GAMMA],
    output: "gs",
    equation: "gs0 + 1.6*(1 + g1/sqrt(VPD))*A/(Ca - Gamma)",
    parameters: [GS0, { symbol: "g1", description: "slope, kPa^0.5", low: 0, high: 1000 }],
    starts: (columns) => {
      checkDeficit(columns);
      return { gs0: 0.01, g1: 3 };
    },
    remarks: darkRows,
    source: "Medlyn et al. 2011, Global Change Biology 17: 2134, eq. 11; with Gamma: (Ca - Gamma) instead of Ca",
  },
  {
    id: "bwb1987",
    name: "Ball-Woodrow-Berry",
    required: [
      A,
      { name: "hs", description: "relative humidity at the leaf surface, a fraction", quantity: HUMIDITY },
      GS,
    ],
    optional: [CA],
    output: "gs",
    equation: "gs0 + g1*A*hs/Ca",
    parameters: [GS0, { symbol: "g1", description: "slope", low: 0, high: 10_000 }],
    starts: () => ({ gs0: 0.01, g1: 9 }),
    remarks: darkRows,
    source: "Ball, Woodrow & Berry 1987, Progress in Photosynthesis Research IV: 221",
  },
  {
    id: "bbl1995",
    name: "Ball-Berry-Leuning",
    required: [A, VPD, GS],
    optional: [
      CA,
      { ...GAMMA, is_told: true },
      {
        name: "D0",
        description: "sensitivity to VPD, kPa, where it is known; else a parameter",
        value: null,
        quantity: DEFICIT,
      },
    ],
    output: "gs",
    equation: "gs0 + a1*A/((Ca - Gamma)*(1 + VPD/D0))",
    parameters: [
      GS0,
      { symbol: "a1", description: "slope", low: 0, high: 10_000 },
      { symbol: "D0", description: "sensitivity to VPD, kPa; only without a column D0", low: 1e-3, high: 1000 },
    ],
    starts: (columns) => {
      checkDeficit(columns);
      return { gs0: 0.01, a1: 10, D0: 1.5 };
    },
    remarks: darkRows,
    source: "Leuning 1995, Plant, Cell & Environment 18: 339, eq. 4",
  },
];
