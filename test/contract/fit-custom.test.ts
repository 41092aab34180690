import { describe, expect, test } from "vitest";
import { CustomFitResponse } from "../../shared/contract/fit-custom.ts";
import { answered, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/fit/custom";
const fitted = (payload: object) => answered(made, CustomFitResponse, URL_, payload);

const x = [0, 1, 2, 3, 4];
const parameter = (symbol: string, start: number, more: object = {}) => ({
  name: `value of ${symbol}`,
  symbol,
  default: start,
  ...more,
});
const request = (equation: string, parameters: object[], data: Record<string, number[]>, more: object = {}) => ({
  model_type: "user",
  equation,
  parameters,
  inputs: [{ name: "time", symbol: "x" }],
  outputs: [{ name: "size", symbol: "y" }],
  column_mappings: { input_x: "T", output_y: "S" },
  data,
  ...more,
});
const LINE = { T: x, S: [1.1, 2.9, 5.2, 6.8, 9.1] };
const line = (more: object = {}) => request("a*x + b", [parameter("a", 1), parameter("b", 0)], LINE, more);

test("a straight line: values, errors, intervals and residuals of the normal equations", async () => {
  const fit = await fitted(line());
  const rest = [1.1 - 1.04, 2.9 - 3.03, 5.2 - 5.02, 6.8 - 7.01, 9.1 - 9];
  const sum = rest.reduce((all, r) => all + r * r, 0);
  const error = Math.sqrt(sum / 3 / 10);
  expect(fit.parameters["value of a"]).toEqual({
    value: expect.closeTo(1.99, 12),
    std_error: expect.closeTo(error, 12),
    symbol: "a",
    fixed: false,
    interval: [
      expect.closeTo(1.99 - 3.182446305284263 * error, 9),
      expect.closeTo(1.99 + 3.182446305284263 * error, 9),
    ],
    at_bound: false,
    identifiable: true,
  });
  expect(fit).toMatchObject({ converged: true, n_points: 5, degrees_of_freedom: 3, start_count: 1, success: true });
  expect(fit.free_parameters).toEqual(["value of a", "value of b"]);
  expect(fit.correlation[0]?.[1]).toBeCloseTo(-2 / Math.sqrt(6), 12);
  expect(fit.residuals).toEqual(rest.map((r) => expect.closeTo(r, 12)));
  expect(fit.rmse).toBeCloseTo(Math.sqrt(sum / 5), 12);
  expect(fit.loss).toBeCloseTo(sum, 12);
  expect(fit.r_squared).toBeCloseTo(1 - sum / 39.708, 9);
  expect(fit).not.toHaveProperty("warnings");
});

describe("parameters that are not free", () => {
  test("fixed: fixedValue, or default", async () => {
    const one = await fitted(
      request("a*x + b", [parameter("a", 1), parameter("b", 9, { fixed: true, fixedValue: 1 })], { T: x, S: x }),
    );
    expect(one.parameters["value of b"]).toMatchObject({ value: 1, std_error: null, fixed: true, interval: null });
    expect(one.free_parameters).toEqual(["value of a"]);
    const other = await fitted(
      request("a*x + b", [parameter("a", 1), parameter("b", 9, { fixed: true })], { T: x, S: x }),
    );
    expect(other.parameters["value of b"]?.value).toBe(9);
  });

  test("nothing is free: the curve is evaluated", async () => {
    const fit = await fitted(
      request("k*x + c", [parameter("k", 2, { fixed: true })], LINE, {
        constants: [{ name: "start", symbol: "c", value: 1 }],
      }),
    );
    expect(fit.fitted_values).toEqual([1, 3, 5, 7, 9]);
    expect(fit).toMatchObject({ converged: true, evaluation_count: 1, correlation: [] });
  });
});

test("a parameter at its bound is named and has no standard error", async () => {
  const bounded = [parameter("a", 1, { boundsHigh: 1.5 }), parameter("b", 0, { boundsLow: null })];
  const fit = await fitted(request("a*x + b", bounded, LINE));
  expect(fit.parameters["value of a"]).toMatchObject({ value: 1.5, std_error: null, at_bound: true, interval: null });
  expect(fit.parameters["value of b"]?.value).toBeCloseTo(2.02, 12);
  expect(fit.converged).toBe(true);
  expect(fit.warnings?.[0]).toBe(
    '"value of a" ends at its upper bound 1.5; it has no standard error, and those of the others take it as known.',
  );
});

test("parameters that the data do not determine are named", async () => {
  const fit = await fitted(
    request(
      "(a + c)*x + b",
      [..."acb"].map((symbol) => parameter(symbol, 1)),
      LINE,
    ),
  );
  expect(fit.parameters["value of a"]).toMatchObject({ identifiable: false, std_error: null });
  expect(fit.parameters["value of b"]).toMatchObject({ identifiable: true });
  expect(fit.warnings).toContain('The data do not determine "value of c": other values fit them as well.');
  const unused = await fitted(request("a*x", [parameter("a", 1), parameter("q", 5)], LINE));
  expect(unused.parameters["value of q"]).toMatchObject({ value: 5, identifiable: false });
});

test("a fit that does not converge says so", async () => {
  const rows = Array.from({ length: 30 }, (_, i) => i / 3);
  const payload = request(
    "a*exp(-b*x) + c*exp(-d*x)",
    [parameter("a", 1), parameter("b", 9), parameter("c", 1), parameter("d", 0.01)],
    { T: rows, S: rows.map((t) => 3 * Math.exp(-0.5 * t) + 2 * Math.exp(-2 * t)) },
    { max_iterations: 1, more_starts: false },
  );
  const fit = await fitted(payload);
  expect(fit.converged).toBe(false);
  expect(fit.evaluation_count).toBe(10);
  expect(fit.warnings?.[0]).toMatch(/^The fit did not converge within max_iterations 1;/);
  const whole = await fitted({ ...payload, max_iterations: 1000 });
  expect(whole.converged).toBe(true);
  expect(whole.rmse).toBeLessThan(1e-14);
});

test("a bad start: the best of others is reported, unless they are not wanted", async () => {
  const rows = Array.from({ length: 20 }, (_, i) => i + 1);
  const payload = request("a*exp(-b*x)", [parameter("a", 1), parameter("b", 800)], {
    T: rows,
    S: rows.map((t) => 5 * Math.exp(-0.05 * t)),
  });
  const fit = await fitted(payload);
  expect(fit.parameters["value of b"]?.value).toBeCloseTo(0.05, 10);
  expect(fit.start_count).toBeGreaterThan(1);
  const alone = await fitted({ ...payload, more_starts: false });
  expect(alone.start_count).toBe(1);
  expect(alone.parameters["value of b"]?.identifiable).toBe(false);
});

test("robust losses resist a stray value", async () => {
  const data = { T: x, S: [1, 3, 5, 70, 9] };
  const slope = async (loss: string) =>
    (await fitted(request("a*x + b", [parameter("a", 2.5), parameter("b", 0)], data, { loss, loss_scale: 1 })))
      .parameters["value of a"]?.value;
  expect(await slope("linear")).toBeCloseTo(8.3, 10);
  for (const loss of ["soft_l1", "huber", "cauchy", "arctan"]) {
    expect(Math.abs(((await slope(loss)) ?? 0) - 2)).toBeLessThan(0.3);
  }
});

test("profile intervals of a straight line are those of the standard errors", async () => {
  const fit = await fitted(line({ profile: true, confidence_level: 0.9 }));
  const { interval, profile_interval } = fit.parameters["value of a"] ?? {};
  expect(profile_interval).toEqual(interval?.map((limit) => expect.closeTo(limit ?? 0, 6)));
});

describe("implicit equations", () => {
  test("the root is fitted", async () => {
    const angles = [0.3, 0.6, 0.9, 1.2, 1.5];
    const circle = request(
      "x**2 + y**2 - r**2",
      [parameter("r", 3)],
      { T: angles.map((t) => 2 * Math.cos(t)), S: angles.map((t) => 2 * Math.sin(t)) },
      { equation_type: "implicit" },
    );
    const fit = await fitted(circle);
    expect(fit.parameters["value of r"]?.value).toBeCloseTo(2, 12);
    expect(fit.fitted_values[0]).toBeCloseTo(2 * Math.sin(0.3), 12);
  });

  test("without the output: 400", async () => {
    const [status, detail] = await refusal(made, URL_, line({ equation_type: "implicit" }));
    expect([status, detail]).toEqual([
      400,
      'an implicit equation must contain its output "y": it is 0 where the output lies on the curve',
    ]);
  });
});

describe("built-in models", () => {
  const psi = [-0.1, -0.5, -1, -1.5, -2, -2.5, -3, -4];
  const K = psi.map((value) => 8 / (1 + Math.abs(value / -1.7) ** 3.5));
  const builtin = (more: object = {}) => ({
    model_type: "builtin",
    model_id: "vulnerability",
    parameters: [],
    inputs: [{ name: "water potential", symbol: "psi" }],
    outputs: [{ name: "conductance", symbol: "K" }],
    column_mappings: { input_psi: "P", output_K: "C" },
    data: { P: psi, C: K },
    ...more,
  });

  test("an alias, starts from the data", async () => {
    const fit = await fitted(builtin());
    expect(fit.equation).toBe("Kmax/(1 + abs(psi/psi50)**s)");
    expect(Object.keys(fit.parameters)).toEqual(["Kmax", "psi50", "s"]);
    expect(fit.parameters.Kmax?.value).toBeCloseTo(8, 10);
    expect(fit.parameters.psi50?.value).toBeCloseTo(-1.7, 10);
    expect(fit.parameters.s?.value).toBeCloseTo(3.5, 10);
  });

  test("parameters of the request replace start, bounds or value", async () => {
    const fit = await fitted(builtin({ parameters: [parameter("s", 3, { fixed: true })] }));
    expect(fit.parameters["value of s"]).toMatchObject({ value: 3, fixed: true });
    const [status, detail] = await refusal(made, URL_, builtin({ parameters: [parameter("q", 3)] }));
    expect([status, detail]).toEqual([400, 'the model "sigmoidal" has no parameter "q"; it has Kmax, psi50, s']);
  });

  test("a missing column; the equation stands in where there is one", async () => {
    const wanting = builtin({ column_mappings: { output_K: "C" } });
    expect(await refusal(made, URL_, wanting)).toEqual([400, "Missing data for input 'psi'"]);
    const fit = await fitted({
      ...builtin({ model_id: "unheard_of" }),
      equation: "k + 0*psi",
      parameters: [parameter("k", 1)],
    });
    expect(fit.equation).toBe("k + 0*psi");
    expect(fit.warnings?.[0]).toContain('there is no built-in model "unheard_of"');
  });
});

describe("wrong requests", () => {
  const parameters = [parameter("a", 1), parameter("b", 0)];
  test.each<[string, object, number, RegExp]>([
    ["no equation", line({ equation: null }), 400, /^No equation/],
    ["no output column", line({ column_mappings: { input_x: "T" } }), 400, /^No output column/],
    ["no input column", line({ column_mappings: { output_y: "S" } }), 400, /^Missing data for input 'time'$/],
    ["a column of the prototype", line({ column_mappings: { input_x: "toString", output_y: "S" } }), 400, /^Missing/],
    [
      "unequal columns",
      request("a*x + b", parameters, { T: [1], S: [1, 2] }),
      400,
      /has 1 values, that of the output 2/,
    ],
    ["no rows", request("a*x + b", parameters, { T: [], S: [] }), 400, /has no values/],
    ["unknown name", line({ equation: "a*x + q" }), 400, /^Equation, column 7: "q" is no input, parameter or constant/],
    ["syntax", line({ equation: "a*x +" }), 400, /^Equation, column 6/],
    ["code", line({ equation: "__import__('os')" }), 400, /^Equation, column/],
    ["a symbol twice", request("a*x", [parameter("a", 1), parameter("x", 1)], LINE), 400, /stands for input "time"/],
    ["a symbol that is none", request("a*x", [parameter("a b", 1)], LINE), 400, /"a b".*is no name/],
    ["a constant as symbol", request("a*x", [parameter("pi", 1)], LINE), 400, /is the constant pi/],
    [
      "bounds that cross",
      request("a*x", [parameter("a", 1, { boundsLow: 2, boundsHigh: 0 })], LINE),
      400,
      /boundsLow 2/,
    ],
    ["a start outside", request("a*x", [parameter("a", 1, { boundsLow: 2 })], LINE), 400, /default 1 lies outside 2/],
    [
      "two of a name",
      request("a*x", [parameter("a", 1), { ...parameter("b", 1), name: "value of a" }], LINE),
      400,
      /name "value of a"/,
    ],
    ["profile of a robust loss", line({ profile: true, loss: "huber" }), 400, /need the loss "linear"/],
    ["no finite value anywhere", request("a*log(-1 - x**2)", [parameter("a", 1)], LINE), 500, /^Fitting failed: /],
    ["nothing finite to evaluate", request("log(-x)", [], LINE), 500, /^Fitting failed: /],
  ])("%s", async (_, payload, status, sentence) => {
    const [code, detail] = await refusal(made, URL_, payload);
    expect([code, detail]).toEqual([status, expect.stringMatching(sentence)]);
  });

  test("an unknown loss: 422", async () => {
    expect((await refusal(made, URL_, line({ loss: "cubic" })))[0]).toBe(422);
  });

  test("too many parameters", async () => {
    const many = Array.from({ length: 65 }, (_, i) => parameter(`p${i}`, 1));
    expect(await refusal(made, URL_, request("p1*x", many, LINE))).toEqual([
      400,
      "65 parameters are free, more than 64; fix some of them",
    ]);
  });

  test("an unknown key is named", async () => {
    const { warnings } = await fitted(line({ weights: [1] }));
    expect(warnings?.[0]).toContain('"weights"');
  });
});
