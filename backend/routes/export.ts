import { ExportResultsRequest } from "../../shared/contract/export.ts";
import type { Deps } from "../deps.ts";
import type { ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { exportResults, RESULT_TYPES } from "../services/fit/export/export.ts";
import { unknownKeyWarnings } from "../services/run/unknown-keys.ts";

const header = (description: string) => ({ description, schema: { type: "string" } });
const binary = { schema: { type: "string", format: "binary", description: "the file" } };
const RESULT_FILE = {
  description: "The file",
  headers: {
    "content-disposition": header("attachment; filename=<model>_FitResults_<YYYYMMDD_HHMMSS>.<format>, local time"),
    "x-warnings": header("JSON list of sentences for the user, only ASCII; absent if there are none"),
  },
  content: {
    [RESULT_TYPES.xlsx]: binary,
    "text/csv": binary,
    "application/json": { schema: { type: "object", description: "format json: the result as an object" } },
  },
};
const TOO_WIDE: ProblemExample = {
  code: "invalid_argument",
  detail:
    "the sheet Data would have 1 rows and 20000 columns; a workbook holds 1048576 and 16384: export format csv or json",
};
/** JSON that a header may carry. */
const ascii = (value: unknown) =>
  JSON.stringify(value).replace(/[^\x20-\x7E]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function exportRoutes(app: App, { jobs }: Deps): void {
  app.post(
    "/api/export",
    {
      schema: {
        operationId: "exportResults",
        summary: "Write the result of a fit as a workbook (.xlsx), csv or json",
        tags: ["fit"],
        body: ExportResultsRequest,
      },
      config: { responses: { 200: RESULT_FILE }, problems: [TOO_WIDE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const file = await runJson(reply, jobs, (job) => exportResults(body, new Date(), job));
      const warnings = [...unknownKeyWarnings(unknownKeys), ...file.warnings];
      if (warnings.length > 0) reply.header("x-warnings", ascii(warnings));
      return reply.header("content-disposition", `attachment; filename=${file.name}`).type(file.type).send(file.bytes);
    },
  );
}
