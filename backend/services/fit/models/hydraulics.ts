import { AppError } from "../../../../shared/errors.ts";
import { POTENTIAL, WATER_CONTENT } from "../quantities/quantity.ts";
import {
  average,
  type Columns,
  type CurveModelEntry,
  column,
  largest,
  nearestRow,
  type ParameterValues,
  rankCorrelation,
  smallest,
} from "./model.ts";

/** 1 or -1: how water potentials are written. Errors: invalid_argument if both occur. */
function signOf(psi: readonly number[]): 1 | -1 {
  const [low, high] = [smallest(psi), largest(psi)];
  if (low < 0 && high > 0) {
    throw new AppError(
      "invalid_argument",
      `psi has values of both signs (${low} and ${high}); water potentials are at most 0, or all positive as tensions`,
    );
  }
  return high > 0 ? 1 : -1;
}

function vulnerabilityStarts(columns: Columns) {
  const psi = column(columns, "psi");
  const K = column(columns, "K");
  if (K.length >= 5 && rankCorrelation(psi.map(Math.abs), K) > 0.7) {
    throw new AppError(
      "invalid_argument",
      "K rises as the water potential falls; the model takes the conductance. Of percentages of loss (PLC) send 100 - PLC",
    );
  }
  const Kmax = Math.max(largest(K), 1e-9);
  const half = Math.abs(psi[nearestRow(K, Kmax / 2)] ?? 1);
  return { Kmax, psi50: signOf(psi) * Math.min(Math.max(half, 0.1), 50), s: 3 };
}

/** What the data leave to the shape of the curve. */
function vulnerabilityRemarks(columns: Columns, values: ParameterValues): string[] {
  const tensions = column(columns, "psi").map(Math.abs);
  const [psi50 = 0, s = 1] = ["psi50", "s"].map((symbol) => values.get(symbol));
  const half = Math.abs(psi50);
  const wettest = 1 / (1 + (smallest(tensions) / half) ** s);
  const sign = psi50 < 0 ? -1 : 1;
  return [
    ...(values.fitted.has("psi50") && half > largest(tensions)
      ? [
          `psi50 ${shown(psi50)} MPa lies beyond the driest psi, ${shown(sign * largest(tensions))} MPa: it is extrapolated.`,
        ]
      : []),
    ...(values.fitted.has("Kmax") && wettest < 0.75
      ? [
          `At the wettest psi, ${shown(sign * smallest(tensions))} MPa, the curve has ${(100 * wettest).toFixed(0)} % of Kmax: Kmax, and psi50 with it, are extrapolated.`,
        ]
      : []),
  ];
}

const shown = (value: number) => String(Number(value.toPrecision(3)));

/** Fewer rows than this say little about what rests on them. */
const FEW_ROWS = 3;

/** Readings at full turgor lie a little above 0 by chance. */
const ERROR_OF_ZERO = 0.05;

/** Next to full turgor psi falls by at least twice this part of pi_o over this water content. */
const [FLAT_PART, FLAT_WIDTH] = [0.05, 0.02];

/** Tissue with water between its cells: psi stays near 0 while it dries (Parker & Pallardy 1987, Journal of Experimental Botany 38: 535). */
function plateau(w: readonly number[], psi: readonly number[], pi_o: number): string[] {
  const order = w.map((_, row) => row).sort((a, b) => (w[b] ?? 0) - (w[a] ?? 0));
  const [first = 0] = order;
  const end = order.findIndex((row) => Math.abs((psi[row] ?? 0) - (psi[first] ?? 0)) > FLAT_PART * pi_o);
  const flat = order.slice(0, end < 0 ? order.length : end);
  const last = w[flat.at(-1) ?? first] ?? 0;
  if (flat.length < FEW_ROWS || (w[first] ?? 0) - last < FLAT_WIDTH) return [];
  return [
    `psi hardly falls between w ${shown(w[first] ?? 0)} and ${shown(last)} (${flat.length} rows), as in leaves with water between their cells: leave these rows out, and take w as a share of the water content where psi begins to fall.`,
  ];
}

