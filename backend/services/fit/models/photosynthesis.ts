import { ASSIMILATION, CO2, LEAF_TEMPERATURE, QUANTA } from "../quantities/quantity.ts";
import { type Columns, type CurveModelEntry, column, largest, type ParameterValues, smallest } from "./model.ts";

const GAS_CONSTANT = 8.314e-3; // kJ mol-1 K-1
const ZERO_CELSIUS_K = 273.15;
const REFERENCE_K = 298.15;
const OXYGEN = 210; // mmol mol-1

/** Arrhenius function, 1 at 25 degrees Celsius; `energy` kJ mol-1. */
const arrhenius = (energy: number, kelvin: number) =>
  Math.exp((energy / GAS_CONSTANT) * (1 / REFERENCE_K - 1 / kelvin));

/** Peaked function of TPU, 1 at 25 degrees Celsius (Sharkey et al. 2007, table 1). */
function peaked(kelvin: number): number {
  const [rise, fall, entropy] = [53.1, 201.8, 0.65];
  const lost = (k: number) => 1 + Math.exp((k * entropy - fall) / (GAS_CONSTANT * k));
  return (arrhenius(rise, kelvin) * lost(REFERENCE_K)) / lost(kelvin);
}

/** Rubisco kinetics of Bernacchi et al. 2001, table 1, at each leaf temperature. */
const kinetics = {
  Kc: (k: number) => Math.exp(38.05 - 79.43 / (GAS_CONSTANT * k)), // umol mol-1
  Ko: (k: number) => Math.exp(20.3 - 36.38 / (GAS_CONSTANT * k)), // mmol mol-1
  Gstar: (k: number) => Math.exp(19.02 - 37.83 / (GAS_CONSTANT * k)), // umol mol-1
};

function derived(columns: Columns) {
  const kelvin = column(columns, "Tleaf").map((celsius) => celsius + ZERO_CELSIUS_K);
  const each = (of: (k: number) => number) => kelvin.map(of);
  return new Map([
    ["Km", each((k) => kinetics.Kc(k) * (1 + OXYGEN / kinetics.Ko(k)))],
    ["Gstar", each(kinetics.Gstar)],
    ["f_V", each((k) => arrhenius(65.33, k))],
    ["f_R", each((k) => arrhenius(46.39, k))],
    ["f_J", each((k) => arrhenius(43.9, k))],
    ["f_T", each(peaked)],
    ["I2", column(columns, "Qin").map((quanta) => 0.361 * quanta)],
  ]);
}

/** Capacities that some row needs at least: each row is limited by one of them. */
function starts(columns: Columns) {
  const A = column(columns, "A");
  const Ci = column(columns, "Ci");
  const of = derived(columns);
  const value = (name: string, row: number) => of.get(name)?.[row] ?? Number.NaN;
  const Rd25 = Math.min(Math.max(-smallest(A), 1), 5);
  const gross = A.map((net, row) => net + Rd25 * value("f_R", row));
  const needed = (capacity: (gross: number, row: number) => number) =>
    largest(gross.map(capacity).filter((one) => Number.isFinite(one) && one > 0));
  const beyond = (row: number) => (Ci[row] ?? 0) - value("Gstar", row);
  const Vcmax25 = needed((g, row) =>
    beyond(row) > 10 ? (g * ((Ci[row] ?? 0) + value("Km", row))) / beyond(row) / value("f_V", row) : 0,
  );
  const J = needed((g, row) =>
    beyond(row) > 10 ? (g * (4 * (Ci[row] ?? 0) + 8 * value("Gstar", row))) / beyond(row) / value("f_J", row) : 0,
  );
  const TPU25 = needed((g, row) => g / 3 / value("f_T", row));
  const within = (start: number, high: number) => (start > 0 ? Math.min(start, high) : high / 10);
  return { Vcmax25: within(0.8 * Vcmax25, 900), Jmax25: within(1.1 * J, 1800), TPU25: within(TPU25, 150), Rd25 };
}

const J = "2*I2*Jmax25*f_J/(I2 + Jmax25*f_J + sqrt((I2 - Jmax25*f_J)**2 + 1.2*I2*Jmax25*f_J))";

/** The lesser of two rates, rounded where they meet: the smaller root of CURVATURE y^2 - (a + b) y + a b = 0. */
const CURVATURE = 0.9999;
const lesser = (a: string, b: string) =>
  `((${a}) + (${b}) - sqrt(((${a}) - (${b}))**2 + ${Number((4 * (1 - CURVATURE)).toFixed(6))}*(${a})*(${b})))/${2 * CURVATURE}`;

const RUBISCO = "Vcmax25*f_V*(Ci - Gstar)/(Ci + Km)";
const ELECTRONS = `${J}*(Ci - Gstar)/(4*Ci + 8*Gstar)`;

