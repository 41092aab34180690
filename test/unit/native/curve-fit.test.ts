import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type CurveFitParams, fitCurve } from "../../../backend/native/curve-fit.ts";
import { compileExpression } from "../../../backend/services/fit/expression/compile.ts";
import { parseExpression } from "../../../backend/services/fit/expression/parse.ts";
import { stopwatch } from "../../support/run/stopwatch.ts";

const TERMS = 32;
const ROWS = 50_000;

/** A sum of sines with twice as many parameters. */
function waves(rows: number) {
  const names = Array.from({ length: TERMS }, (_, i) => [`a${i}`, `b${i}`]).flat();
  const equation = Array.from({ length: TERMS }, (_, i) => `a${i}*sin(b${i}*x)`).join(" + ");
  const symbols = new Map([...names, "x"].map((name, at) => [name, at]));
  const program = compileExpression(parseExpression(equation), { symbols, constants: new Map() });
  const x = Array.from({ length: rows }, (_, i) => i / 50);
  const curve = { ...program, symbol_count: names.length + 1, parameter_count: names.length, implicit: false };
  const params: CurveFitParams = {
    start: names.map((_, i) => 1 + i / 7),
    low: names.map(() => -1e10),
    high: names.map(() => 1e10),
    linear: names.map(() => 0),
    loss: "linear",
    loss_scale: 1,
    max_evaluations: 100_000,
    more_starts: "always",
    confidence_level: 0.95,
    profile: true,
  };
  return {
    curve,
    data: { inputs: [x], measured: x.map((value) => Math.exp(-value) + Math.cos(value * value)) },
    params,
  };
}

test("cancel is seen within 250 ms in a large fit", async () => {
  const { curve, data, params } = waves(ROWS);
  for (const wait of [5, 150]) {
    const job = fitCurve(curve, data, params);
    const ended = job.promise.then(
      () => "done",
      (error: { code?: unknown }) => error.code,
    );
    await sleep(wait);
    const stop = stopwatch();
    job.cancel();
    expect(await ended).toBe("canceled");
    expect(stop().own_ms).toBeLessThan(250);
  }
});

test("values of another type are refused by name", () => {
  const { curve, data, params } = waves(3);
  const wrong = (what: object) => () => fitCurve({ ...curve, ...what }, data, params);
  expect(wrong({ code: [1.5] })).toThrow(/code/);
  expect(wrong({ code: [-1] })).toThrow(/code/);
  expect(wrong({ code: "x" })).toThrow(/code/);
  expect(wrong({ constants: [null] })).toThrow(/constants/);
  expect(wrong({ symbol_count: -1 })).toThrow(/symbol_count/);
  expect(() => fitCurve(curve, data, { ...params, loss: "cubic" as "linear" })).toThrow(/loss/);
  expect(() => fitCurve(curve, { ...data, measured: [1, "2", 3] as number[] }, params)).toThrow(/measured/);
});

test("a program that the checks refuse", async () => {
  const { curve, data, params } = waves(3);
  const refused = (what: object) => expect(fitCurve({ ...curve, ...what }, data, params).promise).rejects;
  await refused({ code: [3] }).toMatchObject({ code: "invalid_argument" });
  await refused({ code: [1 + 256 * 9999] }).toMatchObject({ code: "invalid_argument" });
  await refused({ symbol_count: 5 }).toMatchObject({ code: "invalid_argument" });
  await refused({ parameter_count: 80 }).toMatchObject({ code: "invalid_argument" });
});
