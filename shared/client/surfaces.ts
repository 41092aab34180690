import { type TriangulateRequest, TriangulateSuccess } from "../contract/triangulate.ts";
import {
  type ScanTriangulationRequest,
  ScanTriangulationSuccess,
  SpacingVerdict,
} from "../contract/triangulate-lidar.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls, Input } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Meshes of points. */
export const surfacesClient = (calls: Calls) => ({
  /** Meshes inline points and the points of sessions. */
  triangulate: (request: ListRequest<typeof TriangulateRequest>, run?: RunOptions) =>
    calls.runFrame(TriangulateSuccess, "/api/triangulate", request, run),
  /** Meshes the surfaces that scans see, each in the directions from its scanner. */
  triangulateScans: (request: Input<typeof ScanTriangulationRequest>, run?: RunOptions) =>
    calls.runFrame(ScanTriangulationSuccess, "/api/triangulate/lidar", request, run),
  /** Compares lmax of such a request with the spacing of the points; a failure is in `error`. */
  checkSpacing: (request: Input<typeof ScanTriangulationRequest>, call?: CallOptions) =>
    calls.post(SpacingVerdict, "/api/triangulate/check-spacing", request, CLIENT_TIMEOUT_MS.heavy, call),
});
