import { type SkeletonRequest, SkeletonResponse } from "../contract/skeleton.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions } from "./transport.ts";

/** Skeletons of plants. */
export const skeletonClient = (calls: Calls) => ({
  /** Finds the skeleton of one plant, of inline points or of the hits of a session. Points that have none are reported in `error`. */
  extractSkeleton: (request: ListRequest<typeof SkeletonRequest>, call?: CallOptions) =>
    calls.postLists(SkeletonResponse, "/api/skeleton/extract", request, CLIENT_TIMEOUT_MS.heavy, call),
});
