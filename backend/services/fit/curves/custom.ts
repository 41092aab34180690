import type { CustomFitRequest, CustomFitResponse } from "../../../../shared/contract/fit-custom.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import { parseExpression } from "../expression/parse.ts";
import { builtinFit } from "../models/custom-builtin.ts";
import { type CurveOptions, type FreeParameter, runCurveFit } from "./curve.ts";
import { checkLengths, freeParameter, inputColumn, type NamedTask, outputColumn } from "./named-task.ts";
import { fitFigures, fittedParameter, fitWarnings, givenParameter } from "./report.ts";
import { SymbolSet } from "./symbols.ts";

/** Fits the curve of a request. Errors: invalid_argument for wrong input, internal "Fitting failed" for the fit itself. */
export async function fitCustom(request: CustomFitRequest, job: Job): Promise<CustomFitResponse> {
  if (request.model_type === "user") return fitNamed(equationTask(request), request, job);
  const { equation } = request;
  try {
    return await fitNamed(builtinFit(request), request, job);
  } catch (raw) {
    if (job.canceled || equation === null || equation.trim() === "" || !(raw instanceof AppError)) throw raw;
    const fit = await fitNamed(equationTask(request), request, job);
    const warning = `The built-in model "${request.model_id}" could not be fitted (${raw.message}); the equation was fitted instead.`;
    return { ...fit, warnings: [warning, ...(fit.warnings ?? [])] };
  }
}

async function fitNamed(named: NamedTask, options: CustomFitRequest, job: Job): Promise<CustomFitResponse> {
  const { task, keys, given, order, equation } = named;
  const { loss, loss_scale, more_starts, confidence_level, profile, max_iterations } = options;
  const chosen: CurveOptions = {
    loss,
    loss_scale,
    more_starts: more_starts ? (named.restarts ?? "on_failure") : "never",
    confidence_level,
    profile,
    max_iterations,
  };
  const fit = await runCurveFit(task, chosen, job);
  const free = new Map(keys.map((key, at) => [key, fittedParameter(fit, at, task.parameters[at]?.symbol ?? key)]));
  const parameters = order.map((key) => {
    const known = given.get(key);
    const found = known ? givenParameter(known.symbol, known.value) : free.get(key);
    if (!found) throw new AppError("internal", `the parameter "${key}" was lost`);
    return [key, found] as const;
  });
  const { residuals, ...figures } = fitFigures(fit, task.measured, keys);
  const values = new Map([
    ...[...given.values()].map(({ symbol, value }) => [symbol, value] as const),
    ...task.parameters.map(({ symbol }, at) => [symbol, fit.values[at] ?? Number.NaN] as const),
  ]);
  const warnings = [
    ...(named.warnings ?? []),
    ...fitWarnings(fit, task, chosen, keys, (row) => `Value ${row + 1} of the output`),
    ...(named.remarks?.(
      values,
      task.parameters.map(({ symbol }) => symbol),
    ) ?? []),
  ];
  return {
    success: true,
    parameters: Object.fromEntries(parameters),
    equation,
    ...figures,
    fitted_values: [...fit.fitted],
    residuals,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

function equationTask(request: CustomFitRequest): NamedTask {
  const text = request.equation ?? "";
  if (text.trim() === "") throw new AppError("invalid_argument", "No equation: send `equation` for a user model");
  const symbols = new SymbolSet();
  const output = outputColumn(request);
  const implicit_output =
    request.equation_type === "implicit" ? symbols.add(output.symbol, `output "${output.symbol}"`) : null;
  const inputs = new Map(
    request.inputs.map(({ name, symbol }) => [
      symbols.add(symbol, `input "${name}"`),
      inputColumn(request, symbol, name),
    ]),
  );
  checkLengths(output.values, inputs);
  const constants = new Map(
    (request.constants ?? []).map(({ name, symbol, value }) => [symbols.add(symbol, `constant "${name}"`), value]),
  );
  const free: FreeParameter[] = [];
  const keys: string[] = [];
  const given = new Map<string, { symbol: string; value: number }>();
  for (const parameter of request.parameters) {
    const { name, fixed, fixedValue } = parameter;
    if (given.has(name) || keys.includes(name)) {
      throw new AppError("invalid_argument", `two parameters have the name "${name}"; rename one`);
    }
    const symbol = symbols.add(parameter.symbol, `parameter "${name}"`);
    if (fixed) {
      const value = fixedValue ?? parameter.default;
      given.set(name, { symbol, value });
      constants.set(symbol, value);
    } else {
      free.push(freeParameter(parameter, symbol));
      keys.push(name);
    }
  }
  const equation = parseExpression(text);
  const task = { equation, implicit_output, parameters: free, constants, inputs, measured: output.values };
  return { task, equation: text, keys, given, order: request.parameters.map(({ name }) => name) };
}
