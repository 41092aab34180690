import { type SessionDemRequest, SessionDemSuccess } from "../contract/cloud-session/dem.ts";
import { type DemRequest, DemSuccess, type ExportRasterRequest, ExportRasterResponse } from "../contract/dem.ts";
import { type SnapGridRequest, SnapGridResponse } from "../contract/lad.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, type Input, sessionPath } from "./calls.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Terrain rasters. */
export const terrainClient = (calls: Calls) => ({
  /** Terrain, surface or canopy height of a flat cloud. */
  dem: (request: Input<typeof DemRequest>, run?: RunOptions) => calls.runFrame(DemSuccess, "/api/dem", request, run),
  /** The same of a session; with add_height_column it gets the column height_above_ground. */
  sessionDem: (id: string, request: Input<typeof SessionDemRequest> = {}, run?: RunOptions) =>
    calls.runFrame(SessionDemSuccess, sessionPath(id, "dem"), request, run),
  /** A grid as ESRI ASCII grid or GeoTIFF. */
  exportRaster: (request: Input<typeof ExportRasterRequest>, call?: CallOptions) =>
    calls.post(ExportRasterResponse, "/api/dem/export-raster", request, CLIENT_TIMEOUT_MS.export, call),
  /** Lifts the columns of a voxel grid to a terrain; a request that cannot be met says so in `error`. */
  snapGrid: (request: Input<typeof SnapGridRequest>, call?: CallOptions) =>
    calls.post(SnapGridResponse, "/api/lad/snap-grid", request, CLIENT_TIMEOUT_MS.edit, call),
});
