import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { documentOf, type OpenApi, operationsOf } from "../support/app/openapi.ts";
import { modelJson, writePackage } from "../support/ml/packages.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { lineRows } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** A folder of bundled models with one of this id. */
const bundled = folderOfFile("bundled-models-");
beforeAll(() => void writePackage(join(bundled, "wood-leaf"), modelJson({ id: "wood-leaf" })));
const made = sessionTest({ config: { bundledModelsDir: bundled } });
const shared = made.shared(lineRows([1, 2]));
let document: OpenApi;
let plant: string;
beforeAll(async () => {
  document = await documentOf(made);
  const started = await made.app.inject({ method: "POST", url: "/api/plant/session/create", payload: {} });
  plant = (started.json() as { session_id: string }).session_id;
});

/** A request that the documentation says is refused. `S` in a path is an open session, PLANT one of a plant. */
interface Refused {
  readonly operation: string;
  readonly status: number;
  readonly method?: "GET" | "DELETE";
  readonly url: string;
  readonly payload?: object;
}
const GONE = "00000000";
const UNKNOWN_SOURCE = { source: { session_id: GONE } };
const MESH = { mesh_vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0], mesh_indices: [0, 1, 2] };
const VOXEL = { grid: { center: [0, 0, 0], size: [1, 1, 1] }, gtheta_override: true, gtheta: 0.5 };
const MESH_PAIR = {
  target_vertices: MESH.mesh_vertices,
  target_indices: MESH.mesh_indices,
  source_vertices: MESH.mesh_vertices,
  source_indices: [0, 1, 3],
};
const CURVE = {
  model_type: "user",
  equation: "k*q",
  parameters: [{ name: "k", symbol: "k", default: 1 }],
  inputs: [{ name: "x", symbol: "x" }],
  outputs: [{ name: "y", symbol: "y" }],
  column_mappings: { input_x: "x", output_y: "y" },
  data: { x: [1, 2], y: [2, 4] },
};
const BOX = { kind: "box", min: [0, 0, 0], max: [1, 1, 1] };
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
/** Actions of a session with a body that is fine, and whose 404 is that of the session. */
const ACTIONS: readonly (readonly [operation: string, action: string, body: object])[] = [
  ["alignScans", "align_scans", {}],
  ["backfillMisses", "backfill-misses", { origin: [0, 0, 0] }],
  ["bake", "bake", {}],
  ["commitLabels", "commit_labels", {}],
  ["deleteRegion", "delete_region", { region: BOX }],
  ["sessionDem", "dem", {}],
  ["denoiseSession", "denoise", {}],
  ["detectStems", "detect_stems", {}],
  ["duplicate", "duplicate", {}],
  ["extract", "extract", { region: BOX }],
  ["extractByColumn", "extract_by_column", { slug: "class" }],
  ["filter", "filter", { region: BOX }],
  ["labelRegion", "label_region", { strokes: [] }],
  ["rebuildOctree", "rebuild_octree", {}],
  ["resetEdits", "reset_edits", {}],
  ["resetLabelEdits", "reset_label_edits", {}],
  ["segmentGroundSession", "segment_ground", {}],
  ["segmentTreesSession", "segment_trees", {}],
  ["segmentWoodSession", "segment_wood", {}],
  ["split", "split", { region: BOX }],
  ["transform", "transform", { matrix: IDENTITY }],
  ["treeInventory", "tree_inventory", {}],
  ["treeQsm", "tree_qsm", {}],
];
const of = (operation: string, status: number, url: string, payload?: object): Refused => ({
  operation,
  status,
  url,
  ...(payload ? { payload } : {}),
});
const wrong = (operation: string, action: string, payload: object) =>
  of(operation, 400, `/api/cloud/session/S/${action}`, payload);
