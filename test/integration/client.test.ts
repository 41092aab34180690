import { mkdirSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { sendPoints } from "../../backend/http/frame.ts";
import { streamFrameJob, streamJob } from "../../backend/http/stream.ts";
import type { Job } from "../../backend/jobs/job.ts";
import { ApiError, CanceledError, type Client, createClient, type RunProgress } from "../../shared/client/index.ts";
import { Transport } from "../../shared/client/transport.ts";
import { AppError } from "../../shared/errors.ts";
import { baseAppOfTest, type MadeApp, TEST_VERSION } from "../support/app/base-app.ts";
import { FakeNative } from "../support/native/fake-native.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { ID, octreeBlock, sessionTail } from "../support/session/session-answers.ts";

const TOKEN = "0123456789abcdef-token";
let made: MadeApp;
let client: Client;
let baseUrl = "";
let create: (job: Job) => Promise<object>;
let lastBody: unknown;
beforeEach(async () => {
  create = async () => sessionTail;
  made = await baseAppOfTest({
    env: { APP_AUTH_TOKEN: TOKEN },
    routes: [
      (app, { jobs }) => {
        app.post("/api/cloud/session/create", (request, reply) => {
          lastBody = request.body;
          if ((request.body as { source_path: string }).source_path === "missing")
            throw new AppError("not_found", "no such file");
          return streamJob(reply, jobs, (job) => create(job));
        });
        app.post("/frame", (_request, reply) =>
          streamFrameJob(reply, jobs, async () => ({ meta: { success: false, error: "no triangles" }, buffers: {} })),
        );
        app.delete("/api/cloud/session/:id", async ({ params }) => ({
          session_id: (params as { id: string }).id,
          deleted: true,
        }));
        app.post("/api/cloud/session/:id/rebuild_octree", async () => ({
          ...octreeBlock,
          session_id: "s1",
          total_count: 4,
          miss_octree_cache_id: null,
          octree_posed: false,
        }));
        app.post("/api/pointcloud/preview", async () => ({ kind: "ascii" }));
        app.post("/api/pointcloud/import_by_path", async (_request, reply) =>
          sendPoints(reply, {
            point_count: 1,
            miss_count: 0,
            positions: new Float32Array([1, 2, 3]),
            colors: undefined,
            intensity: undefined,
          }),
        );
        app.get("/slow", () => new Promise(() => undefined));
        app.get("/cut", (_request, reply) => {
          reply.hijack();
          reply.raw.write("PHP1");
          setTimeout(() => reply.raw.destroy(), 20);
        });
      },
    ],
  });
  await made.app.listen({ host: "127.0.0.1", port: 0 });
  baseUrl = `http://127.0.0.1:${(made.app.server.address() as AddressInfo).port}`;
  client = createClient({ baseUrl: `${baseUrl}/`, token: TOKEN });
});
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test("plain calls are typed and carry the token", async () => {
  expect(await client.version()).toEqual({ version: TEST_VERSION });
  expect((await client.health()).status).toBe("healthy");
  expect((await client.deviceInfo()).effective_path).toBe("cpu");
  expect(await client.cancel("nobody")).toEqual({ canceled: false, cancelled: false, run_id: "nobody" });
  expect(await client.closeSession("a/b")).toEqual({ session_id: "a/b", deleted: true });
  expect((await client.rebuildOctree("s1")).octree_posed).toBe(false);
  expect([...(await client.importByPath({ file_path: "/f" })).positions]).toEqual([1, 2, 3]);
  const stranger = createClient({ baseUrl });
  expect(await failure(stranger.deviceInfo())).toMatchObject({ name: "ApiError", status: 401, code: "unauthorized" });
});

test("files of an octree, complete and in part", async () => {
  mkdirSync(join(made.octrees, ID));
  writeFileSync(join(made.octrees, ID, "octree.bin"), "0123456789");
  const text = async (...range: [{ start: number; end: number }] | []) =>
    Buffer.from(await client.octreeFile(ID, "octree.bin", ...range)).toString();
  expect([await text(), await text({ start: 2, end: 4 })]).toEqual(["0123456789", "234"]);
  expect(await failure(client.octreeFile(ID, "metadata.json"))).toMatchObject({ status: 404, code: "not_found" });
});

describe("runs", () => {
  test("reports progress, then the result", async () => {
    create = async (job) => {
      job.stage("Reading source file", 0.02, 0.25);
      job.stage("Finalizing", 1, 1);
      return sessionTail;
    };
    const seen: RunProgress[] = [];
    const tail = await client.createSession(
      { source_path: "/cloud.las" },
      { onProgress: (progress) => seen.push(progress) },
    );
    expect(tail).toEqual(sessionTail);
    expect(lastBody).toEqual({ source_path: "/cloud.las" });
    expect(seen.map(({ progress, message }) => [progress, message])).toEqual([
      [null, ""],
      [0.02, "Reading source file"],
      [1, "Finalizing"],
    ]);
    expect(new Set(seen.map(({ run_id }) => run_id)).size).toBe(1);
    expect(seen[0]?.run_id).toMatch(/^[0-9a-f]{32}$/);
  });

  test("the signal cancels the run in the service, then ends the call", async () => {
    const native = new FakeNative<never>();
    create = (job) => job.track(() => native);
    const abort = new AbortController();
    const running = failure(
      client.createSession({ source_path: "/c" }, { signal: abort.signal, onProgress: () => abort.abort() }),
    );
    const error = await running;
    expect(error).toBeInstanceOf(CanceledError);
    expect((error as CanceledError).run_id).toMatch(/^[0-9a-f]{32}$/);
    expect(native.cancelCount).toBe(1);
    await eventually(() => expect(made.runs).toMatchObject([{ outcome: "canceled" }]));
    expect(await failure(client.createSession({ source_path: "/c" }, { signal: abort.signal }))).toBeInstanceOf(
      CanceledError,
    );
  });

  test("a result that was committed before the cancel arrived is returned", async () => {
    let commit: () => void = () => undefined;
    create = () =>
      new Promise((resolve) => {
        commit = () => resolve(sessionTail);
      });
    const abort = new AbortController();
    const onProgress = vi.fn();
    const running = client.createSession({ source_path: "/c" }, { signal: abort.signal, onProgress });
    await eventually(() => expect(onProgress).toHaveBeenCalled());
    commit();
    abort.abort();
    expect(await running).toEqual(sessionTail);
  });

  test("a run canceled by another client", async () => {
    const native = new FakeNative<never>();
    create = (job) => job.track(() => native);
    const running = failure(
      client.createSession({ source_path: "/c" }, { onProgress: ({ run_id }) => void client.cancel(run_id ?? "") }),
    );
    expect(await running).toBeInstanceOf(CanceledError);
  });

  test("a refusal before the stream has its status; failures inside are status 200", async () => {
    expect(await failure(client.createSession({ source_path: "missing" }))).toMatchObject({
      status: 404,
      code: "not_found",
      message: "no such file",
    });
    create = async () => {
      throw new AppError("invalid_file", "row 7 is cut");
    };
    expect(await failure(client.createSession({ source_path: "/c" }))).toMatchObject({
      status: 200,
      code: "invalid_file",
      message: "row 7 is cut",
    });
    create = async () => ({ success: false, error: "no points" }); // form B
    expect(await failure(client.createSession({ source_path: "/c" }))).toMatchObject({
      status: 200,
      message: "no points",
    });
    const transport = new Transport({ baseUrl, token: TOKEN });
    const formC = failure(transport.run({ method: "POST", path: "/frame", timeoutMs: 5000 }));
    expect(await formC).toMatchObject({ name: "ApiError", status: 200, message: "no triangles" });
  });

  test("an answer that violates its contract is an error", async () => {
    create = async () => ({ ...sessionTail, point_count: "three" });
    const error = await failure(client.createSession({ source_path: "/c" }));
    expect(error).toMatchObject({ name: "ApiError", message: expect.stringContaining("point_count") });
    expect(await failure(client.preview({ file_path: "/c" }))).toMatchObject({
      message: expect.stringContaining("delimiter"),
    });
  });

  test("an error of the caller's own callback reaches the caller and cancels the run", async () => {
    create = (job) => job.track(() => new FakeNative<never>());
    const onProgress = () => {
      throw new TypeError("my bug");
    };
    expect(await failure(client.createSession({ source_path: "/c" }, { onProgress }))).toMatchObject({
      message: "my bug",
    });
    await eventually(() => expect(made.runs).toMatchObject([{ outcome: "canceled" }]));
  });
});

describe("broken connections", () => {
  const transport = () => new Transport({ baseUrl, token: TOKEN });
  test("a silent connection times out", async () => {
    const error = await failure(transport().bytes({ method: "GET", path: "/slow", timeoutMs: 50 }));
    expect(error).toMatchObject({
      name: "ApiError",
      status: 0,
      code: "timeout",
      message: expect.stringContaining("/slow"),
    });
  });
  test("what Node.js itself waits is named, with the way out", async () => {
    const late = Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    const impatient = () => Promise.reject(new TypeError("fetch failed", { cause: late })); // as after 300 s
    const error = await failure(createClient({ baseUrl, fetch: impatient }).duplicate("00000001"));
    expect(error).toMatchObject({
      status: 0,
      code: "timeout",
      message: expect.stringMatching(/300 s.*Pass createClient/),
    });
  });
  test("a truncated stream is an error, not a result", async () => {
    const error = await failure(transport().run({ method: "GET", path: "/cut", timeoutMs: 5000 }));
    expect(error).toMatchObject({ status: 0, code: "network" });
  });
  test("no service listens", async () => {
    const error = await failure(createClient({ baseUrl: "http://127.0.0.1:1" }).version());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 0, code: "network" });
  });
});
