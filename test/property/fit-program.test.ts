import { describe, expect, test } from "vitest";
import { fitCurve } from "../../backend/native/curve-fit.ts";
import { compileExpression } from "../../backend/services/fit/expression/compile.ts";
import { linearNames } from "../../backend/services/fit/expression/linearity.ts";
import { parseExpression } from "../../backend/services/fit/expression/parse.ts";
import { tableColumns } from "../../backend/services/fit/table/columns.ts";
import { textTable } from "../../backend/services/fit/table/text-table.ts";
import { AppError } from "../../shared/errors.ts";
import { randomExpression, randomUnits } from "../support/fit/random-expression.ts";

const NAMES = ["x", "y", "k", "alpha"];
const MATH = Object.getOwnPropertyNames(Math).filter((name) => typeof Math[name as keyof Math] === "function");

/** The expression as JavaScript reads it. */
function oracle(text: string): (values: readonly number[]) => number {
  const body = `const { ${MATH.join(", ")} } = Math; const pi = Math.PI, e = Math.E; return ${text};`;
  const compiled = new Function(...NAMES, body) as (...values: number[]) => number;
  return (values) => compiled(...values);
}

const NOTHING_FREE = {
  start: [],
  low: [],
  high: [],
  linear: [],
  loss: "linear",
  loss_scale: 1,
  max_evaluations: 1,
  more_starts: "never",
  confidence_level: 0.95,
  profile: false,
} as const;

/** Value of an expression by the native evaluator; undefined = not finite. */
async function evaluated(text: string, values: readonly number[]): Promise<number | undefined> {
  const symbols = new Map(NAMES.map((name, at) => [name, at]));
  const program = compileExpression(parseExpression(text), { symbols, constants: new Map() });
  const model = { ...program, symbol_count: NAMES.length, parameter_count: 0, implicit: false };
  const data = { inputs: values.map((value) => [value]), measured: [0] };
  return fitCurve(model, data, NOTHING_FREE).promise.then(
    ({ fitted }) => fitted[0],
    () => undefined,
  );
}

test("random expressions have the values that JavaScript gives them", async () => {
  const unit = randomUnits(7);
  let finite = 0;
  for (let i = 0; i < 3000; ++i) {
    const { text } = randomExpression(unit, 1 + (i % 5), NAMES);
    const values = NAMES.map(() => 4 * unit() - 1);
    const wanted = oracle(text);
    const exact = wanted(values);
    const found = await evaluated(text, values);
    if (!Number.isFinite(exact)) {
      expect([text, found]).toEqual([text, undefined]);
      continue;
    }
    const near = wanted(values.map((value) => value * (1 + 1e-13)));
    if (!Number.isFinite(near)) continue; // the edge of what is defined
    finite += 1;
    const bound = 1e-12 * Math.abs(exact) + 100 * Math.abs(near - exact) + 1e-300;
    expect([text, Math.abs((found ?? Number.NaN) - exact) <= bound]).toEqual([text, true]);
  }
  expect(finite).toBeGreaterThan(1000);
});

test("names called linear are: the expression at the middle is the mean of its ends", () => {
  const unit = randomUnits(11);
  let linear = 0;
  for (let i = 0; i < 3000; ++i) {
    const { text } = randomExpression(unit, 1 + (i % 4), NAMES);
    const names = linearNames(parseExpression(text), NAMES);
    if (names.size === 0) continue;
    const value = oracle(text);
    const [a, b] = [NAMES.map(() => 1 + unit()), NAMES.map(() => 1 + unit())];
    const end = NAMES.map((name, j) => (names.has(name) ? (b[j] ?? 0) : (a[j] ?? 0)));
    const middle = NAMES.map((_, j) => ((a[j] ?? 0) + (end[j] ?? 0)) / 2);
    const [first, half, last] = [value(a), value(middle), value(end)];
    if (![first, half, last].every(Number.isFinite)) continue;
    linear += 1;
    const size = Math.max(Math.abs(first), Math.abs(last));
    expect([text, Math.abs((first + last) / 2 - half) <= 1e-9 * size + 1e-300]).toEqual([text, true]);
  }
  expect(linear).toBeGreaterThan(500);
  expect([...linearNames(parseExpression("a*exp(-b*x) + c*b + d/x"), ["a", "b", "c", "d"])]).toEqual(["a", "c", "d"]);
  expect([...linearNames(parseExpression("a/b + b*c"), ["b", "a", "c"])]).toEqual(["a", "c"]);
});

describe("hostile input ends in a sentence", () => {
  const SIGNS = "+-*/^()., \n\t√×e9.x\"';=#\u0000é{[";
  const mutated = (text: string, unit: () => number) => {
    const letters = [...text];
    for (let k = 0; k < 1 + 4 * unit(); ++k) {
      const at = Math.floor(unit() * (letters.length + 1));
      const sign = SIGNS[Math.floor(unit() * SIGNS.length)] ?? "x";
      letters.splice(at, unit() < 0.5 ? 0 : 1, ...(unit() < 0.6 ? [sign] : []));
    }
    return letters.join("");
  };

  test("20,000 mutated expressions", () => {
    const unit = randomUnits(13);
    const symbols = new Map(NAMES.map((name, at) => [name, at]));
    let [read, refused] = [0, 0];
    for (let i = 0; i < 20_000; ++i) {
      const text = mutated(randomExpression(unit, 1 + (i % 3), NAMES).text, unit);
      try {
        compileExpression(parseExpression(text), { symbols, constants: new Map() });
        read += 1;
      } catch (raw) {
        expect(raw).toBeInstanceOf(AppError);
        expect((raw as AppError).message).toMatch(/^Equation, column \d+: /);
        refused += 1;
      }
    }
    expect([read > 1000, refused > 1000]).toEqual([true, true]);
  });

  test("20,000 mutated tables", () => {
    const unit = randomUnits(17);
    const whole = "A,Ci\numol,ppm\n1.5,100\n-2,200\n3e1,250\n";
    let [read, refused] = [0, 0];
    for (let i = 0; i < 20_000; ++i) {
      const bytes = new TextEncoder().encode(mutated(whole, unit));
      try {
        const { numbers } = tableColumns(textTable(bytes, "t.csv"), {
          required: ["A", "Ci"],
          optional: [],
          label: null,
        });
        expect(numbers.get("A")?.length).toBe(numbers.get("Ci")?.length);
        for (const values of numbers.values()) expect(values.every(Number.isFinite)).toBe(true);
        read += 1;
      } catch (raw) {
        if (!(raw instanceof AppError)) throw raw;
        expect(["invalid_argument", "invalid_file"]).toContain(raw.code);
        refused += 1;
      }
    }
    expect([read > 1000, refused > 1000]).toEqual([true, true]);
  });
});
