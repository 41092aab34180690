import {
  average,
  type Columns,
  type CurveModelEntry,
  column,
  largest,
  nearestRow,
  type ParameterValues,
  smallest,
} from "./model.ts";

const XY = [
  { name: "x", description: "independent variable" },
  { name: "y", description: "dependent variable" },
];
const ANY = 1e10;

/** Value of y farthest from 0. */
const extreme = (y: readonly number[]) => (largest(y) >= -smallest(y) ? largest(y) : smallest(y));

function hyperbolaStarts(columns: Columns) {
  const x = column(columns, "x");
  const y = column(columns, "y");
  const ymax = 1.2 * extreme(y);
  const half = Math.abs(x[nearestRow(y, ymax / 2)] ?? 1);
  return { ymax, x50: half > 0 ? half : 1 };
}

function curvedStarts(columns: Columns) {
  const x = column(columns, "x");
  const y = column(columns, "y");
  const ymax = Math.max(1.1 * largest(y), 1e-6);
  const half = x[nearestRow(y, ymax / 2)] ?? 1;
  return { ymax, phi: half > 0 ? (0.7 * ymax) / half : 1, theta: 0.7 };
}

/** Where the data end before the curve levels off, its end is a guess of the model. */
function levelsOff(columns: Columns, values: ParameterValues, share: (x: number) => number, names: string): string[] {
  const last = largest(column(columns, "x"));
  const reached = share(last);
  if (!(reached < 0.5) || !values.fitted.has("ymax")) return [];
  return [
    `At the largest x, ${Number(last.toPrecision(6))}, the curve has reached ${(100 * reached).toFixed(0)} % of ymax: ${names} are extrapolated beyond the data.`,
  ];
}

/** y / ymax of the non-rectangular hyperbola. */
function curvedShare(x: number, phi: number, ymax: number, theta: number): number {
  const light = phi * x;
  return (2 * light) / (light + ymax + Math.sqrt((light - ymax) ** 2 + 4 * (1 - theta) * light * ymax));
}

export const GENERIC_MODELS: readonly CurveModelEntry[] = [
  {
    id: "linear",
    name: "Linear",
    required: XY,
    output: "y",
    equation: "a*x + b",
    parameters: [
      { symbol: "a", description: "slope, unit of y per unit of x", low: -ANY, high: ANY },
      { symbol: "b", description: "intercept, unit of y", low: -ANY, high: ANY },
    ],
    starts: (columns) => ({ a: 0, b: average(column(columns, "y")) }),
    source: "straight line",
  },
  {
    id: "rectangular_hyperbola",
    name: "Rectangular Hyperbola",
    required: XY,
    output: "y",
    equation: "ymax*x/(x50 + x)",
    parameters: [
      { symbol: "ymax", description: "y at large x, unit of y", low: -ANY, high: ANY },
      { symbol: "x50", description: "x where y is ymax / 2, unit of x", low: 0, high: ANY },
    ],
    starts: hyperbolaStarts,
    remarks: (columns, values) => levelsOff(columns, values, (x) => x / ((values.get("x50") ?? 0) + x), "ymax and x50"),
    source: "Michaelis & Menten 1913, Biochemische Zeitschrift 49: 333",
  },
  {
    id: "nonrectangular_hyperbola",
    name: "Non-rectangular Hyperbola",
    required: XY,
    output: "y",
    equation: "2*phi*x*ymax/(phi*x + ymax + sqrt((phi*x - ymax)**2 + 4*(1 - theta)*phi*x*ymax))",
    parameters: [
      { symbol: "phi", description: "slope at x = 0, unit of y per unit of x", low: 0, high: ANY },
      { symbol: "ymax", description: "y at large x, unit of y", low: 0, high: ANY },
      { symbol: "theta", description: "curvature: 0 = rectangular hyperbola, 1 = two straight lines", low: 0, high: 1 },
    ],
    starts: curvedStarts,
    remarks: (columns, values) => {
      const [phi = 0, ymax = 1, theta = 0] = ["phi", "ymax", "theta"].map((symbol) => values.get(symbol));
      return levelsOff(columns, values, (x) => curvedShare(x, phi, ymax, theta), "ymax and theta");
    },
    source:
      "Thornley 1976, Mathematical Models in Plant Physiology, chapter 4: the smaller root of theta y^2 - (phi x + ymax) y + phi x ymax = 0, written so that nothing cancels",
  },
];
