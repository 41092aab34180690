import { type LadRequest, LadSuccess } from "../contract/lad-compute.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { RunOptions } from "./transport.ts";

/** Leaf area density. */
export const ladClient = (calls: Calls) => ({
  /** Inverts the leaf area density of voxels from the pulses of scans, hits and misses. */
  ladCompute: (request: ListRequest<typeof LadRequest>, run?: RunOptions) =>
    calls.runJson(LadSuccess, "/api/lad/compute", request, CLIENT_TIMEOUT_MS.heavy, run),
});
