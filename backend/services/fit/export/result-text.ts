import type { ExportResultsRequest } from "../../../../shared/contract/export.ts";
import { csvLine } from "../../../../shared/wire/csv-cell.ts";
import { dataColumns, localIso, type Sheet, wholeParameter } from "./result-sheets.ts";

/** The sheets one below the other, each under its name; UTF-8 with a byte order mark, so that spreadsheets know it. */
export function resultCsv(sheets: readonly Sheet[]): Buffer {
  const lines = sheets.flatMap((sheet) => [
    sheet.name,
    ...Array.from({ length: sheet.row_count }, (_, i) => csvLine(sheet.row(i))),
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
