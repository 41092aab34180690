import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { LidarScanFrame } from "../../shared/contract/lidar-frame.ts";
import type { Deps } from "../deps.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { lidarScan } from "../services/lidar/scan.ts";

export function lidarRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/lidar/scan",
    {
      schema: {
        operationId: "lidarScan",
        summary: "Scan meshes by ray tracing, as a PHB1 frame with sessions",
        tags: ["lidar"],
        body: LidarScanRequest,
      },
      config: { lists: true, frame: LidarScanFrame },
    },
    ({ body, unknownKeys }, reply) =>
      streamFrameJob(reply, deps.jobs, (job) => lidarScan(body, unknownKeys, deps, job)),
  );
}
