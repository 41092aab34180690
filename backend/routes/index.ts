import type { Deps } from "../deps.ts";
import type { RouteFile } from "../http/types.ts";
import { appRoutes } from "./app.ts";
import { c2cRoutes } from "./c2c.ts";
import { c2mRoutes } from "./c2m.ts";
import { cancelRoutes } from "./cancel.ts";
import { alignScansRoutes } from "./cloud-session/align-scans.ts";
import { backfillMissesRoutes } from "./cloud-session/backfill-misses.ts";
import { bakeRoutes } from "./cloud-session/bake.ts";
import { closeRoutes } from "./cloud-session/close.ts";
import { commitLabelsRoutes } from "./cloud-session/commit-labels.ts";
import { createRoutes } from "./cloud-session/create.ts";
import { deleteRegionRoutes } from "./cloud-session/delete-region.ts";
import { sessionDemRoutes } from "./cloud-session/dem.ts";
import { denoiseRoutes } from "./cloud-session/denoise.ts";
import { detectStemsRoutes } from "./cloud-session/detect-stems.ts";
import { duplicateRoutes } from "./cloud-session/duplicate.ts";
import { extractRoutes } from "./cloud-session/extract.ts";
import { extractByColumnRoutes } from "./cloud-session/extract-by-column.ts";
import { filterRoutes } from "./cloud-session/filter.ts";
import { labelRegionRoutes } from "./cloud-session/label-region.ts";
import { labelSummaryRoutes } from "./cloud-session/label-summary.ts";
import { mergeRoutes } from "./cloud-session/merge.ts";
import { rebuildOctreeRoutes } from "./cloud-session/rebuild-octree.ts";
import { resetEditsRoutes } from "./cloud-session/reset-edits.ts";
import { resetLabelEditsRoutes } from "./cloud-session/reset-label-edits.ts";
import { segmentGroundRoutes } from "./cloud-session/segment-ground.ts";
import { segmentTreesRoutes } from "./cloud-session/segment-trees.ts";
import { segmentWoodRoutes } from "./cloud-session/segment-wood.ts";
import { sessionsRoutes } from "./cloud-session/sessions.ts";
import { splitRoutes } from "./cloud-session/split.ts";
import { transformRoutes } from "./cloud-session/transform.ts";
import { treeInventoryRoutes } from "./cloud-session/tree-inventory.ts";
import { treeQsmRoutes } from "./cloud-session/tree-qsm.ts";
import { demRoutes } from "./dem.ts";
import { deviceInfoRoutes } from "./device-info.ts";
import { exportRoutes } from "./export.ts";
import { fitRoutes } from "./fit.ts";
import { healthRoutes } from "./health.ts";
import { ladRoutes } from "./lad.ts";
import { latexRoutes } from "./latex.ts";
import { lidarRoutes } from "./lidar.ts";
import { m2mRoutes } from "./m2m.ts";
import { meshRoutes } from "./mesh.ts";
import { mlRoutes } from "./ml.ts";
import { modelsRoutes } from "./models.ts";
import { octreeRoutes } from "./octree.ts";
import { plantRoutes } from "./plant.ts";
import { pointcloudRoutes } from "./pointcloud.ts";
import { projectRoutes } from "./project.ts";
import { qsmRoutes } from "./qsm.ts";
import { scanRoutes } from "./scan.ts";
import { segmentRoutes } from "./segment.ts";
import { skeletonRoutes } from "./skeleton.ts";
import { trajectoryRoutes } from "./trajectory.ts";
import { triangulateRoutes } from "./triangulate.ts";

/** All route files of the service, in the order of their registration. */
export const ROUTES: readonly RouteFile<Deps>[] = [
  healthRoutes,
  deviceInfoRoutes,
  cancelRoutes,
  octreeRoutes,
  appRoutes,
  pointcloudRoutes,
  scanRoutes,
  sessionsRoutes,
  createRoutes,
  closeRoutes,
  rebuildOctreeRoutes,
  deleteRegionRoutes,
  resetEditsRoutes,
  labelRegionRoutes,
  resetLabelEditsRoutes,
  commitLabelsRoutes,
  labelSummaryRoutes,
  backfillMissesRoutes,
  alignScansRoutes,
  bakeRoutes,
  filterRoutes,
  splitRoutes,
  extractRoutes,
  extractByColumnRoutes,
  duplicateRoutes,
  mergeRoutes,
  transformRoutes,
  treeInventoryRoutes,
  treeQsmRoutes,
  sessionDemRoutes,
  demRoutes,
  triangulateRoutes,
  lidarRoutes,
  trajectoryRoutes,
  c2mRoutes,
  c2cRoutes,
  m2mRoutes,
  skeletonRoutes,
  qsmRoutes,
  fitRoutes,
  latexRoutes,
  exportRoutes,
  modelsRoutes,
  mlRoutes,
  projectRoutes,
  meshRoutes,
  plantRoutes,
  ladRoutes,
  denoiseRoutes,
  segmentRoutes,
  segmentGroundRoutes,
  segmentTreesRoutes,
  segmentWoodRoutes,
  detectStemsRoutes,
];
