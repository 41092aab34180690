import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CACHE_ID_PATTERN, isOctreeFile, OCTREE_FILES, OctreeFileParams } from "../../shared/contract/octree.ts";
import { AppError, type ErrorCode } from "../../shared/errors.ts";
import type { ProblemExample } from "../http/problems.ts";
import { parseRange } from "../http/range.ts";
import type { App, BaseDeps, OctreeFiles } from "../http/types.ts";

const bytes = (description: string) => ({
  description,
  headers: { "accept-ranges": { description: "bytes", schema: { type: "string" } } },
  content: {
    "application/octet-stream": {
      schema: { type: "string", format: "binary", description: "hierarchy.bin, octree.bin" },
    },
    "application/json": { schema: { type: "object", description: "metadata.json of the Potree 2 layout" } },
  },
});
const problem = (detail: string, code: ErrorCode) => ({
  "application/json": { schema: { $ref: "#/components/schemas/Problem" }, example: { detail, code } },
});
const BEHIND = "the range is behind the end of the file (4096 bytes)";
const CONFIG = {
  responses: {
    200: bytes("the whole file"),
    206: bytes("the bytes that the Range header requests"),
    416: { description: "The range starts beyond the end of the file", content: problem(BEHIND, "invalid_argument") },
  },
  problems: [
    { code: "not_found", detail: "an octree has the files metadata.json, hierarchy.bin, octree.bin only" },
  ] satisfies ProblemExample[],
};

const SCHEMA = {
  operationId: "octreeFile",
  tags: ["octree"],
  summary: "Read metadata.json, hierarchy.bin or octree.bin of an octree; supports byte ranges",
  params: OctreeFileParams,
};

export function octreeRoutes(app: App, { octreeCache }: BaseDeps): void {
  app.route({
    method: ["GET", "HEAD"],
    url: "/octree/:cache_id/:file",
    schema: SCHEMA,
    config: CONFIG,
    handler: async (request, reply) => {
      const { cache_id, file } = request.params;
      if (!CACHE_ID_PATTERN.test(cache_id))
        throw new AppError("not_found", "an octree id has 40 lower-case hex digits");
      if (!isOctreeFile(file)) {
        throw new AppError("not_found", `an octree has the files ${Object.keys(OCTREE_FILES).join(", ")} only`);
      }
      const handle = await openFile(octreeCache, cache_id, file);
      try {
        return await sendFile(request, reply.type(OCTREE_FILES[file]), handle);
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
  });
}

async function openFile(cache: OctreeFiles, cacheId: string, file: string): Promise<FileHandle> {
  const missing = new AppError("not_found", `no octree ${cacheId}; rebuild_octree of its session makes it again`);
  const folder = await cache.path(cacheId);
  if (folder === undefined) throw missing;
  return open(join(folder, file), "r").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") throw missing;
    throw new AppError("io", `octree ${cacheId}: ${file} cannot be opened (${cause.code})`, undefined, { cause });
  });
}

/** Takes ownership of `handle` on return: the stream closes it, also when the client disconnects. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, handle: FileHandle): Promise<FastifyReply> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new AppError("io", "the octree is damaged: a part of it is not a regular file");
  const { size } = stat;
  // The service sends no ETag or Last-Modified, so no If-Range can match: answer with the whole file.
  const range = request.headers["if-range"] === undefined ? parseRange(request.headers.range, size) : "whole";
  reply.header("accept-ranges", "bytes");
  if (range === "unsatisfiable") {
    await handle.close();
    return reply
      .code(416)
      .header("content-range", `bytes */${size}`)
      .type("application/json; charset=utf-8")
      .send(
        JSON.stringify({ detail: `the range is behind the end of the file (${size} bytes)`, code: "invalid_argument" }),
      );
  }
  const { start, end } = range === "whole" ? { start: 0, end: size - 1 } : range;
  if (range !== "whole") reply.code(206).header("content-range", `bytes ${start}-${end}/${size}`);
  reply.header("content-length", end - start + 1);
  if (request.method === "HEAD" || size === 0) {
    await handle.close();
    return reply.send();
  }
  return reply.send(handle.createReadStream({ start, end, autoClose: true, highWaterMark: 1 << 20 }));
}
