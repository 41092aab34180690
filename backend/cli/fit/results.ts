import type { FitResponse } from "../../../shared/contract/fit.ts";
import { csvLine } from "../../../shared/wire/csv-cell.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import type { InputFile } from "../analyze/options.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { smallPage } from "../report/page.ts";
import type { Fact } from "../report/summary.ts";
import { type FolderRun, REPORT_FILE, SUMMARY_FILE } from "../run/folder-run.ts";
import { reportedWarnings } from "../wording.ts";
import { type Curve, MOST_DRAWN, type Model, type NamedFigure } from "./figures.ts";

const PARAMETERS_FILE = "parameters.csv";
const FITTED_FILE = "fitted.csv";

export interface Fitted {
  readonly file: InputFile;
  readonly model: Model;
  readonly id: string;
  readonly answer: FitResponse;
  readonly max_iterations: number;
}

const rounded = (value: number) => shortNumber(Number(value.toPrecision(5)));
const named = ({ curve_id }: Curve, name: string) => (curve_id === null ? name : `${curve_id}: ${name}`);

function curveFacts(curve: Curve): Fact[] {
  const facts = Object.entries(curve.parameters).map(([symbol, { value, std_error, interval }]): Fact => {
    const [low, high] = interval ?? [];
    const limits = low != null && high != null ? `, 95 % interval ${rounded(low)} to ${rounded(high)}` : "";
    const error = std_error === null ? "no standard error" : `standard error ${rounded(std_error)}`;
    return [named(curve, symbol), `${rounded(value)} (${error}${limits})`];
  });
  const { r_squared, rmse, n_points, converged } = curve;
  const quality = [
    `${plainNumber(n_points, 0)} points`,
    ...(r_squared === null ? [] : [`R2 ${r_squared.toFixed(4)}`]),
    ...(rmse === null ? [] : [`RMSE ${rounded(rmse)}`]),
    converged ? "converged" : "not converged",
  ];
  return [...facts, [named(curve, "Fit"), quality.join(", ")]];
}

/** The numbers for the terminal and the report. */
export const fitFacts = ({ file, model, answer }: Fitted): Fact[] => [
  ["Table", file.name],
  ["Model", `${model.name}: ${model.output} = ${model.equation}`],
  ...answer.curves.flatMap(curveFacts),
];

const csv = (rows: readonly (readonly (string | number | null)[])[]) => rows.map((row) => `${csvLine(row)}\n`).join("");

function parametersCsv({ curves }: FitResponse): string {
  const rows = curves.flatMap(({ curve_id, parameters }) =>
    Object.entries(parameters).map(([symbol, { value, std_error, interval }]) => [
      curve_id,
      symbol,
      value,
      std_error,
      interval?.[0] ?? null,
      interval?.[1] ?? null,
    ]),
  );
  return csv([["curve", "parameter", "value", "std_error", "low", "high"], ...rows]);
}

function fittedCsv({ curves }: FitResponse): string {
  const columns = Object.keys(curves[0]?.columns ?? {});
  const rows = curves.flatMap((curve) =>
    curve.fitted_values.map((fitted, row) => [
      curve.curve_id,
      ...columns.map((name) => curve.columns[name]?.[row] ?? null),
      fitted,
      curve.fitted_std_errors?.[row] ?? null,
      curve.residuals[row] ?? null,
    ]),
  );
  return csv([["curve", ...columns, "fitted", "fitted_std_error", "residual"], ...rows]);
}

/** Writes pictures, tables, summary and report. */
export async function writeFit(
  fitted: Fitted,
  figures: readonly NamedFigure[],
  { out }: FolderRun,
  versions: Record<string, string>,
) {
  const { file, model, id, answer, max_iterations } = fitted;
  const left = answer.curves.length - MOST_DRAWN;
  const warnings = reportedWarnings([
    ...(answer.warnings ?? []),
    ...(left > 0 ? [`Only the first ${MOST_DRAWN} curves are drawn; ${left} more are in the tables.`] : []),
  ]);
  for (const { name, png } of figures) await out.write(`${name}.png`, png);
  await out.write(PARAMETERS_FILE, parametersCsv(answer));
  await out.write(FITTED_FILE, fittedCsv(answer));
  const document = {
    table: { path: file.path, bytes: file.bytes },
    model: { id, ...model },
    fit: answer,
    outputs: {
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      parameters: out.final(PARAMETERS_FILE),
      fitted: out.final(FITTED_FILE),
      pictures: figures.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings,
    versions,
    parameters: { max_iterations },
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  const page = await smallPage({
    kicker: "Curve fit",
    title: `${model.name}: ${file.name}`,
    created: new Date(),
    tiles: [
      [plainNumber(answer.curves.length, 0), answer.curves.length === 1 ? "curve" : "curves"],
      [
        plainNumber(
          answer.curves.reduce((sum, curve) => sum + curve.n_points, 0),
          0,
        ),
        "points",
      ],
      ...(answer.r_squared === null ? [] : [[answer.r_squared.toFixed(4), "R2 over all curves"] as const]),
      [answer.converged ? "yes" : "no", "converged"],
    ],
    warnings,
    sections: [
      { title: "Parameters", facts: fitFacts(fitted), note: NOTE },
      { title: "Pictures", figures },
      { title: "Columns", facts: model.columns.map(({ name, description }): Fact => [name, description]) },
      { title: "Parameters of the model", facts: model.parameters.map((one): Fact => [one.symbol, one.description]) },
      {
        title: "Reproduce",
        facts: [
          ["Table", `${file.path} (${plainNumber(file.bytes, 0)} bytes)`],
          ["Model (--model)", id],
          ["Iterations (--max-iterations)", plainNumber(max_iterations, 0)],
          ["Source", model.source],
          [
            "Versions",
            Object.entries(versions)
              .map((entry) => entry.join(" "))
              .join(", "),
          ],
        ],
      },
    ],
    footer: `The numbers are in the folder of this report: ${PARAMETERS_FILE} and ${FITTED_FILE}.`,
  });
  await out.write(REPORT_FILE, page);
  const outputs: Fact[] = [
    ["Tables", `${out.final(PARAMETERS_FILE)}, ${FITTED_FILE}`],
    ["Report", out.final(REPORT_FILE)],
    ["Summary", out.final(SUMMARY_FILE)],
  ];
  return { document, outputs };
}

const NOTE =
  "Least squares; intervals from the standard errors and Student's t. Bands of the pictures are 1.96 standard errors of the fitted value.";
