import type { ExportResultsRequest, ResultFormat } from "../../../../shared/contract/export.ts";
import type { Job } from "../../../jobs/job.ts";
import { resultFileName, resultSheets } from "./result-sheets.ts";
import { resultCsv, resultJson } from "./result-text.ts";
import { workbook } from "./workbook.ts";

export interface ResultFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly warnings: readonly string[];
}

export const RESULT_TYPES: Readonly<Record<ResultFormat, string>> = {
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  csv: "text/csv; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** The result of a fit as a file. Errors: invalid_argument for more columns than a workbook holds. */
export async function exportResults(request: ExportResultsRequest, now: Date, job: Job): Promise<ResultFile> {
  job.stage("Writing the results", 0, 1);
  const { format, model_name } = request;
  const { sheets, warnings } = resultSheets(request, now);
  const bytes =
    format === "json"
      ? resultJson(request, now)
      : format === "csv"
        ? resultCsv(sheets)
        : await workbook(sheets, now, job);
  return {
    name: resultFileName(model_name, format, now),
    type: RESULT_TYPES[format],
    bytes,
    warnings: format === "json" ? [] : warnings, // json keeps all values
  };
}
