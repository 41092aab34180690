import type { z } from "zod";
import { CancelResponse } from "../contract/cancel.ts";
import { BakeTail } from "../contract/cloud-session/bake.ts";
import { CloseSessionResponse } from "../contract/cloud-session/close.ts";
import { type CommitLabelsRequest, CommitLabelsTail } from "../contract/cloud-session/commit-labels.ts";
import { type CreateSessionRequest, CreateSessionTail } from "../contract/cloud-session/create.ts";
import { type DeleteRegionRequest, DeleteRegionResponse } from "../contract/cloud-session/delete-region.ts";
import { type SessionDemRequest, SessionDemSuccess } from "../contract/cloud-session/dem.ts";
import { type SessionDenoiseRequest, SessionDenoiseResponse } from "../contract/cloud-session/denoise.ts";
import { DuplicateResponse } from "../contract/cloud-session/duplicate.ts";
import { type ExtractRequest, ExtractResponse } from "../contract/cloud-session/extract.ts";
import { type ExtractByColumnRequest, ExtractByColumnTail } from "../contract/cloud-session/extract-by-column.ts";
import { type FilterRequest, FilterTail } from "../contract/cloud-session/filter.ts";
import { type LabelRegionRequest, LabelRegionResponse } from "../contract/cloud-session/label-region.ts";
import { DEFAULT_LABEL_SLUG, LabelSummary } from "../contract/cloud-session/label-summary.ts";
import { type MergeRequest, MergeResponse } from "../contract/cloud-session/merge.ts";
import { RebuildOctreeResponse } from "../contract/cloud-session/rebuild-octree.ts";
import { type ResetEditsRequest, ResetEditsResponse } from "../contract/cloud-session/reset-edits.ts";
import { type ResetLabelEditsRequest, ResetLabelEditsResponse } from "../contract/cloud-session/reset-label-edits.ts";
import { type SessionGroundRequest, SessionGroundResponse } from "../contract/cloud-session/segment-ground.ts";
import { type SplitRequest, SplitResponse } from "../contract/cloud-session/split.ts";
import { type TransformRequest, TransformResponse } from "../contract/cloud-session/transform.ts";
import {
  DemFailure,
  type DemRequest,
  DemSuccess,
  type ExportRasterRequest,
  ExportRasterResponse,
} from "../contract/dem.ts";
import { DeviceInfo } from "../contract/device-info.ts";
import { HealthResponse, VersionResponse } from "../contract/health.ts";
import { type SnapGridRequest, SnapGridResponse } from "../contract/lad.ts";
import type { OctreeFile } from "../contract/octree.ts";
import {
  type ExportRequest,
  ExportTail,
  type ImportByPathRequest,
  type PreviewRequest,
  PreviewResponse,
} from "../contract/pointcloud.ts";
import { type DenoiseRequest, DenoiseResponse } from "../contract/pointcloud-denoise.ts";
import { type GroundRequest, GroundResponse } from "../contract/segment-ground.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { decodePoints, type PackedPoints } from "../wire/phx1.ts";
import { ApiError } from "./errors.ts";
import { type CallOptions, type ClientOptions, type RunOptions, Transport } from "./transport.ts";

