import { type TreeQsmRequest, TreeQsmTail } from "../contract/cloud-session/tree-qsm.ts";
import { type QsmBuildRequest, QsmBuildTail, type QsmImportRequest } from "../contract/qsm.ts";
import { type LeafAnglesRequest, LeafAnglesResponse } from "../contract/qsm-leaf-angles.ts";
import { LeafTexturesResponse, type LeavesRequest, LeavesResponse } from "../contract/qsm-leaves.ts";
import { type PhyllotaxisRequest, PhyllotaxisResponse } from "../contract/qsm-phyllotaxis.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Trees as connected cylinders. */
export const qsmClient = (calls: Calls) => ({
  /** Reconstructs one leafless tree without ground. If there is no model, throws an ApiError. */
  buildQsm: (request: Input<typeof QsmBuildRequest>, run?: RunOptions) =>
    calls.runJson(QsmBuildTail, "/api/qsm/build", request, CLIENT_TIMEOUT_MS.heavy, run),
  /** Reads a QSM from a table of cylinders (CSV) on the service's machine. */
  importQsm: (request: Input<typeof QsmImportRequest>, call?: CallOptions) =>
    calls.post(QsmBuildTail, "/api/qsm/import", request, CLIENT_TIMEOUT_MS.heavy, call),
  /** A QSM of every tree of column tree_instance; a tree without a model says why in its own result. */
  treeQsm: (id: string, request: Input<typeof TreeQsmRequest> = {}, run?: RunOptions) =>
    calls.runJson(TreeQsmTail, sessionPath(id, "tree_qsm"), request, CLIENT_TIMEOUT_MS.heavy, run),
  /** Divergence angle of the leaves, from the azimuths of branches. A wrong model is reported in `error`. */
  qsmPhyllotaxis: (request: Input<typeof PhyllotaxisRequest>, call?: CallOptions) =>
    calls.post(PhyllotaxisResponse, "/api/qsm/phyllotaxis", request, CLIENT_TIMEOUT_MS.preview, call),
  /** Names for builtin_texture_name. */
  qsmLeafTextures: (call?: CallOptions) =>
    calls.get(LeafTexturesResponse, "/api/qsm/leaf-textures", CLIENT_TIMEOUT_MS.quick, call),
  /** Leaves on the youngest growth of a tree, as a mesh. Failures are reported in `error`. */
  qsmLeaves: (request: Input<typeof LeavesRequest>, call?: CallOptions) =>
    calls.post(LeavesResponse, "/api/qsm/leaves", request, CLIENT_TIMEOUT_MS.edit, call),
  /**
   * The same, with the angles of measured leaves. Lists of triangles may be typed arrays (tin_vertices Float32Array,
   * tin_indices and tin_cell_ids Uint32Array): the request is then a frame.
   */
  qsmAdjustLeafAngles: (request: ListRequest<typeof LeafAnglesRequest>, call?: CallOptions) =>
    calls.postLists(LeafAnglesResponse, "/api/qsm/adjust-leaf-angles", request, CLIENT_TIMEOUT_MS.edit, call),
});
