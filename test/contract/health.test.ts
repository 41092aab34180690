import { expect, test } from "vitest";
import { CreateSessionRequest } from "../../shared/contract/cloud-session/create.ts";
import { HealthResponse } from "../../shared/contract/health.ts";
import { ExportRequest, ExportTail } from "../../shared/contract/pointcloud.ts";
import { GIB } from "../../shared/limits.ts";
import { baseAppOfTest, TEST_VERSION } from "../support/app/base-app.ts";

test("/ and /version", async () => {
  const made = await baseAppOfTest();
  const get = async (url: string) => (await made.app.inject({ url })).json() as unknown;
  expect(await get("/")).toEqual({ message: "API is running", version: TEST_VERSION });
  expect(await get("/version")).toEqual({ version: TEST_VERSION });
});

test("/health reports memory and admitted operations", async () => {
  const made = await baseAppOfTest({ env: { APP_MEMORY_BUDGET_BYTES: String(3 * GIB) } });
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const run = made.jobs.run((job) => made.deps.admission.run(job, "tree inventory", 5, () => gate));
  await new Promise((resolve) => setImmediate(resolve));
  const answer = await made.app.inject({ url: "/health" });
  const health = HealthResponse.strict().parse(answer.json());
  expect(health).toMatchObject({
    status: "healthy",
    version: TEST_VERSION,
    admitted: 1,
    admitted_operations: [{ label: "tree inventory", bytes: 5 }],
    memory: { budget_bytes: 3 * GIB, budget_source: "env", admission_budget_bytes: 3 * GIB, budget_fraction: 0.5 },
  });
  expect(health.memory.rss_bytes).toBeGreaterThan(1e7);
  expect([health.waiting, health.waiting_runs]).toEqual([0, []]);
  const label = "POST /large";
  const second = made.jobs.run((job) => made.deps.admission.run(job, "merge", 1e15, async () => undefined), { label });
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = HealthResponse.strict().parse((await made.app.inject({ url: "/health" })).json());
  expect(waiting).toMatchObject({ admitted: 1, waiting: 1, waiting_runs: [{ label, waits_for: "memory" }] });
  expect(made.jobs.cancel(waiting.waiting_runs[0]?.run_id ?? "")).toBe(true);
  await expect(second).rejects.toMatchObject({ code: "canceled" });
  expect((await made.app.inject({ url: "/health" })).json()).toMatchObject({ waiting: 0, waiting_runs: [] });
  release();
  await run;
  expect((await made.app.inject({ url: "/health" })).json()).toMatchObject({ admitted: 0, admitted_operations: [] });
});

test("an unknown path is a 404, a known path with another method a 405", async () => {
  const made = await baseAppOfTest();
  const answer = async (method: "GET" | "POST" | "DELETE", url: string) => {
    const { statusCode, headers, json } = await made.app.inject({ method, url });
    return [statusCode, headers.allow, (json() as { detail: string }).detail];
  };
  expect(await answer("GET", "/nowhere")).toEqual([404, undefined, "Not Found"]);
  expect(await answer("POST", "/health")).toEqual([405, "GET, HEAD", "Method Not Allowed"]);
  expect(await answer("GET", "/api/cancel/abc?x=1")).toEqual([405, "POST", "Method Not Allowed"]);
  expect(await answer("DELETE", "/api/cancel/abc/def")).toEqual([404, undefined, "Not Found"]);
});

test("/openapi.json describes every route and /docs is served; both are loaded on demand", async () => {
  const made = await baseAppOfTest();
  const document = (await made.app.inject({ url: "/openapi.json" })).json() as {
    openapi: string;
    paths: Record<string, object>;
    components: { schemas: Record<string, object> };
  };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths).sort()).toEqual([
    "/",
    "/api/cancel/{run_id}",
    "/api/device-info",
    "/health",
    "/octree/{cache_id}/{file}",
    "/version",
  ]);
  expect(JSON.stringify(document.components.schemas.HealthResponse)).toContain("available without swapping");
  const page = await made.app.inject({ url: "/docs" });
  expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.body).toContain("swagger-ui");
  expect((await made.app.inject({ url: "/docs/static/swagger-ui.css" })).statusCode).toBe(200);
});

test("request schemas with transforms and inline points appear in the document with their defaults", async () => {
  const named = (operationId: string) => ({ operationId, summary: operationId, tags: ["files"] });
  const made = await baseAppOfTest({
    routes: [
      (app) => {
        app.post("/create", { schema: { ...named("create"), body: CreateSessionRequest } }, async () => ({}));
        app.post(
          "/export",
          { schema: { ...named("export"), body: ExportRequest, response: { 200: ExportTail } } },
          async () => ({}) as never,
        );
      },
    ],
  });
  const { schemas } = (await made.app.inject({ url: "/openapi.json" })).json().components as {
    schemas: Record<string, unknown>;
  };
  const text = (name: string) => JSON.stringify(schemas[name]);
  expect(text("CreateSessionRequest")).toContain("default 1001");
  expect(text("CreateSessionRequest")).toMatch(/"required":\["source_path"\]/);
  expect(text("ExportRequest")).toMatch(/"default":"laz"/);
  expect(text("ExportRequest")).toMatch(/"minItems":3,"maxItems":3/);
});
