import { QsmBuildTail, QsmImportRequest } from "../../shared/contract/qsm.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import { NO_FILE, type ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { checkQsmImport, importModel } from "../services/qsm/import.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const NO_TABLE: ProblemExample = {
  code: "invalid_argument",
  detail: 'scan.txt: the extension ".txt" is no table of cylinders; use .csv',
};

export function qsmRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/qsm/import",
    {
      schema: {
        operationId: "importQsm",
        summary: "Read a QSM from a table of cylinders and rebuild its shoots",
        tags: ["qsm"],
        body: QsmImportRequest,
        response: { 200: QsmBuildTail },
      },
      config: { problems: [NO_FILE, NO_TABLE], tool: "QSM import" },
    },
    async ({ body, unknownKeys }, reply) => {
      const path = await checkQsmImport(body);
      const answer = await runJson(reply, deps.jobs, (job) => importModel(path, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
}
