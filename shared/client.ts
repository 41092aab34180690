import type { z } from "zod";
import { ApiError } from "./client/errors.ts";
import { type CallOptions, type ClientOptions, type RunOptions, Transport } from "./client/transport.ts";
import { CancelResponse } from "./contract/cancel.ts";
import { CloseSessionResponse } from "./contract/cloud-session/close.ts";
import { type CreateSessionRequest, CreateSessionTail } from "./contract/cloud-session/create.ts";
import { RebuildOctreeResponse } from "./contract/cloud-session/rebuild-octree.ts";
import { DeviceInfo } from "./contract/device-info.ts";
import { HealthResponse, VersionResponse } from "./contract/health.ts";
import type { OctreeFile } from "./contract/octree.ts";
import {
  type ExportRequest,
  ExportTail,
  type ImportByPathRequest,
  type PreviewRequest,
  PreviewResponse,
} from "./contract/pointcloud.ts";
import { CLIENT_TIMEOUT_MS } from "./limits.ts";
import { decodePoints, type PackedPoints } from "./wire/phx1.ts";

export { ApiError, CanceledError } from "./client/errors.ts";
export type { CallOptions, ClientOptions, RunOptions, RunProgress } from "./client/transport.ts";

type Input<S extends z.ZodType> = z.input<S>;

/** Bytes of a file, both ends included. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The service's typed client, for browsers and Node. Every answer is checked against its contract.
 * Errors: ApiError (status, code, detail), CanceledError when the signal fired or the run was canceled.
 */
export function createClient(options: ClientOptions) {
  const transport = new Transport(options);
  const get = async <S extends z.ZodType>(schema: S, path: string, timeoutMs: number, call?: CallOptions) =>
    checked(schema, await transport.json({ method: "GET", path, timeoutMs }, call));
  const post = async <S extends z.ZodType>(
    schema: S,
    path: string,
    json: unknown,
    timeoutMs: number,
    call?: CallOptions,
  ) => checked(schema, await transport.json({ method: "POST", path, json, timeoutMs }, call));
  const runJson = async <S extends z.ZodType>(
    schema: S,
    path: string,
    json: unknown,
    timeoutMs: number,
    run?: RunOptions,
  ) => {
    const outcome = await transport.run({ method: "POST", path, json, timeoutMs }, run);
    if (outcome.kind !== "json")
      throw new ApiError(200, "internal", `${path} answered with a ${outcome.kind}, not JSON`, undefined);
    return checked(schema, outcome.value);
  };
  const { version, quick, preview, upload, export: exporting, heavy } = CLIENT_TIMEOUT_MS;
  return {
    health: (call?: CallOptions) => get(HealthResponse, "/health", quick, call),
    version: (call?: CallOptions) => get(VersionResponse, "/version", version, call),
    deviceInfo: (call?: CallOptions) => get(DeviceInfo, "/api/device-info", quick, call),
    cancel: (runId: string, call?: CallOptions) =>
      post(CancelResponse, `/api/cancel/${encodeURIComponent(runId)}`, undefined, quick, call),
    /** Looks at a file: layout and a few rows. */
    preview: (request: Input<typeof PreviewRequest>, call?: CallOptions) =>
      post(PreviewResponse, "/api/pointcloud/preview", request, preview, call),
    /** Reads a file the service can see into flat arrays. */
    importByPath: async (request: Input<typeof ImportByPathRequest>, call?: CallOptions): Promise<PackedPoints> =>
      decodePoints(
        await transport.bytes(
          { method: "POST", path: "/api/pointcloud/import_by_path", json: request, timeoutMs: heavy },
          call,
        ),
      ),
    /** Uploads a LAS or LAZ file; its name tells the kind. */
    importFile: async (file: Blob, name: string, call?: CallOptions): Promise<PackedPoints> => {
      const form = new FormData();
      form.append("file", file, name);
      return decodePoints(
        await transport.bytes({ method: "POST", path: "/api/pointcloud/import", form, timeoutMs: upload }, call),
      );
    },
    createSession: (request: Input<typeof CreateSessionRequest>, run?: RunOptions) =>
      runJson(CreateSessionTail, "/api/cloud/session/create", request, heavy, run),
    closeSession: async (id: string, call?: CallOptions) => {
      const path = `/api/cloud/session/${encodeURIComponent(id)}`;
      return checked(CloseSessionResponse, await transport.json({ method: "DELETE", path, timeoutMs: quick }, call));
    },
    rebuildOctree: (id: string, call?: CallOptions) =>
      post(
        RebuildOctreeResponse,
        `/api/cloud/session/${encodeURIComponent(id)}/rebuild_octree`,
        undefined,
        heavy,
        call,
      ),
    exportCloud: (request: Input<typeof ExportRequest>, run?: RunOptions) =>
      runJson(ExportTail, "/api/pointcloud/export", request, exporting, run),
    /** A file of an octree, or a part of it. */
    octreeFile: (cacheId: string, name: OctreeFile, range?: FileRange, call?: CallOptions): Promise<Uint8Array> => {
      const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
      const path = `/octree/${encodeURIComponent(cacheId)}/${name}`;
      return transport.bytes({ method: "GET", path, headers, timeoutMs: heavy }, call);
    },
  };
}
export type Client = ReturnType<typeof createClient>;

/** An answer that breaks its contract is an error at the door, not a wrong number further in. */
function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0] ?? { path: [], message: "no issue" };
  throw new ApiError(
    200,
    "internal",
    `the answer breaks its contract at ${path.join(".") || "its root"}: ${message}`,
    value,
  );
}
