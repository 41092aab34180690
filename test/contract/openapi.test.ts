import { afterAll, beforeAll, expect, test } from "vitest";
import { makeApp, type TestApp } from "../support/app.ts";

interface Operation {
  readonly requestBody?: { readonly content: Record<string, unknown> };
  readonly responses: Record<
    string,
    { readonly content?: Record<string, { readonly schema: { readonly properties?: object } }> }
  >;
}

let made: TestApp;
let paths: Record<string, Record<string, Operation>>;
beforeAll(async () => {
  made = await makeApp();
  paths = (await made.app.inject({ url: "/openapi.json" })).json().paths;
});
afterAll(() => made.close());

const operations = () =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => ({ path, method, op })),
  );

test("every endpoint is documented, and no other", () => {
  expect(
    operations()
      .map(({ path, method }) => `${method.toUpperCase()} ${path}`)
      .sort(),
  ).toEqual([
    "DELETE /api/cloud/session/{id}",
    "GET /",
    "GET /api/cloud/session/{id}/label_summary",
    "GET /api/device-info",
    "GET /health",
    "GET /octree/{cache_id}/{file}",
    "GET /version",
    "POST /api/cancel/{run_id}",
    "POST /api/cloud/session/create",
    "POST /api/cloud/session/merge",
    "POST /api/cloud/session/{id}/bake",
    "POST /api/cloud/session/{id}/commit_labels",
    "POST /api/cloud/session/{id}/delete_region",
    "POST /api/cloud/session/{id}/dem",
    "POST /api/cloud/session/{id}/denoise",
    "POST /api/cloud/session/{id}/duplicate",
    "POST /api/cloud/session/{id}/extract",
    "POST /api/cloud/session/{id}/extract_by_column",
    "POST /api/cloud/session/{id}/filter",
    "POST /api/cloud/session/{id}/label_region",
    "POST /api/cloud/session/{id}/rebuild_octree",
    "POST /api/cloud/session/{id}/reset_edits",
    "POST /api/cloud/session/{id}/reset_label_edits",
    "POST /api/cloud/session/{id}/segment_ground",
    "POST /api/cloud/session/{id}/split",
    "POST /api/cloud/session/{id}/transform",
    "POST /api/dem",
    "POST /api/dem/export-raster",
    "POST /api/lad/snap-grid",
    "POST /api/pointcloud/denoise",
    "POST /api/pointcloud/export",
    "POST /api/pointcloud/import",
    "POST /api/pointcloud/import_by_path",
    "POST /api/pointcloud/preview",
    "POST /api/segment/ground",
  ]);
});

test("streamed runs document the tail they end with", () => {
  const tail = (path: string) =>
    paths[path]?.post?.responses["200"]?.content?.["application/octet-stream"]?.schema.properties ?? {};
  expect(Object.keys(tail("/api/cloud/session/create"))).toEqual(
    expect.arrayContaining(["session_id", "ground_z", "cache_id"]),
  );
  expect(Object.keys(tail("/api/pointcloud/export"))).toEqual(
    expect.arrayContaining(["success", "point_count", "error"]),
  );
  for (const [action, keys] of [
    ["commit_labels", ["class_counts", "value_range", "cache_id"]],
    ["extract_by_column", ["session_id", "children", "parent"]],
  ] as const)
    expect(Object.keys(tail(`/api/cloud/session/{id}/${action}`))).toEqual(expect.arrayContaining([...keys]));
});

test("a tail with several forms documents each", () => {
  const forms = (action: string) => {
    const ok = paths[`/api/cloud/session/{id}/${action}`]?.post?.responses["200"]?.content;
    const schema = ok?.["application/octet-stream"]?.schema as { anyOf?: { properties: object }[] } | undefined;
    return schema?.anyOf?.map(({ properties }) => Object.keys(properties));
  };
  expect(forms("bake")).toEqual([
    expect.arrayContaining(["baked", "deleted_history_len", "cache_id"]),
    expect.arrayContaining(["baked", "point_count"]),
  ]);
  expect(forms("filter")).toEqual([
    expect.arrayContaining(["rebuilt", "cache_id"]),
    expect.arrayContaining(["rebuilt", "remaining_count", "total_count"]),
  ]);
});

test("the matrix of a transform is documented as numbers", () => {
  expect(JSON.stringify(paths["/api/cloud/session/{id}/transform"]?.post?.requestBody)).toMatch(
    /"matrix":\{[^}]*"items":\{"type":"number"\}/,
  );
});

test("every POST with a JSON body has its fields described", () => {
  const bodies = operations().filter(({ op }) => op.requestBody?.content["application/json"]);
  expect(bodies.length).toBeGreaterThanOrEqual(4);
  for (const { path, op } of bodies) expect(JSON.stringify(op.requestBody), path).toContain('"description"');
});
