import { beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../shared/client/index.ts";
import { documentOf, fieldsOf, type JsonSchema, nameOf, type OpenApi, operationsOf } from "../support/app/openapi.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
let document: OpenApi;
beforeAll(async () => {
  document = await documentOf(made);
});

const post = (path: string) => document.paths[path]?.post;
const component = (name: string): JsonSchema => {
  const found = document.components.schemas[name];
  if (!found) throw new Error(`no component ${name}`);
  return found;
};

test("exactly the existing endpoints are documented", () => {
  expect(
    operationsOf(document)
      .map(({ path, method }) => `${method} ${path}`)
      .sort(),
  ).toEqual([
    "DELETE /api/cloud/session/{id}",
    "DELETE /api/ml/models/{id}",
    "DELETE /api/plant/session/{session_id}",
    "DELETE /app/upload/{upload_id}",
    "GET /",
    "GET /api/cloud/session/{id}/label_summary",
    "GET /api/cloud/sessions",
    "GET /api/device-info",
    "GET /api/latex",
    "GET /api/ml/device",
    "GET /api/ml/models",
    "GET /api/models",
    "GET /api/plant/models",
    "GET /api/plant/session/{session_id}",
    "GET /api/plant/sessions",
    "GET /api/project/scene/{token}",
    "GET /api/qsm/leaf-textures",
    "GET /health",
    "GET /octree/{cache_id}/{file}",
    "GET /version",
    "POST /api/c2c/icp-register",
    "POST /api/c2m/distance",
    "POST /api/c2m/icp-register",
    "POST /api/cancel/{run_id}",
    "POST /api/cloud/session/create",
    "POST /api/cloud/session/merge",
    "POST /api/cloud/session/{id}/align_scans",
    "POST /api/cloud/session/{id}/backfill-misses",
    "POST /api/cloud/session/{id}/bake",
    "POST /api/cloud/session/{id}/commit_labels",
    "POST /api/cloud/session/{id}/delete_region",
    "POST /api/cloud/session/{id}/dem",
    "POST /api/cloud/session/{id}/denoise",
    "POST /api/cloud/session/{id}/detect_stems",
    "POST /api/cloud/session/{id}/duplicate",
    "POST /api/cloud/session/{id}/extract",
    "POST /api/cloud/session/{id}/extract_by_column",
    "POST /api/cloud/session/{id}/filter",
    "POST /api/cloud/session/{id}/label_region",
    "POST /api/cloud/session/{id}/rebuild_octree",
    "POST /api/cloud/session/{id}/reset_edits",
    "POST /api/cloud/session/{id}/reset_label_edits",
    "POST /api/cloud/session/{id}/segment_ground",
    "POST /api/cloud/session/{id}/segment_trees",
    "POST /api/cloud/session/{id}/segment_wood",
    "POST /api/cloud/session/{id}/split",
    "POST /api/cloud/session/{id}/transform",
    "POST /api/cloud/session/{id}/tree_inventory",
    "POST /api/cloud/session/{id}/tree_qsm",
    "POST /api/dem",
    "POST /api/dem/export-raster",
    "POST /api/export",
    "POST /api/fit",
    "POST /api/fit/crown",
    "POST /api/fit/custom",
    "POST /api/fit/prospect",
    "POST /api/lad/compute",
    "POST /api/lad/snap-grid",
    "POST /api/latex",
    "POST /api/lidar/scan",
    "POST /api/m2m/icp-register",
    "POST /api/mesh/import",
    "POST /api/ml/models/import",
    "POST /api/plant/canopy/generate",
    "POST /api/plant/generate",
    "POST /api/plant/generate/stream",
    "POST /api/plant/morph",
    "POST /api/plant/morph/parse",
    "POST /api/plant/session/create",
    "POST /api/plant/session/{session_id}/advance",
    "POST /api/pointcloud/denoise",
    "POST /api/pointcloud/export",
    "POST /api/pointcloud/import",
    "POST /api/pointcloud/import_by_path",
    "POST /api/pointcloud/preview",
    "POST /api/project/open",
    "POST /api/project/save",
    "POST /api/project/scene",
    "POST /api/qsm/adjust-leaf-angles",
    "POST /api/qsm/build",
    "POST /api/qsm/import",
    "POST /api/qsm/leaves",
    "POST /api/qsm/phyllotaxis",
    "POST /api/scan/export-xml",
    "POST /api/segment/ground",
    "POST /api/segment/trees",
    "POST /api/segment/wood",
    "POST /api/skeleton/extract",
    "POST /api/trajectory/parse",
    "POST /api/triangulate",
    "POST /api/triangulate/check-spacing",
    "POST /api/triangulate/lidar",
    "POST /app/upload",
  ]);
});

test("operations have the names of the typed client's methods", () => {
  const names = operationsOf(document).map(({ op }) => op.operationId);
  expect(names.sort()).toEqual(Object.keys(createClient({ baseUrl: "http://127.0.0.1:1" })).sort());
  expect(new Set(names).size).toBe(names.length);
});

test("every field of every request and response has a description", () => {
  const fields = fieldsOf(document);
  expect(fields.length).toBeGreaterThan(800); // through references, lists, unions and maps
  expect(fields.filter(({ described }) => !described).map(({ where }) => where)).toEqual([]);
});

test("an answer that can fail without a status has the error's code beside its reason", () => {
  const canFail = ({ properties = {} }: JsonSchema) =>
    properties.error !== undefined && properties.success !== undefined && properties.success.const !== true;
  const schemas = Object.entries(document.components.schemas).filter(([, schema]) => canFail(schema));
  expect(schemas.length).toBeGreaterThan(20);
  expect(schemas.filter(([, { properties }]) => !properties?.code).map(([name]) => name)).toEqual([]);
});

test("all tags of the operations have a description", () => {
  const used = new Set(operationsOf(document).flatMap(({ op }) => op.tags));
  expect([...used].sort()).toEqual(document.tags.map(({ name }) => name).sort());
  for (const { description } of document.tags) expect(description.length).toBeGreaterThan(20);
});

describe("responses", () => {
  const answers = (path: string, type: string) => post(path)?.responses["200"]?.content?.[type]?.schema;

  test("streamed runs show their tail, as a stream and as plain JSON", () => {
    for (const [path, tail] of [
      ["/api/cloud/session/create", "CreateSessionTail"],
      ["/api/pointcloud/export", "ExportTail"],
      ["/api/scan/export-xml", "ScanExportTail"],
      ["/api/cloud/session/{id}/commit_labels", "CommitLabelsTail"],
      ["/api/cloud/session/{id}/extract_by_column", "ExtractByColumnTail"],
      ["/api/cloud/session/{id}/align_scans", "AlignScansTail"],
      ["/api/cloud/session/{id}/bake", "BakeTail"],
      ["/api/cloud/session/{id}/backfill-misses", "BackfillMissesTail"],
    ] as const) {
      for (const type of ["application/octet-stream", "application/json"]) {
        expect(answers(path, type)?.anyOf?.map(nameOf), path).toEqual([tail, "RunFailure"]);
      }
    }
    expect(Object.keys(component("CreateSessionTail").properties ?? {})).toEqual(
      expect.arrayContaining(["session_id", "ground_z", "cache_id"]),
    );
  });

  test("filter returns plain JSON only", () => {
    expect(Object.keys(post("/api/cloud/session/{id}/filter")?.responses["200"]?.content ?? {})).toEqual([
      "application/json",
    ]);
  });

  test("frames and point streams show their header and arrays", () => {
    expect(nameOf(answers("/api/dem", "application/octet-stream") ?? {})).toBe("DemFrame");
    expect(nameOf(answers("/api/pointcloud/import", "application/octet-stream") ?? {})).toBe("PointStream");
    expect(Object.keys(component("DemBuffers").properties ?? {})).toEqual(
      expect.arrayContaining(["vertices", "indices", "normals", "grid_z", "hag"]),
    );
  });

  test("a response with several forms shows each of them", () => {
    const forms = (name: string) => component(name).anyOf?.map((form) => component(nameOf(form)).properties ?? {});
    expect(forms("BakeTail")?.map(Object.keys)).toEqual([
      expect.arrayContaining(["baked", "deleted_history_len", "cache_id"]),
      expect.arrayContaining(["baked", "point_count"]),
    ]);
    expect(forms("FilterResponse")?.map(Object.keys)).toEqual([
      expect.arrayContaining(["rebuilt", "cache_id"]),
      expect.arrayContaining(["rebuilt", "remaining_count", "total_count"]),
    ]);
  });
});

describe("requests show what is legal, not what their schemas accept", () => {
  const property = (name: string, key: string) => component(name).properties?.[key];
  test("a region is one of three kinds, and required where the service demands it", () => {
    expect(component("Region").oneOf?.map(nameOf)).toEqual(["BoxRegion", "PolygonRegion", "SquaresRegion"]);
    expect(nameOf(property("DeleteRegionRequest", "region") ?? {})).toBe("Region");
    expect(component("DeleteRegionRequest").required).toEqual(["region"]);
    expect(property("LabelStroke", "limit_box")?.anyOf?.map(nameOf)).toEqual(["BoxRegion", ""]);
    expect(component("BoxRegion").required).toEqual(["kind", "min", "max"]);
  });
  test.each([
    ["DenoiseRequest", "method", ["ror", "voxel_count", "sor", "auto"]],
    ["GroundRequest", "method", ["cloth", "smrf", "auto", "las_classification"]],
    ["DemRequest", "surface_type", ["dtm", "dsm", "chm"]],
    ["DemRequest", "method", ["tin", "linear", "nearest", "idw"]],
    ["ExportRasterRequest", "format", ["asc", "tif", "tiff", "geotiff"]],
  ])("%s.%s is an enum", (name, key, values) => {
    const { enum: own, anyOf } = property(name, key) ?? {};
    expect(own ?? anyOf?.find((one) => one.enum)?.enum).toEqual(values);
  });
  test("formats, units, switches, matrices, uploads", () => {
    expect(property("ExportRequest", "format")?.enum).toContain("laz");
    expect(JSON.stringify(property("CreateSessionRequest", "source_units"))).toContain('"enum":["m","km"');
    const compact = post("/api/cloud/session/{id}/bake")?.parameters?.find(({ name }) => name === "compact");
    expect(compact).toMatchObject({ in: "query", schema: { type: "boolean" } });
    expect(property("TransformRequest", "matrix")?.items).toEqual({ type: "number" });
    const upload = post("/api/pointcloud/import")?.requestBody?.content["multipart/form-data"]?.schema;
    expect(nameOf(upload ?? {})).toBe("ImportUpload");
    expect(property("ImportUpload", "file")).toMatchObject({ type: "string", format: "binary" });
  });
});