const REFUSED: readonly Refused[] = [
  { ...of("latestLatex", 404, "/api/latex"), method: "GET" },
  { ...of("octreeFile", 404, `/octree/${"0".repeat(40)}/secrets.bin`), method: "GET" },
  { ...of("labelSummary", 404, `/api/cloud/session/${GONE}/label_summary`), method: "GET" },
  ...ACTIONS.map(([operation, action, body]) => of(operation, 404, `/api/cloud/session/${GONE}/${action}`, body)),
  of("preview", 404, "/api/pointcloud/preview", { file_path: "/data/missing.las" }),
  of("importByPath", 404, "/api/pointcloud/import_by_path", { file_path: "/data/missing.las" }),
  of("importByPath", 400, "/api/pointcloud/import_by_path", { file_path: "FOLDER/scan.docx" }),
  of("createSession", 404, "/api/cloud/session/create", { source_path: "/data/missing.las" }),
  of("createSession", 400, "/api/cloud/session/create", { source_path: "FOLDER/scan.txt", source_units: "inch" }),
  of("exportCloud", 404, "/api/pointcloud/export", UNKNOWN_SOURCE),
  of("exportCloud", 400, "/api/pointcloud/export", { format: "docx" }),
  of("exportScans", 400, "/api/scan/export-xml", { scans: [], dest_dir: "out" }),
  of("denoise", 404, "/api/pointcloud/denoise", UNKNOWN_SOURCE),
  of("denoise", 400, "/api/pointcloud/denoise", { method: "magic" }),
  of("segmentGround", 404, "/api/segment/ground", UNKNOWN_SOURCE),
  of("segmentGround", 400, "/api/segment/ground", { method: "magic" }),
  of("segmentTrees", 404, "/api/segment/trees", UNKNOWN_SOURCE),
  of("segmentTrees", 400, "/api/segment/trees", { method: "magic" }),
  of("extractSkeleton", 404, "/api/skeleton/extract", UNKNOWN_SOURCE),
  of("extractSkeleton", 400, "/api/skeleton/extract", {}),
  of("segmentWood", 404, "/api/segment/wood", UNKNOWN_SOURCE),
  of("segmentWood", 400, "/api/segment/wood", { method: "magic" }),
  of("importMlModel", 400, "/api/ml/models/import", { path: "/data/missing" }),
  { ...of("deleteMlModel", 404, "/api/ml/models/missing"), method: "DELETE" },
  { ...of("deleteMlModel", 409, "/api/ml/models/wood-leaf"), method: "DELETE" },
  of("dem", 404, "/api/dem", UNKNOWN_SOURCE),
  of("dem", 400, "/api/dem", {}),
  of("meshDistance", 404, "/api/c2m/distance", { ...UNKNOWN_SOURCE, ...MESH }),
  of("meshDistance", 400, "/api/c2m/distance", { ...MESH, mesh_indices: [0, 1, 3] }),
  of("ladCompute", 404, "/api/lad/compute", { ...VOXEL, scans: [{ session_id: GONE, origin: [0, 0, 0] }] }),
  of("ladCompute", 400, "/api/lad/compute", { ...VOXEL, scans: [{ origin: [0, 0, 0] }] }),
  of("triangulate", 404, "/api/triangulate", { ...UNKNOWN_SOURCE, method: "delaunay" }),
  of("triangulate", 400, "/api/triangulate", { source: {}, method: "delaunay" }),
  of("triangulateScans", 404, "/api/triangulate/lidar", { scans: [{ origin: [0, 0, 0], session_id: GONE }] }),
  of("triangulateScans", 400, "/api/triangulate/lidar", { scans: [{ origin: [0, 0, 0] }] }),
  of("checkSpacing", 404, "/api/triangulate/check-spacing", { scans: [{ origin: [0, 0, 0], session_id: GONE }] }),
  of("checkSpacing", 400, "/api/triangulate/check-spacing", { scans: [{ origin: [0, 0, 0] }] }),
  of("cloudRegister", 404, "/api/c2c/icp-register", { target_source: { session_id: GONE } }),
  of("cloudRegister", 400, "/api/c2c/icp-register", { target_points: [1, 2] }),
  of("cloudRegister", 400, "/api/c2c/icp-register", { initial: "auto", init_transform: [1] }),
  of("meshRegister", 404, "/api/c2m/icp-register", { ...UNKNOWN_SOURCE, ...MESH }),
  of("meshRegister", 400, "/api/c2m/icp-register", { ...MESH, mesh_indices: [0, 1, 3] }),
  of("meshPairRegister", 400, "/api/m2m/icp-register", MESH_PAIR),
  of("importMesh", 404, "/api/mesh/import", { path: "/data/missing.las" }),
  of("importMesh", 400, "/api/mesh/import", { path: "FOLDER/scan.txt" }),
  of("parseTrajectory", 404, "/api/trajectory/parse", { path: "/data/missing.las" }),
  of("parseTrajectory", 400, "/api/trajectory/parse", { path: "FOLDER/scan.txt", format: "sbet" }),
  of("generatePlant", 400, "/api/plant/generate", { instances: true }),
  of("generateCanopy", 400, "/api/plant/canopy/generate", { instances: true }),
  { ...of("plantSession", 404, `/api/plant/session/${GONE}`), method: "GET" },
  { ...of("closePlantSession", 404, `/api/plant/session/${GONE}`), method: "DELETE" },
  of("advancePlant", 404, `/api/plant/session/${GONE}/advance`, {}),
  of("advancePlant", 400, "/api/plant/session/PLANT/advance", { dt: -1 }),
  of("buildQsm", 404, "/api/qsm/build", UNKNOWN_SOURCE),
  of("importQsm", 404, "/api/qsm/import", { path: "/data/missing.las" }),
  of("importQsm", 400, "/api/qsm/import", { path: "FOLDER/scan.txt" }),
  of("fitCrown", 404, "/api/fit/crown", { ...UNKNOWN_SOURCE, shape: "cone" }),
  of("fitCrown", 400, "/api/fit/crown", { ...UNKNOWN_SOURCE, shape: "sphere" }),
  of("exportResults", 400, "/api/export", {
    model_name: "wide",
    parameters: {},
    input_data: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`c${i}`, []])),
  }),
  of("fitProspect", 400, "/api/fit/prospect", { wavelengths: [500], reflectance: [45] }),
  of("fitCustom", 400, "/api/fit/custom", CURVE),
  of("exportRaster", 400, "/api/dem/export-raster", {
    format: "png",
    grid_z: [1],
    nx: 1,
    ny: 1,
    cell_size: 1,
    origin: [0, 0],
  }),
  { ...of("projectScene", 404, `/api/project/scene/${GONE}`), method: "GET" },
  of("saveProject", 404, "/api/project/save", { path: "FOLDER/plot.proj", scene_token: GONE }),
  of("saveProject", 400, "/api/project/save", { path: "/missing/plot.proj", scene_token: GONE }),
  of("openProject", 404, "/api/project/open", { path: "/data/missing.proj" }),
  of("openProject", 400, "/api/project/open", { path: "plot.proj" }),
  of("merge", 400, "/api/cloud/session/merge", { session_ids: ["a"] }),
  of("merge", 404, "/api/cloud/session/merge", { session_ids: [GONE, GONE, "11111111"] }),
  wrong("backfillMisses", "backfill-misses", { origin: [0, 0] }),
  wrong("commitLabels", "commit_labels", { slug: "trees" }),
  wrong("deleteRegion", "delete_region", {}),
  wrong("denoiseSession", "denoise", { method: "magic" }),
  wrong("detectStems", "detect_stems", { band_min_m: 2, band_max_m: 1 }),
  wrong("extract", "extract", {}),
  wrong("extractByColumn", "extract_by_column", { slug: "tree_id" }),
  wrong("filter", "filter", {}),
  wrong("labelRegion", "label_region", { strokes: [] }),
  wrong("segmentGroundSession", "segment_ground", { method: "magic" }),
  wrong("segmentTreesSession", "segment_trees", { method: "magic" }),
  wrong("segmentWoodSession", "segment_wood", { method: "magic" }),
  wrong("split", "split", {}),
  wrong("transform", "transform", { matrix: [1, 0, 0] }),
];
/** What only the state of the machine or another request brings about, and what body.test.ts and guard.test.ts show. */
const ELSEWHERE = new Set([401, 403, 408, 409, 413, 415, 422, 499, 500, 507]);

