import { makeCalls } from "./calls.ts";
import { classifyClient } from "./classify.ts";
import { cloudClient } from "./cloud.ts";
import { filesClient } from "./files.ts";
import { fitClient } from "./fit.ts";
import { ladClient } from "./lad.ts";
import { lidarClient } from "./lidar.ts";
import { mlClient } from "./ml.ts";
import { octreeClient } from "./octree.ts";
import { plantsClient } from "./plants.ts";
import { projectsClient } from "./projects.ts";
import { qsmClient } from "./qsm.ts";
import { registrationClient } from "./registration.ts";
import { serviceClient } from "./service.ts";
import { skeletonClient } from "./skeleton.ts";
import { surfacesClient } from "./surfaces.ts";
import { terrainClient } from "./terrain.ts";
import type { ClientOptions } from "./transport.ts";
import { treesClient } from "./trees.ts";

export { ApiError, CanceledError } from "./errors.ts";
export { standCsv, stemCurveCsv, type TreeTable, treeCsv } from "./inventory-tables.ts";
export type { FileRange } from "./octree.ts";
export { type QsmModelRecords, qsmCsv } from "./qsm-csv.ts";
export { qsmGlb, qsmObj, qsmPly } from "./qsm-files.ts";
export { type QsmMesh, qsmMesh } from "./qsm-tubes.ts";
export * from "./stand.ts";
export type { CallOptions, ClientOptions, RunOptions, RunProgress } from "./transport.ts";
export { treeQsmCsv } from "./tree-qsm-csv.ts";
export { treeQsmWarnings } from "./tree-qsm-warnings.ts";
export * from "./value-classes.ts";

/**
 * Typed client of the service, for browsers and Node. Every response is checked against its contract.
 * Errors: ApiError (status, code, detail); CanceledError if the signal was aborted or the run was canceled.
 */
export function createClient(options: ClientOptions) {
  const calls = makeCalls(options);
  return {
    ...serviceClient(calls),
    ...filesClient(calls),
    ...cloudClient(calls),
    ...octreeClient(calls),
    ...classifyClient(calls),
    ...terrainClient(calls),
    ...surfacesClient(calls),
    ...registrationClient(calls),
    ...treesClient(calls),
    ...skeletonClient(calls),
    ...qsmClient(calls),
    ...ladClient(calls),
    ...fitClient(calls),
    ...mlClient(calls),
    ...plantsClient(calls),
    ...lidarClient(calls),
    ...projectsClient(calls),
  };
}
export type Client = ReturnType<typeof createClient>;
