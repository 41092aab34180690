import { type DistanceRequest, DistanceSuccess } from "../contract/c2m.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { RunOptions } from "./transport.ts";

/** Clouds and meshes compared. */
export const registrationClient = (calls: Calls) => ({
  /** Measures the distances from inline points or the hits of a session to a mesh. */
  meshDistance: (request: ListRequest<typeof DistanceRequest>, run?: RunOptions) =>
    calls.runJson(DistanceSuccess, "/api/c2m/distance", request, CLIENT_TIMEOUT_MS.distance, run),
});