test.each(REFUSED.map((refused) => [`${refused.operation} ${refused.status}`, refused] as const))(
  "%s is answered as documented",
  async (_name, { operation, status, method = "POST", url, payload = {} }) => {
    for (const name of ["scan.docx", "scan.txt"]) made.file(name, "x y z\n0 0 0");
    const text = JSON.stringify(payload).replaceAll("FOLDER", made.folder);
    const answer = await made.app.inject({
      method,
      url: url.replace("/S/", `/${shared.session_id}/`).replace("PLANT", plant),
      ...(method === "POST" ? { payload: JSON.parse(text) as object } : {}),
    });
    const { op } = operationsOf(document).find(({ op: { operationId } }) => operationId === operation) ?? {};
    const examples = Object.values(op?.responses[status]?.content?.["application/json"]?.examples ?? {});
    // Names of columns differ from cloud to cloud.
    const told = JSON.parse(answer.body.replace(/Available: \[[^\]]*\]/, "Available: []")) as object;
    expect([answer.statusCode, told]).toEqual([status, expect.anything()]);
    expect(examples.map(({ value }) => value)).toContainEqual(told);
  },
);

test("every documented 400 and 404 was sent, except for broken JSON and forms", () => {
  const sent = new Set(REFUSED.map(({ operation, status }) => `${operation} ${status}`));
  const unsent = operationsOf(document).flatMap(({ op: { operationId, responses, requestBody } }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400 && !ELSEWHERE.has(Number(status)) && status !== "416")
      .filter(([status, { content }]) => {
        const examples = Object.keys(content?.["application/json"]?.examples ?? {});
        return !(status === "400" && (examples.length === 1 || requestBody?.content["multipart/form-data"]));
      })
      .map(([status]) => `${operationId} ${status}`)
      .filter((name) => !sent.has(name)),
  );
  expect(unsent).toEqual([]);
});

test("a body that is not JSON and a body of another type are answered as documented by every operation with a body", async () => {
  const send = async (type: string, payload: string) => {
    const headers = { "content-type": type };
    const answer = await made.app.inject({ method: "POST", url: "/api/dem", headers, payload });
    return [answer.statusCode, answer.json()] as const;
  };
  const { op } = operationsOf(document).find(({ op: { operationId } }) => operationId === "dem") ?? {};
  for (const [status, body] of [await send("application/json", "{"), await send("text/plain", "{}")]) {
    const examples = Object.values(op?.responses[status]?.content?.["application/json"]?.examples ?? {});
    expect(examples.map(({ value }) => value)).toContainEqual(body);
  }
});

test.each(["/docs/nonsense", "/docs/x/y", "/nonsense"])("%s: the service's own 404", async (url) => {
  const answer = await made.app.inject({ method: "GET", url });
  expect([answer.statusCode, answer.json()]).toEqual([404, { detail: "Not Found", code: "not_found" }]);
});
