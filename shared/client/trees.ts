import { type DetectStemsRequest, DetectStemsResponse } from "../contract/cloud-session/detect-stems.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { CallOptions } from "./transport.ts";

/** Stems and trees. */
export const treesClient = (calls: Calls) => ({
  /** Finds the stems that cross a layer of heights above the ground; the session needs column height_above_ground. */
  detectStems: (id: string, request: Input<typeof DetectStemsRequest> = {}, call?: CallOptions) =>
    calls.post(DetectStemsResponse, sessionPath(id, "detect_stems"), request, CLIENT_TIMEOUT_MS.heavy, call),
});
