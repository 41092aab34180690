import { unitKey } from "./unit-text.ts";

/** How values of a unit become those of a model: times `factor`, plus `offset`. */
export interface Conversion {
  readonly factor: number;
  readonly offset: number;
}

/** What a column of a model measures. */
export interface Quantity {
  /** Unit of the model. */
  readonly unit: string;
  /** Units that can be converted into it. */
  readonly conversions: ReadonlyMap<string, Conversion>;
  /** Units of the same quantity that cannot, and why. */
  readonly unusable: ReadonlyMap<string, string>;
  /** Values outside are none of a leaf or branch: what they are taken for. */
  readonly least: number;
  readonly most: number;
  readonly hint: string;
  /** Outside of these limits nothing is fitted. */
  readonly refused?: readonly [number, number];
}

type Units = Readonly<Record<string, number | readonly [factor: number, offset: number]>>;

/** Errors in the tables below are errors of this program. */
function keyOf(unit: string): string {
  const key = unitKey(unit);
  if (key === null) throw new Error(`the unit ${unit} cannot be read`);
  return key;
}

interface Described extends Omit<Quantity, "conversions" | "unusable"> {
  readonly units: Units;
  readonly unusable?: Readonly<Record<string, string>>;
}

function quantity({ units, unusable = {}, ...rest }: Described): Quantity {
  const conversions = new Map<string, Conversion>([[keyOf(rest.unit), { factor: 1, offset: 0 }]]);
  for (const [unit, how] of Object.entries(units)) {
    const [factor, offset] = typeof how === "number" ? [how, 0] : how;
    conversions.set(keyOf(unit), { factor, offset });
  }
  return { ...rest, conversions, unusable: new Map(Object.entries(unusable).map(([unit, why]) => [keyOf(unit), why])) };
}

const PRESSURE_OF_AIR = "it depends on the air pressure: divide by the pressure, 1 Pa is 9.87 umol mol-1 at 101.3 kPa";

export const ASSIMILATION = quantity({
  unit: "umol m-2 s-1",
  units: { "nmol m-2 s-1": 1e-3, "mmol m-2 s-1": 1e3, "mol m-2 s-1": 1e6 },
  least: -50,
  most: 150,
  hint: "leaves take up -10 to 80 umol m-2 s-1",
});

export const CONDUCTANCE = quantity({
  unit: "mol m-2 s-1",
  units: { "mmol m-2 s-1": 1e-3, "umol m-2 s-1": 1e-6 },
  unusable: {
    "mm s-1": "it depends on temperature and air pressure: 1 mm s-1 is 0.041 mol m-2 s-1 at 25 C and 101.3 kPa",
    "cm s-1": "it depends on temperature and air pressure: 1 cm s-1 is 0.41 mol m-2 s-1 at 25 C and 101.3 kPa",
    "m s-1": "it depends on temperature and air pressure: 1 m s-1 is 41 mol m-2 s-1 at 25 C and 101.3 kPa",
  },
  least: -0.5,
  most: 5,
  hint: "leaves conduct 0 to 2 mol m-2 s-1; divide mmol m-2 s-1 by 1000",
});

export const DEFICIT = quantity({
  unit: "kPa",
  units: { Pa: 1e-3, hPa: 0.1, mbar: 0.1, bar: 100, MPa: 1e3 },
  unusable: { "mmol mol-1": "it depends on the air pressure: multiply mol mol-1 by the pressure in kPa" },
  least: 0,
  most: 12,
  hint: "air of 49 C can take up 12 kPa; divide hPa and mbar by 10, Pa by 1000",
});

export const CO2 = quantity({
  unit: "umol mol-1",
  units: { ppm: 1, "mmol mol-1": 1e3, "mol mol-1": 1e6, ppb: 1e-3 },
  unusable: { Pa: PRESSURE_OF_AIR, ubar: PRESSURE_OF_AIR, kPa: PRESSURE_OF_AIR, mbar: PRESSURE_OF_AIR },
  least: -100,
  most: 20_000,
  hint: "multiply mol mol-1 by 1000000",
});

export const QUANTA = quantity({
  unit: "umol m-2 s-1",
  units: { "mmol m-2 s-1": 1e3, "mol m-2 s-1": 1e6, "nmol m-2 s-1": 1e-3 },
  unusable: {
    "W m-2": "it depends on the spectrum: of sunlight 1 W m-2 between 400 and 700 nm is 4.6 umol m-2 s-1",
  },
  least: -10,
  most: 4000,
  hint: "full sun has 2200 umol m-2 s-1",
});

export const LEAF_TEMPERATURE = quantity({
  unit: "degrees Celsius",
  units: { K: [1, -273.15], degF: [5 / 9, -160 / 9] },
  least: -20,
  most: 60,
  hint: "subtract 273.15 from kelvin; (F - 32) 5/9 of degrees Fahrenheit",
  refused: [-20, 60],
});

export const HUMIDITY = quantity({
  unit: "fraction",
  units: { "%": 0.01 },
  least: 0,
  most: 1.05,
  hint: "divide percent by 100",
  refused: [0, 1.5],
});

export const WATER_CONTENT = quantity({
  unit: "fraction",
  units: { "%": 0.01, "g g-1": 1, "kg kg-1": 1 },
  unusable: {
    g: "divide the mass of water by that at full turgor",
    mg: "divide the mass of water by that at full turgor",
  },
  least: 0,
  most: 1.2,
  hint: "divide by the water content at full turgor",
});

export const POTENTIAL = quantity({
  unit: "MPa",
  units: { bar: 0.1, kPa: 1e-3, hPa: 1e-4, mbar: 1e-4, Pa: 1e-6, psi: 0.006894757293168, atm: 0.101325 },
  least: -20,
  most: 20,
  hint: "multiply bar by 0.1, kPa by 0.001",
});
