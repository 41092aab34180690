import type { LidarScanRequest } from "../contract/lidar.ts";
import { LidarScanSuccess } from "../contract/lidar-frame.ts";
import { type TrajectoryParseRequest, TrajectoryParseResponse } from "../contract/trajectory.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls, Input } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Synthetic scans and trajectories. */
export const lidarClient = (calls: Calls) => ({
  /** Scans meshes by ray tracing. Buffers: s0.points, s0.colors and s0.scalar0, ... of the first scanner, and so on. */
  lidarScan: (request: ListRequest<typeof LidarScanRequest>, run?: RunOptions) =>
    calls.runFrame(LidarScanSuccess, "/api/lidar/scan", request, run),
  /** Reads a binary trajectory (SBET) on the service's machine as a pose stream. */
  parseTrajectory: (request: Input<typeof TrajectoryParseRequest>, call?: CallOptions) =>
    calls.post(TrajectoryParseResponse, "/api/trajectory/parse", request, CLIENT_TIMEOUT_MS.upload, call),
});
