import { modelOf } from "../../backend/services/fit/models/catalogue.ts";
import type { Columns, CurveModelEntry } from "../../backend/services/fit/models/model.ts";
import { modelColumns, modelTask } from "../../backend/services/fit/models/model-task.ts";
import { gaussian, type Uniform } from "./random.ts";

const POINTS = 20;
const NOISE = 0.01; // of the range of the output
const grid = (from: number, to: number) =>
  Array.from({ length: POINTS }, (_, i) => from + ((to - from) * i) / (POINTS - 1));
const between = (unit: Uniform, low: number, high: number) => low + (high - low) * unit();
const each = (of: () => number) => Array.from({ length: POINTS }, of);

interface Design {
  readonly truth: Readonly<Record<string, number>>;
  readonly inputs: Readonly<Record<string, readonly number[]>>;
}

/** Parameters and inputs with which every parameter can be told from 20 points. */
const DESIGNS: Readonly<Record<string, (unit: Uniform) => Design>> = {
  linear: (unit) => ({
    truth: { a: between(unit, -5, 5), b: between(unit, -20, 20) },
    inputs: { x: grid(0, 10) },
  }),
  rectangular_hyperbola: (unit) => {
    const x50 = 10 ** between(unit, -1, 3);
    return { truth: { ymax: 10 ** between(unit, -1, 3), x50 }, inputs: { x: grid(0.05 * x50, 6 * x50) } };
  },
  nonrectangular_hyperbola: (unit) => {
    const [phi, ymax] = [between(unit, 0.03, 0.08), between(unit, 10, 40)];
    return { truth: { phi, ymax, theta: between(unit, 0.3, 0.8) }, inputs: { x: grid(0, (4 * ymax) / phi) } };
  },
  sigmoidal: (unit) => {
    const psi50 = -between(unit, 0.5, 6);
    return {
      truth: { Kmax: 10 ** between(unit, -1, 2), psi50, s: between(unit, 2, 6) },
      inputs: { psi: grid(0, 2.5 * psi50) },
    };
  },
  sjb2018: (unit) => ({
    truth: { pi_o: between(unit, 0.8, 2.5), w_tlp: between(unit, 0.75, 0.9), eps: between(unit, 1.2, 2.5) },
    inputs: { w: grid(1, 0.6) },
  }),
  med2011: (unit) => ({
    truth: { gs0: between(unit, 0.02, 0.1), g1: between(unit, 2, 6) },
    inputs: { A: each(() => between(unit, 1, 25)), VPD: each(() => between(unit, 0.5, 4)) },
  }),
  bwb1987: (unit) => ({
    truth: { gs0: between(unit, 0.02, 0.1), g1: between(unit, 5, 12) },
    inputs: { A: each(() => between(unit, 1, 25)), hs: each(() => between(unit, 0.2, 0.9)) },
  }),
  bbl1995: (unit) => ({
    truth: { gs0: between(unit, 0.02, 0.1), a1: between(unit, 5, 12), D0: between(unit, 0.5, 3) },
    inputs: { A: each(() => between(unit, 1, 25)), VPD: each(() => between(unit, 0.5, 4)) },
  }),
  fvcb: (unit) => {
    const Vcmax25 = between(unit, 40, 120);
    const Jmax25 = Vcmax25 * between(unit, 1.3, 1.6);
    const [I2, Gstar, Ct] = [0.361 * 1800, 42.75, between(unit, 700, 1000)];
    const J = (I2 + Jmax25 - Math.sqrt((I2 + Jmax25) ** 2 - 2.8 * I2 * Jmax25)) / 1.4;
    const TPU25 = (J * (Ct - Gstar)) / (4 * Ct + 8 * Gstar) / 3; // takes over at Ct
    return {
      truth: { Vcmax25, Jmax25, TPU25, Rd25: between(unit, 0.5, 2) },
      inputs: {
        Ci: grid(0, 1).map((part) => 40 + 1460 * part ** 1.6),
        Qin: each(() => 1800),
        Tleaf: each(() => 25),
      },
    };
  },
};
export const DESIGNED: readonly string[] = Object.keys(DESIGNS);

/** A data set of a model with its true parameters. */
export interface SyntheticSet {
  readonly model: CurveModelEntry;
  readonly truth: Readonly<Record<string, number>>;
  readonly columns: Columns;
}

/** Values of a model without noise, from its own formula. */
export type Evaluate = (task: ReturnType<typeof modelTask>) => Promise<readonly number[]>;

export async function syntheticSet(id: string, unit: Uniform, evaluate: Evaluate): Promise<SyntheticSet> {
  const model = modelOf(id);
  const { truth, inputs } = (DESIGNS[id] as (unit: Uniform) => Design)(unit);
  const blank = new Map<string, readonly number[]>([...Object.entries(inputs), [model.output, each(() => 0)]]);
  const exact = await evaluate(modelTask(model, modelColumns(model, blank), [], new Map(Object.entries(truth))));
  const range = Math.max(...exact) - Math.min(...exact);
  const measured = exact.map((value) => value + NOISE * range * gaussian(unit));
  return { model, truth, columns: modelColumns(model, new Map([...blank, [model.output, measured]])) };
}
