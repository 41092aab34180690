import { type SessionDenoiseRequest, SessionDenoiseResponse } from "../contract/cloud-session/denoise.ts";
import { type SessionGroundRequest, SessionGroundResponse } from "../contract/cloud-session/segment-ground.ts";
import { type SessionTreesRequest, SessionTreesResponse } from "../contract/cloud-session/segment-trees.ts";
import { type SessionWoodRequest, SessionWoodResponse } from "../contract/cloud-session/segment-wood.ts";
import { type DenoiseRequest, DenoiseResponse } from "../contract/pointcloud-denoise.ts";
import { type GroundRequest, GroundResponse } from "../contract/segment-ground.ts";
import { type TreesRequest, TreesResponse } from "../contract/segment-trees.ts";
import { type WoodRequest, WoodResponse } from "../contract/segment-wood.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions } from "./transport.ts";

/** Labels of noise, ground, trees and wood. */
export const classifyClient = (calls: Calls) => ({
  /** Labels noise in inline points or in the hits of a session. A failed computation is reported in `error`. */
  denoise: (request: ListRequest<typeof DenoiseRequest>, call?: CallOptions) =>
    calls.postLists(DenoiseResponse, "/api/pointcloud/denoise", request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Labels the noise of a session in column noise_class. */
  denoiseSession: (id: string, request: Input<typeof SessionDenoiseRequest> = {}, call?: CallOptions) =>
    calls.post(SessionDenoiseResponse, sessionPath(id, "denoise"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Labels ground in inline points or in the hits of a session. A failed computation is reported in `error`. */
  segmentGround: (request: ListRequest<typeof GroundRequest>, call?: CallOptions) =>
    calls.postLists(GroundResponse, "/api/segment/ground", request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Labels the ground of a session in column ground_class. For a long or large run, throws an ApiError with status 409
   * whose body is a CostRefusal; send the request again with acknowledge_cost to start the run.
   */
  segmentGroundSession: (id: string, request: Input<typeof SessionGroundRequest> = {}, call?: CallOptions) =>
    calls.post(SessionGroundResponse, sessionPath(id, "segment_ground"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Labels trees in inline points or in the hits of a session. A failed computation is reported in `error`, a long or
   * large one in `cost_warning`; send the request again with acknowledge_cost to start it.
   */
  segmentTrees: (request: ListRequest<typeof TreesRequest>, call?: CallOptions) =>
    calls.postLists(TreesResponse, "/api/segment/trees", request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Labels the trees of a session in column tree_instance. For a long or large run, throws an ApiError with status 409
   * whose body is a CostRefusal; send the request again with acknowledge_cost to start the run.
   */
  segmentTreesSession: (id: string, request: Input<typeof SessionTreesRequest> = {}, call?: CallOptions) =>
    calls.post(SessionTreesResponse, sessionPath(id, "segment_trees"), request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Labels wood and leaves in inline points or in the hits of sessions. A failed computation is reported in `error`, a
   * long or large one in `cost_warning`; send the request again with acknowledge_cost to start it.
   */
  segmentWood: (request: ListRequest<typeof WoodRequest>, call?: CallOptions) =>
    calls.postLists(WoodResponse, "/api/segment/wood", request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Labels wood and leaves of a session in column wood_class. For a long or large run, throws an ApiError with status 409
   * whose body is a CostRefusal; send the request again with acknowledge_cost to start the run.
   */
  segmentWoodSession: (id: string, request: Input<typeof SessionWoodRequest> = {}, call?: CallOptions) =>
    calls.post(SessionWoodResponse, sessionPath(id, "segment_wood"), request, CLIENT_TIMEOUT_MS.heavy, call),
});
