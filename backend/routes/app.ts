import type { FastifyReply, FastifyRequest } from "fastify";
import { DeleteUploadResponse, UploadParams, UploadQuery, UploadResponse } from "../../shared/contract/app-upload.ts";
import { AppError } from "../../shared/errors.ts";
import { UPLOAD_TTL_S } from "../../shared/limits.ts";
import type { Deps } from "../deps.ts";
import { declaredBytes } from "../http/body-chunks.ts";
import { NO_SPACE } from "../http/problems.ts";
import type { App } from "../http/types.ts";
import { windowFile } from "../services/files/window-page.ts";

/**
 * Headers of the window's files. The page runs only scripts of this service, sends requests only to it, and no other
 * page shows it in a frame.
 */
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
} as const;
const tags = ["files"];

export function appRoutes(app: App, deps: Deps): void {
  const hide = { schema: { hide: true } };
  const page = (request: FastifyRequest, reply: FastifyReply) => sendFile("index.html", request, reply);
  app.get("/app", hide, page);
  app.get("/app/", hide, page);
  app.get<{ Params: { file: string } }>("/app/:file", hide, (request, reply) =>
    sendFile(request.params.file, request, reply),
  );
  uploadRoutes(app, deps);
}

async function sendFile(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { bytes, type, etag } = await windowFile(name);
  reply.headers(PAGE_HEADERS).header("etag", etag).type(type);
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  return reply.send(bytes);
}

function uploadRoutes(app: App, { uploads }: Pick<Deps, "uploads">): void {
  app.post(
    "/app/upload",
    {
      schema: {
        operationId: "uploadFile",
        summary: "Store a file in the data folder, for the requests that read files",
        description:
          "For clients that have no path on the service's machine, such as a page. The file is removed by deleteUpload, after a day, and when the service ends.",
        tags,
        consumes: ["application/octet-stream"],
        querystring: UploadQuery,
        response: { 200: UploadResponse },
      },
      config: {
        rawBody: "the bytes of the file",
        problems: [{ code: "invalid_argument", detail: 'the file "plot.laz" is empty' }, NO_SPACE],
      },
    },
    async ({ body, query, headers }) => {
      if (body === undefined || body === null) throw new AppError("invalid_argument", "the file is empty");
      const chunks = body as AsyncIterable<Uint8Array>;
      const stored = await uploads.add({ name: query.name, declared: declaredBytes(headers), chunks });
      return { ...stored, expires_s: UPLOAD_TTL_S };
    },
  );
  app.delete(
    "/app/upload/:upload_id",
    {
      schema: {
        operationId: "deleteUpload",
        summary: "Remove an uploaded file",
        tags,
        params: UploadParams,
        response: { 200: DeleteUploadResponse },
      },
    },
    async ({ params: { upload_id } }) => ({ upload_id, deleted: await uploads.delete(upload_id) }),
  );
}
