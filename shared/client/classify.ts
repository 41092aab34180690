import { type SessionDenoiseRequest, SessionDenoiseResponse } from "../contract/cloud-session/denoise.ts";
import { type SessionGroundRequest, SessionGroundResponse } from "../contract/cloud-session/segment-ground.ts";
import { type DenoiseRequest, DenoiseResponse } from "../contract/pointcloud-denoise.ts";
import { type GroundRequest, GroundResponse } from "../contract/segment-ground.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { CallOptions } from "./transport.ts";

/** Noise and ground. */
export const classifyClient = (calls: Calls) => ({
  /** Labels the noise of inline points or of a session's hits; a request that cannot be met says so in `error`. */
  denoise: (request: Input<typeof DenoiseRequest>, call?: CallOptions) =>
    calls.post(DenoiseResponse, "/api/pointcloud/denoise", request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Labels the noise of a session in its column noise_class. */
  denoiseSession: (id: string, request: Input<typeof SessionDenoiseRequest> = {}, call?: CallOptions) =>
    calls.post(SessionDenoiseResponse, sessionPath(id, "denoise"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Labels the ground of inline points or of a session's hits; what cannot be met is said in `error`, or is a 400. */
  segmentGround: (request: Input<typeof GroundRequest>, call?: CallOptions) =>
    calls.post(GroundResponse, "/api/segment/ground", request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Labels the ground of a session in its column ground_class. A long or large run is an ApiError 409 whose body holds a
   * CostRefusal; sent again with acknowledge_cost it runs.
   */
  segmentGroundSession: (id: string, request: Input<typeof SessionGroundRequest> = {}, call?: CallOptions) =>
    calls.post(SessionGroundResponse, sessionPath(id, "segment_ground"), request, CLIENT_TIMEOUT_MS.heavy, call),
});
