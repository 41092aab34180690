import { ComputeEngine } from "@cortex-js/compute-engine";
import katex from "katex";
import { expect, test } from "vitest";
import { expressionLatex } from "../../backend/services/fit/expression/latex.ts";
import { parseExpression } from "../../backend/services/fit/expression/parse.ts";
import { readLatex } from "../support/fit/latex-reader.ts";
import { prefixOf, randomExpression, randomUnits } from "../support/fit/random-expression.ts";

const COUNT = Number(process.env.APP_TEST_EXPRESSIONS ?? 10_000);

test(`${COUNT} random trees: read as written, and read back from their LaTeX`, () => {
  const unit = randomUnits(1);
  for (let i = 0; i < COUNT; ++i) {
    const { text, prefix } = randomExpression(unit, i % 6);
    const node = parseExpression(text);
    expect(prefixOf(node), text).toBe(prefix);
    const latex = expressionLatex(node);
    expect(readLatex(latex), `${text}\n${latex}`).toBe(prefix);
  }
});

test("no bracket is left over: without any of them it is another expression", () => {
  const unit = randomUnits(2);
  let seen = 0;
  for (let i = 0; i < 2000; ++i) {
    const { text, prefix } = randomExpression(unit, 1 + (i % 4));
    const latex = expressionLatex(parseExpression(text));
    for (const without of withoutOnePair(latex)) {
      ++seen;
      expect(tryRead(without), `${text}\n${latex}\n${without}`).not.toBe(prefix);
    }
  }
  expect(seen).toBeGreaterThan(1000);
});

test("KaTeX shows them all", () => {
  const unit = randomUnits(3);
  for (let i = 0; i < 300; ++i) {
    const latex = expressionLatex(parseExpression(randomExpression(unit, i % 5).text));
    expect(() => katex.renderToString(latex, { throwOnError: true, strict: "error" }), latex).not.toThrow();
  }
});

test("a parser of LaTeX that is not ours finds the same values", () => {
  const engine = new ComputeEngine();
  engine.precision = "machine";
  const at = { x: 0.7, y: 1.9, k: 0.3 };
  for (const [name, value] of Object.entries(at)) engine.assign(name, value);
  const unit = randomUnits(4);
  let compared = 0;
  for (let i = 0; i < 400; ++i) {
    const { text } = randomExpression(unit, 1 + (i % 2), Object.keys(at));
    const ours = valueInJavaScript(text, at);
    if (!Number.isFinite(ours) || Math.abs(ours) > 1e6) continue; // beyond the real numbers
    const [re, im] = foreignValue(engine, expressionLatex(parseExpression(text)));
    if (!Number.isFinite(re) || im !== 0) continue;
    ++compared;
    expect(re, text).toBeCloseTo(ours, 6 - Math.ceil(Math.log10(Math.abs(ours) + 1)));
  }
  expect(compared).toBeGreaterThan(200);
});

/** Real and imaginary part; NaN where the parser itself fails. */
function foreignValue(engine: ComputeEngine, latex: string): [number, number] {
  try {
    const { re, im } = engine.parse(latex).N();
    return [re, im];
  } catch {
    return [Number.NaN, 0];
  }
}

/** The text without one pair of brackets, for each pair that is no argument list. */
function* withoutOnePair(latex: string): Generator<string> {
  for (const { index } of latex.matchAll(/\\left\(/g)) {
    if (/\\[a-z]+(?:_\{10\})?$/.test(latex.slice(0, index).replace(/\\cdot $/, ""))) continue;
    let depth = 0;
    for (const { index: at, 0: sign } of latex.matchAll(/\\left\(|\\right\)/g)) {
      if (at < index) continue;
      depth += sign === "\\left(" ? 1 : -1;
      if (depth > 0) continue;
      yield `${latex.slice(0, index)} ${latex.slice(index + 6, at)} ${latex.slice(at + 7)}`;
      break;
    }
  }
}

function tryRead(latex: string): string | null {
  try {
    return readLatex(latex);
  } catch {
    return null;
  }
}

/** The value of a fully bracketed equation, by JavaScript itself. */
function valueInJavaScript(text: string, at: Readonly<Record<string, number>>): number {
  const known = { ...at, pi: Math.PI, e: Math.E };
  const body = text.replace(/\b(sqrt|exp|log10|log|sinh?|cosh?|tanh?|asin|acos|atan|abs|min|max)\(/g, "Math.$1(");
  return new Function(...Object.keys(known), `return ${body}`)(...Object.values(known)) as number;
}
