import { QsmBuildTail, type QsmImportRequest } from "../contract/qsm.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls, Input } from "./calls.ts";
import type { CallOptions } from "./transport.ts";

/** Trees as connected cylinders. */
export const qsmClient = (calls: Calls) => ({
  /** Reads a QSM from a table of cylinders (CSV) on the service's machine. */
  importQsm: (request: Input<typeof QsmImportRequest>, call?: CallOptions) =>
    calls.post(QsmBuildTail, "/api/qsm/import", request, CLIENT_TIMEOUT_MS.heavy, call),
});
