import { describe, expect, test } from "vitest";
import { expressionLatex } from "../../../../backend/services/fit/expression/latex.ts";
import { parseExpression } from "../../../../backend/services/fit/expression/parse.ts";

const latex = (equation: string) => expressionLatex(parseExpression(equation));

test.each([
  [
    "gs0 + 1.6*(1 + g1/sqrt(VPD))*A/Ca",
    String.raw`\mathrm{gs}_{0} + \frac{1.6 \left(1 + \frac{g_{1}}{\sqrt{\mathrm{VPD}}}\right) A}{\mathrm{Ca}}`,
  ],
  ["K_max/(1 + (psi/psi50)**s)", String.raw`\frac{K_{\mathrm{max}}}{1 + \left(\frac{\psi}{\psi_{50}}\right)^{s}}`],
  ["-a*b + c - (d - f)", String.raw`-a b + c - \left(d - f\right)`],
  ["-x**2 + 2**-x", "-x^{2} + 2^{-x}"],
  ["exp(-x/b)", String.raw`\exp\left(-\frac{x}{b}\right)`],
  ["np.log(x) + math.log10(x)", String.raw`\ln\left(x\right) + \log_{10}\left(x\right)`],
  ["lam + lambd + λ", String.raw`\lambda + \lambda + \lambda`],
  ["2(a + b)(a - b)", String.raw`2 \left(a + b\right) \left(a - b\right)`],
  ["2*3*1/4", String.raw`\frac{2 \cdot 3 \cdot 1}{4}`],
  ["1.5e-3*x*2", String.raw`1.5 \times 10^{-3} x \cdot 2`],
  ["2*(1/3)", String.raw`2 \cdot \frac{1}{3}`],
  ["a × b ÷ c · d − √x", String.raw`\frac{a b}{c} d - \sqrt{x}`],
  ["gs₀*k₁₂", String.raw`\mathrm{gs}_{0} k_{12}`],
  ["µ*T_°C", String.raw`\mu T_{{}^{\circ}C}`],
  ["x^2", "x^{2}"],
  ["max(a, b, 3)", String.raw`\max\left(a, b, 3\right)`],
])("%s", (equation, wanted) => expect(latex(equation)).toBe(wanted));

describe("what cannot be read is refused with its column", () => {
  test.each([
    ["", "Equation, column 1: the equation is empty"],
    ["a + ", "Equation, column 5: the equation ends where a value is expected"],
    ["(a + b", "Equation, column 1: this bracket is never closed"],
    ["a + b)", 'Equation, column 6: ")" is not expected here'],
    ["a + * b", 'Equation, column 5: "*" is not expected here, but a value'],
    ["x**y**z", "Equation, column 5: a power of a power needs brackets: x**(y**z) or (x**y)**z"],
    ["x^-y^z", "Equation, column 5: a power of a power needs brackets"],
    ["1/2x", 'Equation, column 4: a sign is missing before "x"; write * for a product'],
    ["x 2", 'Equation, column 3: a sign is missing before "2"'],
    ["1,5*x", 'Equation, column 2: "," is not expected here'],
    ["f(x)", 'Equation, column 1: "f(" is no function; the functions are sqrt, exp,'],
    ["sin x", "Equation, column 1: the function sin needs its argument in brackets: sin(x)"],
    ["min(a)", "Equation, column 1: min takes 2 or more arguments, not 1"],
    ["exp(a, b)", "Equation, column 1: exp takes one argument, not 2"],
    ["1e999", "Equation, column 1: 1e999 is beyond the largest number, 1.8e308"],
    ["a; b", 'Equation, column 2: ";" has no meaning here'],
    ["a = b", 'Equation, column 3: "=" has no meaning here'],
    ["constructor(x)", 'Equation, column 1: "constructor(" is no function'],
    ["x.__proto__", 'Equation, column 2: "." has no meaning here'],
  ])("%s", (equation, message) => {
    expect(() => parseExpression(equation)).toThrow(message);
  });

  const shapes: [string, (count: number) => string, number][] = [
    ["open brackets", (n) => "(".repeat(n), 9999],
    ["calls", (n) => "sqrt(".repeat(n), 2000],
    ["signs", (n) => `${"-".repeat(n)}x`, 9000],
    ["roots", (n) => `${"√".repeat(n)}x`, 9000],
    ["terms", (n) => `${"x+".repeat(n)}x`, 4000],
    ["arguments", (n) => `max(${"x,".repeat(n)}x)`, 4000],
    ["powers", (n) => "x**(".repeat(n), 2000],
    ["a million characters", (n) => "x+".repeat(n), 500_000],
  ];
  /** Milliseconds of the fastest of many times. */
  function fastest(equation: string): number {
    for (let i = 0; i < 5; ++i) expect(() => parseExpression(equation)).toThrow(/^Equation, column \d+: /);
    const took = Array.from({ length: 20 }, () => {
      const started = performance.now();
      expect(() => parseExpression(equation)).toThrow();
      return performance.now() - started;
    });
    return Math.min(...took);
  }
  test.each(shapes)("%s without end: eight times as many are refused as soon", (_name, of, count) => {
    const [some, many] = [fastest(of(count)), fastest(of(8 * count))];
    expect(many / some).toBeLessThan(4); // 8 where all of it is read
    expect(many).toBeLessThan(50); // milliseconds: 0.1 to 0.6 on a quiet machine
  });
});
