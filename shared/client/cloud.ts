import { type AlignScansRequest, AlignScansTail } from "../contract/cloud-session/align-scans.ts";
import { BakeTail } from "../contract/cloud-session/bake.ts";
import { CloseSessionResponse } from "../contract/cloud-session/close.ts";
import { type CommitLabelsRequest, CommitLabelsTail } from "../contract/cloud-session/commit-labels.ts";
import { type CreateSessionRequest, CreateSessionTail } from "../contract/cloud-session/create.ts";
import { type DeleteRegionRequest, DeleteRegionResponse } from "../contract/cloud-session/delete-region.ts";
import { DuplicateResponse } from "../contract/cloud-session/duplicate.ts";
import { type ExtractRequest, ExtractResponse } from "../contract/cloud-session/extract.ts";
import { type ExtractByColumnRequest, ExtractByColumnTail } from "../contract/cloud-session/extract-by-column.ts";
import { type FilterRequest, FilterResponse } from "../contract/cloud-session/filter.ts";
import { type LabelRegionRequest, LabelRegionResponse } from "../contract/cloud-session/label-region.ts";
import { DEFAULT_LABEL_SLUG, LabelSummary } from "../contract/cloud-session/label-summary.ts";
import { type MergeRequest, MergeResponse } from "../contract/cloud-session/merge.ts";
import { type ResetEditsRequest, ResetEditsResponse } from "../contract/cloud-session/reset-edits.ts";
import { type ResetLabelEditsRequest, ResetLabelEditsResponse } from "../contract/cloud-session/reset-label-edits.ts";
import { SessionsResponse } from "../contract/cloud-session/sessions.ts";
import { type SplitRequest, SplitResponse } from "../contract/cloud-session/split.ts";
import { type TransformRequest, TransformResponse } from "../contract/cloud-session/transform.ts";
import { type ExportRequest, ExportTail } from "../contract/pointcloud.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, checked, type Input, sessionPath } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Cloud sessions: create, list, edit, split, merge, export, close. */
export const cloudClient = (calls: Calls) => ({
  createSession: (request: Input<typeof CreateSessionRequest>, run?: RunOptions) =>
    calls.runJson(CreateSessionTail, "/api/cloud/session/create", request, CLIENT_TIMEOUT_MS.heavy, run),
  /** All sessions, also damaged ones and those that cannot be changed. Waits for the recovery after a restart. */
  listSessions: (call?: CallOptions) =>
    calls.get(SessionsResponse, "/api/cloud/sessions", CLIENT_TIMEOUT_MS.edit, call),
  /** The answer comes when files and octrees are removed, which a busy disk delays. */
  closeSession: async (id: string, call?: CallOptions) =>
    checked(
      CloseSessionResponse,
      await calls.transport.json({ method: "DELETE", path: sessionPath(id), timeoutMs: CLIENT_TIMEOUT_MS.edit }, call),
    ),
  /** Marks hits as deleted; each call is one undo step. */
  deleteRegion: (id: string, request: Input<typeof DeleteRegionRequest>, call?: CallOptions) =>
    calls.post(DeleteRegionResponse, sessionPath(id, "delete_region"), request, CLIENT_TIMEOUT_MS.edit, call),
  /** Undoes deletions, newest first. */
  resetEdits: (id: string, request: Input<typeof ResetEditsRequest> = {}, call?: CallOptions) =>
    calls.post(ResetEditsResponse, sessionPath(id, "reset_edits"), request, CLIENT_TIMEOUT_MS.edit, call),
  labelRegion: (id: string, request: Input<typeof LabelRegionRequest>, call?: CallOptions) =>
    calls.post(LabelRegionResponse, sessionPath(id, "label_region"), request, CLIENT_TIMEOUT_MS.edit, call),
  resetLabelEdits: (id: string, request: Input<typeof ResetLabelEditsRequest> = {}, call?: CallOptions) =>
    calls.post(ResetLabelEditsResponse, sessionPath(id, "reset_label_edits"), request, CLIENT_TIMEOUT_MS.edit, call),
  /** Makes the strokes of a column permanent and adds them to the octree. */
  commitLabels: (id: string, request: Input<typeof CommitLabelsRequest> = {}, run?: RunOptions) =>
    calls.runJson(CommitLabelsTail, sessionPath(id, "commit_labels"), request, CLIENT_TIMEOUT_MS.heavy, run),
  labelSummary: (id: string, slug: string = DEFAULT_LABEL_SLUG, call?: CallOptions) =>
    calls.get(
      LabelSummary,
      `${sessionPath(id, "label_summary")}?slug=${encodeURIComponent(slug)}`,
      CLIENT_TIMEOUT_MS.edit,
      call,
    ),
  /** Builds the octree of the remaining points; removes the deleted rows unless `compact` is false. */
  bake: (id: string, { compact = true }: { readonly compact?: boolean } = {}, run?: RunOptions) =>
    calls.runJson(BakeTail, `${sessionPath(id, "bake")}?compact=${compact}`, {}, CLIENT_TIMEOUT_MS.heavy, run),
  /** Permanently deletes the hits outside the selection. */
  filter: (id: string, request: Input<typeof FilterRequest>, call?: CallOptions) =>
    calls.post(FilterResponse, sessionPath(id, "filter"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Moves the hits outside the selection to a new session. */
  split: (id: string, request: Input<typeof SplitRequest>, call?: CallOptions) =>
    calls.post(SplitResponse, sessionPath(id, "split"), request, CLIENT_TIMEOUT_MS.edit, call),
  /** Copies the selected hits to a new session. */
  extract: (id: string, request: Input<typeof ExtractRequest>, call?: CallOptions) =>
    calls.post(ExtractResponse, sessionPath(id, "extract"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Copies each class of a column to its own new session. For more than 1000, throws an ApiError with status 409 whose
   * body is a CostRefusal; send the request again with acknowledge_cost to start the run.
   */
  extractByColumn: (id: string, request: Input<typeof ExtractByColumnRequest>, run?: RunOptions) =>
    calls.runJson(ExtractByColumnTail, sessionPath(id, "extract_by_column"), request, CLIENT_TIMEOUT_MS.heavy, run),
  duplicate: (id: string, call?: CallOptions) =>
    calls.post(DuplicateResponse, sessionPath(id, "duplicate"), undefined, CLIENT_TIMEOUT_MS.heavy, call),
  merge: (request: Input<typeof MergeRequest>, call?: CallOptions) =>
    calls.post(MergeResponse, "/api/cloud/session/merge", request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Moves scans, and visits of a scanner that drifts, onto each other by the stems of the trees. */
  alignScans: (id: string, request: Input<typeof AlignScansRequest> = {}, run?: RunOptions) =>
    calls.runJson(AlignScansTail, sessionPath(id, "align_scans"), request, CLIENT_TIMEOUT_MS.heavy, run),
  transform: (id: string, request: Input<typeof TransformRequest>, call?: CallOptions) =>
    calls.post(TransformResponse, sessionPath(id, "transform"), request, CLIENT_TIMEOUT_MS.edit, call),
  exportCloud: (request: ListRequest<typeof ExportRequest>, run?: RunOptions) =>
    calls.runJson(ExportTail, "/api/pointcloud/export", request, CLIENT_TIMEOUT_MS.export, run),
});