export { ApiError, CanceledError } from "./errors.ts";
export type { CallOptions, ClientOptions, RunOptions, RunProgress } from "./transport.ts";

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
  const runFrame = async <S extends z.ZodType>(schema: S, path: string, json: unknown, run?: RunOptions) => {
    const outcome = await transport.run({ method: "POST", path, json, timeoutMs: heavy }, run);
    if (outcome.kind !== "frame")
      throw new ApiError(200, "internal", `${path} answered with ${outcome.kind}, not a frame`, undefined);
    const failed = DemFailure.safeParse(outcome.frame.meta); // a frame has no other way to say it
    if (failed.success) throw new ApiError(200, failed.data.code, failed.data.error, undefined);
    return { meta: checked(schema, outcome.frame.meta), buffers: outcome.frame.buffers };
  };
  const { version, quick, preview, upload, export: exporting, edit, heavy } = CLIENT_TIMEOUT_MS;
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
    closeSession: async (id: string, call?: CallOptions) =>
      checked(
        CloseSessionResponse,
        await transport.json({ method: "DELETE", path: session(id), timeoutMs: quick }, call),
      ),
    /** Marks hits as deleted: one step of the undo stack. */
    deleteRegion: (id: string, request: Input<typeof DeleteRegionRequest>, call?: CallOptions) =>
      post(DeleteRegionResponse, session(id, "delete_region"), request, edit, call),
    /** Takes deletions back, newest first. */
    resetEdits: (id: string, request: Input<typeof ResetEditsRequest> = {}, call?: CallOptions) =>
      post(ResetEditsResponse, session(id, "reset_edits"), request, edit, call),
    labelRegion: (id: string, request: Input<typeof LabelRegionRequest>, call?: CallOptions) =>
      post(LabelRegionResponse, session(id, "label_region"), request, edit, call),
    resetLabelEdits: (id: string, request: Input<typeof ResetLabelEditsRequest> = {}, call?: CallOptions) =>
      post(ResetLabelEditsResponse, session(id, "reset_label_edits"), request, edit, call),
    /** Makes the strokes of a column permanent and shows them in the octree. */
    commitLabels: (id: string, request: Input<typeof CommitLabelsRequest> = {}, run?: RunOptions) =>
      runJson(CommitLabelsTail, session(id, "commit_labels"), request, heavy, run),
    labelSummary: (id: string, slug: string = DEFAULT_LABEL_SLUG, call?: CallOptions) =>
      get(LabelSummary, `${session(id, "label_summary")}?slug=${encodeURIComponent(slug)}`, edit, call),
    /** Builds the octree of what is left; drops the deleted rows unless `compact` is false. */
    bake: (id: string, { compact = true }: { readonly compact?: boolean } = {}, run?: RunOptions) =>
      runJson(BakeTail, `${session(id, "bake")}?compact=${compact}`, {}, heavy, run),
    filter: (id: string, request: Input<typeof FilterRequest>, run?: RunOptions) =>
      runJson(FilterTail, session(id, "filter"), request, heavy, run),
    /** Keeps what passes; the rest moves to a new session. */
    split: (id: string, request: Input<typeof SplitRequest>, call?: CallOptions) =>
      post(SplitResponse, session(id, "split"), request, edit, call),
    /** Copies what passes to a new session. */
    extract: (id: string, request: Input<typeof ExtractRequest>, call?: CallOptions) =>
      post(ExtractResponse, session(id, "extract"), request, heavy, call),
    extractByColumn: (id: string, request: Input<typeof ExtractByColumnRequest>, run?: RunOptions) =>
      runJson(ExtractByColumnTail, session(id, "extract_by_column"), request, heavy, run),
    duplicate: (id: string, call?: CallOptions) =>
      post(DuplicateResponse, session(id, "duplicate"), undefined, heavy, call),
    merge: (request: Input<typeof MergeRequest>, call?: CallOptions) =>
      post(MergeResponse, "/api/cloud/session/merge", request, heavy, call),
    transform: (id: string, request: Input<typeof TransformRequest>, call?: CallOptions) =>
      post(TransformResponse, session(id, "transform"), request, edit, call),
    /** Terrain, surface or canopy height of a flat cloud. */
    dem: (request: Input<typeof DemRequest>, run?: RunOptions) => runFrame(DemSuccess, "/api/dem", request, run),
    /** The same of a session; with add_height_column it gets the column height_above_ground. */
    sessionDem: (id: string, request: Input<typeof SessionDemRequest> = {}, run?: RunOptions) =>
      runFrame(SessionDemSuccess, session(id, "dem"), request, run),
    /** A grid as ESRI ASCII grid or GeoTIFF. */
    exportRaster: (request: Input<typeof ExportRasterRequest>, call?: CallOptions) =>
      post(ExportRasterResponse, "/api/dem/export-raster", request, exporting, call),
    /** Lifts the columns of a voxel grid to a terrain; a request that cannot be met says so in `error`. */
    snapGrid: (request: Input<typeof SnapGridRequest>, call?: CallOptions) =>
      post(SnapGridResponse, "/api/lad/snap-grid", request, edit, call),
    rebuildOctree: (id: string, call?: CallOptions) =>
      post(RebuildOctreeResponse, session(id, "rebuild_octree"), undefined, heavy, call),
    exportCloud: (request: Input<typeof ExportRequest>, run?: RunOptions) =>
      runJson(ExportTail, "/api/pointcloud/export", request, exporting, run),
    /** Labels the noise of inline points or of a session's hits; a request that cannot be met says so in `error`. */
    denoise: (request: Input<typeof DenoiseRequest>, call?: CallOptions) =>
      post(DenoiseResponse, "/api/pointcloud/denoise", request, heavy, call),
    /** Labels the noise of a session in its column noise_class. */
    denoiseSession: (id: string, request: Input<typeof SessionDenoiseRequest> = {}, call?: CallOptions) =>
      post(SessionDenoiseResponse, session(id, "denoise"), request, heavy, call),
    /** Labels the ground of inline points or of a session's hits; what cannot be met is said in `error`, or is a 400. */
    segmentGround: (request: Input<typeof GroundRequest>, call?: CallOptions) =>
      post(GroundResponse, "/api/segment/ground", request, heavy, call),
    /**
     * Labels the ground of a session in its column ground_class. A long or large run is an ApiError 409 whose body holds a
     * CostRefusal; sent again with acknowledge_cost it runs.
     */
    segmentGroundSession: (id: string, request: Input<typeof SessionGroundRequest> = {}, call?: CallOptions) =>
      post(SessionGroundResponse, session(id, "segment_ground"), request, heavy, call),
    /** A file of an octree, or a part of it. */
    octreeFile: (cacheId: string, name: OctreeFile, range?: FileRange, call?: CallOptions): Promise<Uint8Array> => {
      const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
      const path = `/octree/${encodeURIComponent(cacheId)}/${name}`;
      return transport.bytes({ method: "GET", path, headers, timeoutMs: heavy }, call);
    },
  };
}
export type Client = ReturnType<typeof createClient>;

/** Path of a session, or of what can be done with it. */
function session(id: string, action?: string): string {
  const path = `/api/cloud/session/${encodeURIComponent(id)}`;
  return action === undefined ? path : `${path}/${action}`;
}

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