function pressureVolumeRemarks(columns: Columns, values: ParameterValues): string[] {
  const w = column(columns, "w");
  const loss = values.get("w_tlp") ?? 0;
  const dry = w.filter((content) => content < loss).length;
  const turgid = w.filter((content) => content > loss).length;
  const rows = (count: number) => (count === 1 ? "One row lies" : `${count === 0 ? "No" : count} rows lie`);
  return [
    ...plateau(w, column(columns, "psi"), values.get("pi_o") ?? 0),
    ...(values.fitted.has("w_tlp") && dry < FEW_ROWS
      ? [
          `${rows(dry)} below the turgor loss point, so that pi_o and w_tlp rest on the shape of the curve; measure drier leaves.`,
        ]
      : []),
    ...(values.fitted.has("eps") && turgid < FEW_ROWS
      ? [`${rows(turgid)} above the turgor loss point, on which eps rests.`]
      : []),
  ];
}

/** Osmotic potential from the driest third, where turgor is lost. */
function pressureVolumeStarts(columns: Columns) {
  const w = column(columns, "w");
  const psi = column(columns, "psi");
  if (smallest(w) <= 0 || largest(w) > 1.5) {
    throw new AppError(
      "invalid_argument",
      `w runs from ${smallest(w)} to ${largest(w)}; it must be the relative water content as a fraction, above 0 and about 1 at full turgor`,
    );
  }
  if (largest(psi) > ERROR_OF_ZERO * Math.abs(smallest(psi))) {
    throw new AppError(
      "invalid_argument",
      `psi runs from ${smallest(psi)} to ${largest(psi)}; write water potentials as values of at most 0 (balancing pressures with a minus)`,
    );
  }
  const rows = w.map((_, row) => row).sort((a, b) => (w[a] ?? 0) - (w[b] ?? 0));
  const at = (values: readonly number[], row: number | undefined) => values[row ?? 0] ?? 0;
  const products = rows.map((row) => -at(psi, row) * at(w, row));
  const driest = products.slice(0, Math.max(1, Math.floor(rows.length / 3)));
  const pi_o = Math.max(average(driest), 0.05);
  const turgid = products.findIndex((product) => product < 0.95 * pi_o); // turgor makes -psi w smaller
  const w_tlp = turgid < 0 ? 0.9 : at(w, rows[turgid]);
  return { pi_o, w_tlp: Math.min(Math.max(w_tlp, 0.05), 0.95), eps: 1.5 };
}

export const HYDRAULIC_MODELS: readonly CurveModelEntry[] = [
  {
    id: "sigmoidal",
    name: "Vulnerability Curve",
    required: [
      {
        name: "psi",
        description: "water potential, MPa, at most 0 (or all positive, as tension)",
        quantity: POTENTIAL,
      },
      { name: "K", description: "hydraulic conductance, any unit" },
    ],
    output: "K",
    equation: "Kmax/(1 + abs(psi/psi50)**s)",
    parameters: [
      { symbol: "Kmax", description: "conductance without cavitation, unit of K", low: 0, high: 1e10 },
      { symbol: "psi50", description: "water potential where half of it is lost, MPa", low: -100, high: -1e-3 },
      { symbol: "s", description: "steepness", low: 0.01, high: 200 },
    ],
    starts: vulnerabilityStarts,
    remarks: vulnerabilityRemarks,
    bounds: (columns) => ({ psi50: signOf(column(columns, "psi")) > 0 ? [1e-3, 100] : [-100, -1e-3] }),
    source: "Manzoni et al. 2013, Advances in Water Resources 51: 292",
  },
  {
    id: "sjb2018",
    name: "P-V Curve",
    required: [
      {
        name: "w",
        description: "relative water content, a fraction above 0, 1 at full turgor",
        quantity: WATER_CONTENT,
      },
      { name: "psi", description: "water potential, MPa, at most 0", quantity: POTENTIAL },
    ],
    output: "psi",
    equation: "pi_o*max(0, (w - w_tlp)/(1 - w_tlp))**eps - pi_o/w",
    parameters: [
      { symbol: "pi_o", description: "osmotic pressure at full turgor, MPa", low: 1e-3, high: 100 },
      { symbol: "w_tlp", description: "relative water content at the turgor loss point", low: 0.01, high: 0.995 },
      { symbol: "eps", description: "exponent of turgor: wall elasticity", low: 0.05, high: 50 },
    ],
    starts: pressureVolumeStarts,
    remarks: pressureVolumeRemarks,
    has_local_minima: true,
    source: "Sack, John & Buckley 2018, Plant Physiology 176: 489",
  },
];
