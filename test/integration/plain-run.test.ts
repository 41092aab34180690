import { afterEach, describe, expect, test, vi } from "vitest";
import { streamFrameJob, streamJob } from "../../backend/http/stream.ts";
import type { RouteFile } from "../../backend/http/types.ts";
import type { Job } from "../../backend/jobs/job.ts";
import { AppError } from "../../shared/errors.ts";
import { baseAppOfTest, type MadeApp } from "../support/app/base-app.ts";
import { listen } from "../support/app/raw-http.ts";
import { FakeNative } from "../support/native/fake-native.ts";
import { stopwatch } from "../support/run/stopwatch.ts";

/** An app with POST /run whose failures have `children` beside `error`, and POST /frame. */
async function appWith(body: (job: Job) => Promise<object>): Promise<MadeApp> {
  const routes: RouteFile = (app, { jobs }) => {
    app.post("/run", (_request, reply) => streamJob(reply, jobs, body, { failedTail: { children: [] } }));
    app.post("/frame", (_request, reply) => streamFrameJob(reply, jobs, async () => ({ meta: {}, buffers: {} })));
  };
  return baseAppOfTest({ routes: [routes] });
}
afterEach(() => void vi.useRealTimers());
const ask = ({ app }: MadeApp, accept = "application/json", url = "/run") =>
  app.inject({ method: "POST", url, headers: { accept } });

/** Starts a run over `native` under fake time and lets `seconds` of silence pass. */
async function slow(seconds: number) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const native = new FakeNative<object>();
  const app = await appWith((job) => job.track(() => native));
  const answer = ask(app);
  await vi.waitFor(() => expect(app.jobs.size).toBe(1));
  for (let i = 0; i < seconds; i += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { app, native, answer };
}

describe("a run asked for as plain JSON", () => {
  test("is its result, with the id of the run in a header and no marker", async () => {
    const app = await appWith(async (job) => {
      job.stage("Reading points", 0, 1);
      return { point_count: 3, labels: Float32Array.of(1, Number.NaN) };
    });
    const { statusCode, headers, body } = await ask(app);
    expect([statusCode, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(headers["x-run-id"]).toMatch(/^[0-9a-f]{32}$/);
    expect(body).toBe('{"point_count":3,"labels":[1,null]}');
  });

  test("is a stream for every other wish", async () => {
    const app = await appWith(async () => ({ ok: 1 }));
    for (const accept of ["*/*", "application/json, */*", "text/html"]) {
      const { headers, rawPayload } = await ask(app, accept);
      expect([headers["content-type"], rawPayload.subarray(0, 4).toString()]).toEqual([
        "application/octet-stream",
        "PHP1",
      ]);
    }
  });

  test("frames stay frames: they are no JSON", async () => {
    const app = await appWith(async () => ({}));
    const { headers, rawPayload } = await ask(app, "application/json", "/frame");
    expect(headers["content-type"]).toBe("application/octet-stream");
    expect(rawPayload.includes("PHB1")).toBe(true);
  });

  test("a failure within five seconds keeps its status", async () => {
    const app = await appWith(async () => {
      throw new AppError("no_space", "the disk is full");
    });
    const { statusCode, body } = await ask(app);
    expect([statusCode, JSON.parse(body)]).toEqual([507, { detail: "the disk is full", code: "no_space" }]);
  });

  test("four spaces per five seconds of silence, then the result", async () => {
    const { native, answer } = await slow(11);
    native.finish({ ok: 1 });
    const { statusCode, body, headers } = await answer;
    expect([statusCode, body]).toEqual([200, '        {"ok":1}']);
    expect(headers["x-run-id"]).toMatch(/^[0-9a-f]{32}$/);
  });

  test("a failure behind the first space is in the JSON", async () => {
    const { native, answer } = await slow(6);
    native.fail("no_space", "the disk is full");
    const { statusCode, body } = await answer;
    expect([statusCode, JSON.parse(body)]).toEqual([
      200,
      { success: false, error: "the disk is full", code: "no_space", children: [] },
    ]);
  });

  test("a cancel behind the first space says so in both spellings", async () => {
    const { app, answer } = await slow(6);
    app.jobs.cancelAll();
    const { statusCode, body } = await answer;
    expect([statusCode, JSON.parse(body)]).toEqual([
      200,
      { success: false, error: "canceled", code: "canceled", canceled: true, cancelled: true, children: [] },
    ]);
  });
});

describe("over a socket", () => {
  test("a client that hangs up before the first byte cancels the run", async () => {
    const native = new FakeNative<never>();
    const app = await appWith((job) => job.track(() => native));
    const port = await listen(app);
    const abort = new AbortController();
    const headers = { accept: "application/json" };
    const asked = fetch(`http://127.0.0.1:${port}/run`, { method: "POST", headers, signal: abort.signal });
    await vi.waitFor(() => expect(app.jobs.size).toBe(1), { timeout: 5000 });
    const stop = stopwatch();
    abort.abort();
    await expect(asked).rejects.toThrow();
    await vi.waitFor(() => expect(app.jobs.size).toBe(0), { timeout: 5000, interval: 5 });
    expect(stop().own_ms).toBeLessThan(1000);
    expect(native.cancelCount).toBe(1);
    expect(app.runs).toMatchObject([{ outcome: "canceled" }]);
  });
});
