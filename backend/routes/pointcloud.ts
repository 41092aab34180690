import type { FastifyReply } from "fastify";
import {
  EXPORT_FORMATS,
  ExportRequest,
  ExportTail,
  ImportByPathRequest,
  ImportUpload,
  PointStream,
  PreviewRequest,
  PreviewResponse,
} from "../../shared/contract/pointcloud.ts";
import { DenoiseRequest, DenoiseResponse } from "../../shared/contract/pointcloud-denoise.ts";
import type { Deps } from "../deps.ts";
import { sendPoints } from "../http/frame.ts";
import { sendJson } from "../http/json-stream.ts";
import { FILE_EXISTS, NO_FILE, NO_SESSION, NO_SPACE, type ProblemExample, UNKNOWN_METHOD } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { receiveUpload } from "../http/upload.ts";
import { checkDenoiseSource, denoiseFlat } from "../services/classify/denoise.ts";
import { checkCriterion } from "../services/classify/noise-criterion.ts";
import { checkExportRequest, exportCloud } from "../services/cloud/export/export.ts";
import { checkFlatImport, importFlat } from "../services/files/flat-import.ts";
import { previewFile } from "../services/files/preview/preview.ts";
import { READABLE_EXTENSIONS } from "../services/files/source.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const tags = ["files"];

const invalid = (detail: string): ProblemExample => ({ code: "invalid_argument", detail });
const UNKNOWN_FORMAT = invalid(`Unknown format "docx"; use one of ${EXPORT_FORMATS.join(", ")}`);
const NO_EXTENSION = invalid(
  `scan.docx: the extension ".docx" is not a point cloud format; use one of ${READABLE_EXTENSIONS.join(", ")}`,
);

export function pointcloudRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/pointcloud/preview",
    {
      schema: {
        operationId: "preview",
        summary: "Preview the columns, first rows and metadata of a file",
        tags,
        body: PreviewRequest,
        response: { 200: PreviewResponse },
      },
      config: { problems: [NO_FILE] },
    },
    ({ body }, reply) => runJson(reply, deps.jobs, (job) => previewFile(body, job)),
  );
  app.post(
    "/api/pointcloud/import_by_path",
    {
      schema: {
        operationId: "importByPath",
        summary: "Read a file into a PHX1 point stream",
        tags,
        body: ImportByPathRequest,
      },
      config: { points: PointStream, problems: [NO_FILE, NO_EXTENSION] },
    },
    async ({ body }, reply) => sendFlat(reply, deps, body),
  );
  app.post(
    "/api/pointcloud/import",
    {
      schema: {
        operationId: "importFile",
        summary: "Read an uploaded LAS or LAZ file into a PHX1 point stream",
        tags,
        consumes: ["multipart/form-data"],
      },
      config: {
        points: PointStream,
        upload: ImportUpload,
        problems: [invalid('the form needs one part named "file"'), NO_SPACE],
      },
    },
    async (request, reply) => {
      const upload = await receiveUpload(request, [".las", ".laz"], deps.config.bodyStallS);
      try {
        return await sendFlat(reply, deps, {
          file_path: upload.path,
          ascii_format: null,
          column_plan: null,
          world_shift: null,
        });
      } catch (error) {
        throw upload.named(error);
      } finally {
        await upload.remove();
      }
    },
  );
  app.post(
    "/api/pointcloud/export",
    {
      schema: { operationId: "exportCloud", summary: "Write a cloud to a file", tags, body: ExportRequest },
      config: { lists: true, tail: ExportTail, problems: [NO_SESSION, UNKNOWN_FORMAT, FILE_EXISTS, NO_SPACE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkExportRequest(body, deps, unknownKeys); // 400 and 404 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => exportCloud(checked, deps, job));
    },
  );
  app.post(
    "/api/pointcloud/denoise",
    {
      schema: {
        operationId: "denoise",
        summary: "Label noise in points, without changing a session",
        tags: ["classify"],
        body: DenoiseRequest,
        response: { 200: DenoiseResponse },
      },
      config: { lists: true, problems: [NO_SESSION, UNKNOWN_METHOD], tool: "Denoise" },
    },
    async ({ body, unknownKeys }, reply) => {
      const criterion = checkCriterion(body);
      const session = await checkDenoiseSource(body, deps);
      const answer = await runJson(reply, deps.jobs, (job) => denoiseFlat(body, criterion, session, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
}

async function sendFlat(reply: FastifyReply, deps: Deps, request: ImportByPathRequest): Promise<FastifyReply> {
  const checked = await checkFlatImport(request);
  const points = await runJson(reply, deps.jobs, (job) => importFlat(checked, deps, job));
  try {
    return sendPoints(reply, points);
  } finally {
    points.release(); // the stream retains its own reference
  }
}
