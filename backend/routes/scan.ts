import { EXPORT_FORMATS } from "../../shared/contract/pointcloud.ts";
import { ScanExportRequest, ScanExportTail } from "../../shared/contract/scan-export.ts";
import type { Deps } from "../deps.ts";
import { FILE_EXISTS, type ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkScanExport } from "../services/cloud/export/scans/checked.ts";
import { exportScans } from "../services/cloud/export/scans/export-scans.ts";

const RELATIVE: ProblemExample = {
  code: "invalid_argument",
  detail: 'dest_dir "out" must be absolute, the full path of a folder',
};

export function scanRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/scan/export-xml",
    {
      schema: {
        operationId: "exportScans",
        summary: "Write scans as an XML bundle, or one file per object",
        description: `A bundle is an XML file and an xyz file per scan. With write_xml false, every object becomes one file in data_format: ${EXPORT_FORMATS.join(", ")}. A cancel or failure removes the files.`,
        tags: ["files"],
        body: ScanExportRequest,
      },
      config: { lists: true, tail: ScanExportTail, problems: [RELATIVE, FILE_EXISTS] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkScanExport(body, deps, unknownKeys); // 400 and 409 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => exportScans(checked, deps, job));
    },
  );
}
