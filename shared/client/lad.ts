import { type BackfillMissesRequest, BackfillMissesTail } from "../contract/cloud-session/backfill-misses.ts";
import { type LadRequest, LadSuccess } from "../contract/lad-compute.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { RunOptions } from "./transport.ts";

/** Leaf area density, and the misses that it needs. */
export const ladClient = (calls: Calls) => ({
  /** Recovers the pulses of a scan that returned nothing; the points of the session do not change. */
  backfillMisses: (id: string, request: Input<typeof BackfillMissesRequest>, run?: RunOptions) =>
    calls.runJson(BackfillMissesTail, sessionPath(id, "backfill-misses"), request, CLIENT_TIMEOUT_MS.heavy, run),
  /** Inverts the leaf area density of voxels from the pulses of scans, hits and misses. */
  ladCompute: (request: ListRequest<typeof LadRequest>, run?: RunOptions) =>
    calls.runJson(LadSuccess, "/api/lad/compute", request, CLIENT_TIMEOUT_MS.heavy, run),
});
