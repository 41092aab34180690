import type { Deps } from "../deps.ts";
import type { RouteFile } from "../http/types.ts";
import { cancelRoutes } from "./cancel.ts";
import { closeRoutes } from "./cloud-session/close.ts";
import { createRoutes } from "./cloud-session/create.ts";
import { rebuildOctreeRoutes } from "./cloud-session/rebuild-octree.ts";
import { deviceInfoRoutes } from "./device-info.ts";
import { healthRoutes } from "./health.ts";
import { octreeRoutes } from "./octree.ts";
import { pointcloudRoutes } from "./pointcloud.ts";

/** Every route file of the service, registered once and in this order. */
export const ROUTES: readonly RouteFile<Deps>[] = [
  healthRoutes,
  deviceInfoRoutes,
  cancelRoutes,
  octreeRoutes,
  pointcloudRoutes,
  createRoutes,
  closeRoutes,
  rebuildOctreeRoutes,
];
