import type { ExportResultsRequest, ResultParameter } from "../../../../shared/contract/export.ts";

export type Cell = string | number | null;
/** One sheet of a result. Its first row is a heading. */
export interface Sheet {
  readonly name: "Parameters" | "Data" | "Metadata";
  readonly row_count: number;
  /** Cells of a row, from 0. */
  row(index: number): readonly Cell[];
  /** Rows in bold, from 0. */
  readonly headings: ReadonlySet<number>;
}

export interface ResultSheets {
  readonly sheets: readonly Sheet[];
  readonly warnings: readonly string[];
}

const PARAMETER_HEADINGS = ["Parameter", "Value", "Std Error", "Status", "Symbol", "Units", "Description"];

/** The three sheets of a result. `now`: the time of the fit. */
export function resultSheets(request: ExportResultsRequest, now: Date): ResultSheets {
  const { sheet, warnings } = dataSheet(request);
  const parameters = listed("Parameters", [PARAMETER_HEADINGS, ...parameterRows(request)], new Set([0]));
  return { sheets: [parameters, sheet, metadataSheet(request, now)], warnings };
}

const listed = (name: Sheet["name"], rows: readonly (readonly Cell[])[], headings: ReadonlySet<number>): Sheet => ({
  name,
  row_count: rows.length,
  row: (index) => rows[index] ?? [],
  headings,
});

/** A parameter with all of its fields. */
export function wholeParameter(name: string, given: number | ResultParameter) {
  const record: ResultParameter = typeof given === "number" ? { value: given } : given;
  return {
    name,
    value: record.value ?? null,
    std_error: record.std_error ?? null,
    fixed: record.fixed ?? false,
    symbol: record.symbol ?? name,
    units: record.units ?? "",
    description: record.description ?? "",
  };
}

const parameterRows = ({ parameters }: ExportResultsRequest): Cell[][] =>
  Object.entries(parameters)
    .map(([name, given]) => wholeParameter(name, given))
    .map(({ name, value, std_error, fixed, symbol, units, description }) => [
      name,
      value,
      std_error,
      fixed ? "Fixed" : "Fitted",
      symbol,
      units,
      description,
    ]);

/** The columns of the data sheet, in order. */
export function dataColumns(request: ExportResultsRequest): (readonly [string, readonly (number | null)[]])[] {
  const y = request.y_column_name || "Y";
  const results = [
    [`${y}_measured`, request.y_measured],
    [`${y}_modeled`, request.fitted_values],
    ["Residual", request.residuals],
  ] as const;
  return [
    ...Object.entries(request.input_data ?? {}),
    ...results.flatMap(([name, values]) => (values ? [[name, values] as const] : [])),
  ];
}

function dataSheet(request: ExportResultsRequest): { sheet: Sheet; warnings: string[] } {
  const columns = dataColumns(request);
  const rows = columns[0]?.[1].length ?? 0;
  const cut = columns.flatMap(([name, values]) => (values.length > rows ? [name.slice(0, 60)] : []));
  const names = columns.map(([name]) => name);
  const warnings =
    cut.length > 0
      ? [
          `Columns longer than the first one, "${names[0]?.slice(0, 60)}", were cut to its ${rows} rows: ${cut.slice(0, 10).join(", ")}${cut.length > 10 ? ` and ${cut.length - 10} more` : ""}.`,
        ]
      : [];
  const sheet: Sheet = {
    name: "Data",
    row_count: columns.length > 0 ? rows + 1 : 0,
    row: (index) => (index === 0 ? names : columns.map(([, values]) => values[index - 1] ?? null)),
    headings: new Set([0]),
  };
  return { sheet, warnings };
}

/** Facts about a fit, by section. */
export function resultFacts(
  request: ExportResultsRequest,
  now: Date,
): readonly (readonly [string, readonly Cell[][]])[] {
  return [
    [
      "DATA SOURCE",
      [
        ["Model Name", request.model_name],
        ["Model Type", request.model_type || "Custom"],
        ["Source File", request.file_name || "Not specified"],
        ["Fit DateTime", localIso(now)],
        ["Tags", (request.model_tags ?? []).join(", ")],
      ],
    ],
    ["EQUATION", [[request.equation ?? ""]]],
    ["FIT OPTIONS", [["Max Iterations", request.max_iterations ?? "Default"]]],
    [
      "ERROR METRICS",
      [
        ["R2", request.r_squared ?? null],
        ["RMSE", request.rmse ?? null],
        ["N Points", request.n_points ?? null],
      ],
    ],
  ];
}

function metadataSheet(request: ExportResultsRequest, now: Date): Sheet {
  const rows: (readonly Cell[])[] = [["Fit Results"]];
  const headings = new Set([0]);
  for (const [section, facts] of resultFacts(request, now)) {
    rows.push([]);
    headings.add(rows.length);
    rows.push([section], ...facts);
  }
  return listed("Metadata", rows, headings);
}

const two = (value: number) => String(value).padStart(2, "0");
const datePart = (now: Date) => [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())] as const;
const timePart = (now: Date) => [two(now.getHours()), two(now.getMinutes()), two(now.getSeconds())] as const;

/** Local time, ISO 8601 to the second. */
export const localIso = (now: Date) => `${datePart(now).join("-")}T${timePart(now).join(":")}`;

/** <model>_FitResults_<YYYYMMDD_HHMMSS>.<extension>, local time. */
export const resultFileName = (model: string, extension: string, now: Date) =>
  `${model.replace(/[^A-Za-z0-9_-]/g, "_")}_FitResults_${datePart(now).join("")}_${timePart(now).join("")}.${extension}`;
