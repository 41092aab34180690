import { type SessionDemRequest, SessionDemSuccess } from "../contract/cloud-session/dem.ts";
import { type DemRequest, DemSuccess, type ExportRasterRequest, ExportRasterResponse } from "../contract/dem.ts";
import { type SnapGridRequest, SnapGridResponse } from "../contract/lad.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Terrain models and rasters. */
export const terrainClient = (calls: Calls) => ({
  /** Computes a terrain, surface or canopy height model from inline points or the points of a session. */
  dem: (request: ListRequest<typeof DemRequest>, run?: RunOptions) =>
    calls.runFrame(DemSuccess, "/api/dem", request, run),
  /** Computes the model of a session; add_height_column also writes the column height_above_ground. */
  sessionDem: (id: string, request: Input<typeof SessionDemRequest> = {}, run?: RunOptions) =>
    calls.runFrame(SessionDemSuccess, sessionPath(id, "dem"), request, run),
  /** Exports a grid as ESRI ASCII grid or GeoTIFF. */
  exportRaster: (request: ListRequest<typeof ExportRasterRequest>, call?: CallOptions) =>
    calls.postLists(ExportRasterResponse, "/api/dem/export-raster", request, CLIENT_TIMEOUT_MS.export, call),
  /** Raises the columns of a voxel grid to a terrain. A failed computation is reported in `error`. */
  snapGrid: (request: Input<typeof SnapGridRequest>, call?: CallOptions) =>
    calls.post(SnapGridResponse, "/api/lad/snap-grid", request, CLIENT_TIMEOUT_MS.edit, call),
});
