import type { ExportResultsRequest } from "../../../../shared/contract/export.ts";
import { type Cell, dataColumns, localIso, type Sheet, wholeParameter } from "./result-sheets.ts";

/** Texts that a spreadsheet program would run as a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;

/**
 * One cell of a csv file (RFC 4180). A text that would be read as a formula gets an apostrophe, the sign of text in
 * spreadsheet programs.
 */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The sheets one below the other, each under its name; UTF-8 with a byte order mark, so that spreadsheets know it. */
export function resultCsv(sheets: readonly Sheet[]): Buffer {
  const lines = sheets.flatMap((sheet) => [
    sheet.name,
    ...Array.from({ length: sheet.row_count }, (_, i) => sheet.row(i).map(csvCell).join(",")),
    "",
  ]);
  return Buffer.from(`\uFEFF${lines.join("\r\n")}`);
}

/** The result as an object; null where a figure is missing. */
export function resultJson(request: ExportResultsRequest, now: Date): Buffer {
  const columns = dataColumns(request);
  return Buffer.from(
    JSON.stringify({
      model_name: request.model_name,
      model_type: request.model_type || "Custom",
      file_name: request.file_name || null,
      fit_datetime: localIso(now),
      tags: request.model_tags ?? [],
      equation: request.equation ?? null,
      max_iterations: request.max_iterations ?? null,
      r_squared: request.r_squared ?? null,
      rmse: request.rmse ?? null,
      n_points: request.n_points ?? null,
      parameters: Object.entries(request.parameters).map(([name, given]) => wholeParameter(name, given)),
      data: columns.map(([name, values]) => ({ name, values })),
    }),
  );
}
