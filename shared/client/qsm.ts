import { type TreeQsmRequest, TreeQsmTail } from "../contract/cloud-session/tree-qsm.ts";
import { type QsmBuildRequest, QsmBuildTail, type QsmImportRequest } from "../contract/qsm.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
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
});
