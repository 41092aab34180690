import { setImmediate as nextTurn } from "node:timers/promises";
import type { FitFields, FitResponse } from "../../../../shared/contract/fit.ts";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_FITTED_CURVES } from "../../../../shared/limits.ts";
import type { Job } from "../../../jobs/job.ts";
import { type CurveOptions, runCurveFit } from "../curves/curve.ts";
import { fitFigures, fittedParameter, fitWarnings, isConstant } from "../curves/report.ts";
import { doubtfulValues, inModelUnits } from "../quantities/model-units.ts";
import { tableColumns } from "../table/columns.ts";
import { headerRow, isHeader } from "../table/header.ts";
import { type TableFile, tableOf } from "../table/table.ts";
import type { Table } from "../table/text-table.ts";
import { modelIn } from "./catalogue.ts";
import { type Columns, type CurveModelEntry, parameterValues, shownEquation } from "./model.ts";
import { assumedValues, CURVE_COLUMN, modelColumns, modelParameters, modelTask, restartsOf } from "./model-task.ts";

interface Curve {
  readonly id: string | null;
  readonly columns: Columns;
  /** Row of each value in the table, from 1. */
  readonly rows: readonly number[];
}

/** Rows of each label, in the order of their first rows. Errors: invalid_argument for too many curves. */
function curvesOf(columns: Columns, labels: readonly string[] | null, rows: readonly number[]): Curve[] {
  if (labels === null) return [{ id: null, columns, rows }];
  const rowsOf = new Map<string, number[]>();
  labels.forEach((label, row) => {
    const rows = rowsOf.get(label);
    if (rows) rows.push(row);
    else rowsOf.set(label, [row]);
  });
  if (rowsOf.size > MAX_FITTED_CURVES) {
    throw new AppError("invalid_argument", `${CURVE_COLUMN} has ${rowsOf.size} values, more than ${MAX_FITTED_CURVES}`);
  }
  return [...rowsOf].map(([id, own]) => ({
    id,
    columns: new Map([...columns].map(([name, values]) => [name, own.map((row) => values[row] ?? Number.NaN)])),
    rows: own.map((row) => rows[row] ?? 0),
  }));
}

/** Fits a built-in model to each curve of a table. Errors: invalid_file; invalid_argument; internal "Fitting failed". */
export async function fitTable(file: TableFile, fields: FitFields, job: Job): Promise<FitResponse> {
  const model = modelIn(fields.model_category, fields.model_type);
  const optional = (model.optional ?? []).map(({ name }) => name).filter((name) => name !== CURVE_COLUMN);
  const takesCurves = model.optional?.some(({ name }) => name === CURVE_COLUMN) ?? false;
  const required = model.required.map(({ name }) => name);
  const table = await tableOf(file, (cells) => isHeader(cells, required));
  await nextTurn(); // other requests are answered between the parts of a long table
  const wanted = { required, optional, label: takesCurves ? CURVE_COLUMN : null };
  const read = tableColumns(table, wanted);
  await nextTurn();
  const options: CurveOptions = {
    loss: "linear",
    loss_scale: 1,
    more_starts: fields.method === "auto" ? restartsOf(model) : "never",
    confidence_level: 0.95,
    profile: false,
    max_iterations: fields.max_iterations,
  };
  const { columns, warnings } = inModelUnits(model, read.numbers, read.units);
  const said = [
    ...read.warnings,
    ...warnings,
    ...doubtfulValues(model, columns),
    ...constantOutput(model, columns),
    ...assumedValues(model, columns, "table"),
    ...(takesCurves ? [] : pooledCurves(table.rows, headerRow(table.rows, wanted))),
  ];
  const curves = [];
  for (const curve of curvesOf(columns, read.labels, read.rows)) {
    await nextTurn();
    curves.push(await fitCurveOf(model, curve, options, job));
  }
  return summary(model, curves, said);
}

/** Workbooks of instruments have formulas, whose values are 0 until a spreadsheet program has saved them. */
function constantOutput({ output }: CurveModelEntry, columns: Columns): string[] {
  const values = columns.get(output) ?? [];
  if (values.length < 2 || !isConstant(values)) return [];
  const why =
    values[0] === 0
      ? "; a workbook with formulas that were never calculated has zeros: save it in a spreadsheet program first"
      : "";
  return [`All ${values.length} values of "${output}" are ${values[0]}, which tells nothing of the curve${why}.`];
}

/** A column of labels that the model does not take. */
function pooledCurves(rows: Table["rows"], header: number): string[] {
  const at = rows[header]?.indexOf(CURVE_COLUMN) ?? -1;
  if (at < 0) return [];
  const labels = new Set(rows.slice(header + 1).map((row) => row[at] ?? ""));
  labels.delete("");
  if (labels.size < 2) return [];
  return [
    `${CURVE_COLUMN} has ${labels.size} values, which this model does not tell apart: all rows were fitted as one curve. Send a table of each curve for curves of their own.`,
  ];
}

type FittedCurve = FitResponse["curves"][number];

async function fitCurveOf(
  model: CurveModelEntry,
  { id, columns: given, rows }: Curve,
  options: CurveOptions,
  job: Job,
): Promise<{ entry: FittedCurve; measured: readonly number[] }> {
  const columns = modelColumns(model, given);
  const task = modelTask(model, columns, modelParameters(model, columns), new Map());
  const fit = await runCurveFit(task, options, job);
  const keys = task.parameters.map(({ symbol }) => symbol);
  const values = new Map(keys.map((key, at) => [key, fit.values[at] ?? Number.NaN]));
  const warnings = [
    ...fitWarnings(fit, task, options, keys, (row) => `Row ${rows[row]} of the table`),
    ...(model.remarks?.(columns, parameterValues(values, keys)) ?? []),
  ];
  const entry = {
    curve_id: id,
    parameters: Object.fromEntries(keys.map((key, at) => [key, fittedParameter(fit, at, key)])),
    ...fitFigures(fit, task.measured, keys),
    columns: Object.fromEntries([...columns].map(([name, values]) => [name, [...values]])),
    fitted_values: [...fit.fitted],
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  return { entry, measured: task.measured };
}

function summary(
  model: CurveModelEntry,
  fitted: readonly { entry: FittedCurve; measured: readonly number[] }[],
  warnings: readonly string[],
): FitResponse {
  const several = fitted.length > 1;
  const curves = fitted.map(({ entry }) => entry);
  const all = fitted.flatMap(({ measured }) => measured);
  const mean = all.reduce((sum, value) => sum + value / all.length, 0);
  const total = isConstant(all) ? 0 : all.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const rest = curves.reduce((sum, { loss }) => sum + (loss ?? 0), 0);
  const own = curves.flatMap((curve) =>
    (curve.warnings ?? []).map((text) => (several ? `Curve ${curve.curve_id}: ${text}` : text)),
  );
  const said = [...warnings, ...own];
  return {
    success: true,
    parameters: Object.fromEntries(
      curves.flatMap(({ curve_id, parameters }) =>
        Object.entries(parameters).map(([key, { value }]) => [several ? `${key} (${curve_id})` : key, value]),
      ),
    ),
    r_squared: total === 0 ? 0 : 1 - rest / total,
    loss: rest,
    converged: curves.every(({ converged }) => converged),
    equation: shownEquation(model),
    curves,
    ...(said.length > 0 ? { warnings: said } : {}),
  };
}
