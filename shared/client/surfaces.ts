import { type TriangulateRequest, TriangulateSuccess } from "../contract/triangulate.ts";
import type { Calls } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { RunOptions } from "./transport.ts";

/** Meshes of points. */
export const surfacesClient = (calls: Calls) => ({
  /** Meshes inline points and the points of sessions. */
  triangulate: (request: ListRequest<typeof TriangulateRequest>, run?: RunOptions) =>
    calls.runFrame(TriangulateSuccess, "/api/triangulate", request, run),
});