/** What limits a row, the parameter that it tells of, and its rate. */
const LIMITS = [
  { by: "Rubisco", tells: "Vcmax25" },
  { by: "electron transport", tells: "Jmax25" },
  { by: "triose phosphate use", tells: "TPU25" },
] as const;
const FEW_ROWS = 3;
/** In umol mol-1; 250 Pa are 2500 umol mol-1. */
const LEAST_LARGEST_CI = 250;

/** How many rows are limited by each of LIMITS. */
function limitedRows(columns: Columns, values: ReadonlyMap<string, number>): number[] {
  const of = derived(columns);
  const Ci = column(columns, "Ci");
  const [Vcmax25 = 0, Jmax25 = 0, TPU25 = 0] = LIMITS.map(({ tells }) => values.get(tells));
  const counts = [0, 0, 0];
  Ci.forEach((ci, row) => {
    const at = (name: string) => of.get(name)?.[row] ?? Number.NaN;
    const [light, most] = [at("I2"), Jmax25 * at("f_J")];
    const electrons = (2 * light * most) / (light + most + Math.sqrt((light - most) ** 2 + 1.2 * light * most));
    const beyond = ci - at("Gstar");
    const rates = [
      (Vcmax25 * at("f_V") * beyond) / (ci + at("Km")),
      (electrons * beyond) / (4 * ci + 8 * at("Gstar")),
      3 * TPU25 * at("f_T"),
    ];
    const least = rates.indexOf(smallest(rates));
    counts[least] = (counts[least] ?? 0) + 1;
  });
  return counts;
}

function remarks(columns: Columns, values: ParameterValues): string[] {
  const counts = limitedRows(columns, values);
  const told = LIMITS.flatMap(({ by, tells }, at) => {
    const count = counts[at] ?? 0;
    if (!values.fitted.has(tells)) return [];
    if (count === 0) return [`No row is limited by ${by}: ${tells} is at least about its value, not measured.`];
    if (count >= FEW_ROWS) return [];
    return [
      `${count === 1 ? "One row is" : `${count} rows are`} limited by ${by}: ${tells} rests on ${count === 1 ? "it" : "them"}.`,
    ];
  });
  const most = largest(column(columns, "Ci"));
  const narrow =
    most < LEAST_LARGEST_CI
      ? [
          `The largest Ci is ${Number(most.toPrecision(3))} umol mol-1. If it is in Pa, divide by the air pressure: 1 Pa is 9.87 umol mol-1 at 101.3 kPa.`,
        ]
      : [];
  return [...told, ...narrow];
}

export const PHOTOSYNTHESIS_MODELS: readonly CurveModelEntry[] = [
  {
    id: "fvcb",
    name: "FvCB",
    required: [
      { name: "A", description: "net photosynthesis, umol m-2 s-1", quantity: ASSIMILATION },
      { name: "Ci", description: "CO2 inside the leaf, umol mol-1", quantity: CO2 },
      { name: "Qin", description: "incident photosynthetic photon flux density, umol m-2 s-1", quantity: QUANTA },
      { name: "Tleaf", description: "leaf temperature, degrees Celsius", quantity: LEAF_TEMPERATURE },
    ],
    optional: [{ name: "CurveID", description: "rows with the same value are one curve", value: null }],
    output: "A",
    equation: `${lesser(lesser(RUBISCO, ELECTRONS), "3*TPU25*f_T")} - Rd25*f_R`,
    shown_equation: `min(${RUBISCO}, ${ELECTRONS}, 3*TPU25*f_T) - Rd25*f_R`,
    parameters: [
      { symbol: "Vcmax25", description: "maximum carboxylation rate at 25 C, umol m-2 s-1", low: 0, high: 1000 },
      { symbol: "Jmax25", description: "maximum electron transport rate at 25 C, umol m-2 s-1", low: 0, high: 2000 },
      { symbol: "TPU25", description: "triose phosphate use at 25 C, umol m-2 s-1", low: 0, high: 200 },
      { symbol: "Rd25", description: "day respiration at 25 C, umol m-2 s-1", low: 0, high: 50 },
    ],
    derived,
    starts,
    remarks,
    has_local_minima: true,
    source:
      "Farquhar, von Caemmerer & Berry 1980, Planta 149: 78; Rubisco kinetics, Vcmax and Rd: Bernacchi et al. 2001, Plant, Cell & Environment 24: 253; Jmax and TPU: Sharkey et al. 2007, Plant, Cell & Environment 30: 1035; light response of J with curvature 0.7 and 0.361 electrons per incident photon: von Caemmerer 2000, Biochemical Models of Leaf Photosynthesis, section 2.2; the least rate as a hyperbolic minimum of curvature 0.9999: Duursma 2015, PLoS ONE 10: e0143346",
  },
];
