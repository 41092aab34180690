import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type FrameResult, sendFrame, sendPoints } from "../../backend/http/frame.ts";
import { streamFrameJob, streamJob } from "../../backend/http/stream.ts";
import type { RouteFile } from "../../backend/http/types.ts";
import type { Job } from "../../backend/jobs/job.ts";
import { AppError } from "../../shared/errors.ts";
import { MIB, SEND_BLOCK_BYTES } from "../../shared/limits.ts";
import { decodePoints } from "../../shared/wire/phx1.ts";
import { baseAppOfTest, type MadeApp } from "../support/app/base-app.ts";
import { readRun } from "../support/app/run-body.ts";
import { CountingColumn } from "../support/native/counting-column.ts";
import { FakeNative } from "../support/native/fake-native.ts";
import { eventually, stopwatch, within } from "../support/run/stopwatch.ts";

/** An app with POST /run (JSON tail), POST /frame (PHB1 tail) and whatever `routes` add. */
async function appWith(body: (job: Job) => Promise<object>, ...routes: RouteFile[]): Promise<MadeApp> {
  const run: RouteFile = (app, { jobs }) => {
    app.post("/run", (_request, reply) => streamJob(reply, jobs, body));
    app.post("/frame", (_request, reply) => streamFrameJob(reply, jobs, body as (job: Job) => Promise<FrameResult>));
  };
  return baseAppOfTest({ routes: [run, ...routes] });
}
afterEach(() => void vi.useRealTimers());
const post = async ({ app }: MadeApp, url = "/run") => readRun((await app.inject({ method: "POST", url })).rawPayload);

describe("a run's stream", () => {
  test("run_id first, then progress in order, then the tail", async () => {
    const made = await appWith(async (job) => {
      job.stage("Reading points", 0.1, 0.5);
      job.stage("Building octree", 0.5, 1);
      return { point_count: 3, spacing: Number.NaN };
    });
    const { markers, outcome } = await post(made);
    expect(markers[0]).toEqual({ progress: null, message: "", run_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(markers.slice(1)).toEqual([
      { progress: 0.1, message: "Reading points" },
      { progress: 0.5, message: "Building octree" },
    ]);
    expect(outcome).toEqual({ kind: "json", value: { point_count: 3, spacing: null } });
    expect(made.jobs.size).toBe(0);
    expect(made.runs).toMatchObject([{ label: "POST /run", outcome: "done" }]);
  });

  test("a failure is an error marker and a JSON tail with the code", async () => {
    const made = await appWith(async () => {
      throw new AppError("no_space", "the disk is full");
    });
    const { rawPayload, statusCode } = await made.app.inject({ method: "POST", url: "/run" });
    expect(statusCode).toBe(200);
    expect(readRun(rawPayload)).toMatchObject({
      markers: [{ run_id: expect.any(String) }, { progress: null, message: "", error: "the disk is full" }],
      outcome: { tail: { success: false, error: "the disk is full", code: "no_space" } },
    });
  });

  test("on frame routes there is only the error marker, and an empty error gets a text", async () => {
    const made = await appWith(async () => {
      throw new RangeError();
    });
    const { rawPayload } = await made.app.inject({ method: "POST", url: "/frame" });
    expect(readRun(rawPayload).outcome).toEqual({
      kind: "failed",
      error: "RangeError",
      code: undefined,
      tail: undefined,
    });
    expect(rawPayload.includes("PHB1")).toBe(false);
  });

  test("a frame tail is read from columns that the run has already released", async () => {
    const column = new CountingColumn(5_000_000);
    const made = await appWith(async (job) => {
      job.adopt(column);
      return { meta: { success: true }, buffers: { indices: { dtype: "u32", length: column.length, data: column } } };
    });
    const { outcome } = await post(made, "/frame");
    const indices = outcome.kind === "frame" ? outcome.frame.buffers.get("indices") : undefined;
    expect(indices?.length).toBe(5_000_000);
    expect(indices?.every((value, i) => value === i)).toBe(true);
    expect([column.owners, column.reads]).toEqual([0, Math.ceil((4 * column.length) / SEND_BLOCK_BYTES)]);
  });

  test("a large list has the same text as from JSON.stringify", async () => {
    const value = {
      labels: Float32Array.from({ length: 30_001 }, (_, i) => i / 3),
      list: Array.from({ length: 25_000 }, (_, i) => i),
    };
    const made = await appWith(async () => value);
    const { outcome } = await post(made);
    expect(outcome).toEqual({ kind: "json", value: { labels: [...value.labels], list: value.list } });
  });

  test("cancel reaches the native op at once; the stream ends with the canceled marker and no tail", async () => {
    const native = new FakeNative<never>();
    const made = await appWith(async (job) => {
      job.stage("Meshing", 0, 1);
      return job.track(() => native);
    });
    const running = made.app.inject({ method: "POST", url: "/run" });
    await eventually(() => expect(made.jobs.size).toBe(1));
    native.now = { phase: "x", done: 1, total: 2 };
    await new Promise((resolve) => setTimeout(resolve, 150));
    const stop = stopwatch();
    made.jobs.cancelAll();
    const { rawPayload } = await running;
    expect(stop().own_ms).toBeLessThan(100);
    const { markers, outcome } = readRun(rawPayload);
    expect(markers.slice(1)).toEqual([
      { progress: 0, message: "Meshing" },
      { progress: 0.5, message: "Meshing" },
      { progress: null, message: "Canceled", canceled: true },
    ]);
    expect(outcome).toEqual({ kind: "canceled" });
    expect(made.runs).toMatchObject([{ outcome: "canceled" }]);
  });

  test("after 5 s without data four spaces are sent, repeatedly; a finished result is not delayed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const native = new FakeNative<object>();
    const made = await appWith((job) => job.track(() => native));
    const running = made.app.inject({ method: "POST", url: "/run" });
    await eventually(() => expect(made.jobs.size).toBe(1));
    await vi.advanceTimersByTimeAsync(4_900);
    for (let i = 0; i < 40; i += 1) {
      await vi.advanceTimersByTimeAsync(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    native.finish({ ok: 1 });
    const text = (await running).body;
    const markerEnd = text.lastIndexOf("}", text.indexOf('{"ok"') - 1) + 1;
    const between = text.slice(markerEnd, text.indexOf('{"ok"'));
    expect(between).toMatch(/^ +$/);
    const padding = (4 - (markerEnd % 4)) % 4; // the marker's own
    expect(between.length - padding).toBe(8);
  });
});

describe("over a socket", () => {
  const listen = async ({ app }: MadeApp) => {
    await app.listen({ host: "127.0.0.1", port: 0 });
    return (app.server.address() as AddressInfo).port;
  };

  test("a client that hangs up cancels the run while it is still listed", async () => {
    const native = new FakeNative<never>();
    let canceledWhileListed: boolean | undefined;
    const made = await appWith(async (job) => {
      job.signal.addEventListener("abort", () => {
        canceledWhileListed = made.jobs.size === 1;
      });
      return job.track(() => native);
    });
    const port = await listen(made);
    const abort = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}/run`, { method: "POST", signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    await within(250, () => expect(made.jobs.size).toBe(0));
    expect([canceledWhileListed, native.cancelCount]).toEqual([true, 1]);
    expect(made.runs).toMatchObject([{ outcome: "canceled" }]);
  });

  test("a client that does not read retains the columns, not copies of their bytes; hanging up frees them", async () => {
    const column = new CountingColumn(64 * 1024 * 1024); // 256 MiB as bytes
    const made = await appWith(
      async () => ({}),
      (app) => {
        app.get("/points", (_request, reply) =>
          sendFrame(reply, { meta: {}, buffers: { indices: { dtype: "u32", length: column.length, data: column } } }),
        );
      },
    );
    const port = await listen(made);
    const socket = connect(port, "127.0.0.1");
    socket.pause();
    socket.write(`GET /points HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    await eventually(() => expect(column.reads).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(column.reads * SEND_BLOCK_BYTES).toBeLessThan(32 * MIB); // what the sockets hold, and two blocks
    expect(column.owners).toBe(2);
    socket.destroy();
    await eventually(() => expect(column.owners).toBe(1));
  });

  test("a PHX1 stream arrives completely", async () => {
    const positions = new CountingColumn(3 * 1_000_000);
    const made = await appWith(
      async () => ({}),
      (app) => {
        app.get("/points", (_request, reply) =>
          sendPoints(reply, {
            point_count: 1_000_000,
            miss_count: 0,
            positions,
            colors: undefined,
            intensity: new Float32Array(1_000_000).fill(2),
          }),
        );
      },
    );
    const port = await listen(made);
    const response = await fetch(`http://127.0.0.1:${port}/points`);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    const points = decodePoints(new Uint8Array(await response.arrayBuffer()));
    expect(points.point_count).toBe(1_000_000);
    const words = new Uint32Array(points.positions.buffer, points.positions.byteOffset, points.positions.length);
    expect(words.every((value, i) => value === i)).toBe(true);
    expect([points.colors, points.intensity?.[999_999]]).toEqual([undefined, 2]);
    expect(positions.owners).toBe(1);
  });

  test("closing the service cancels its runs and returns at once", async () => {
    const native = new FakeNative<never>();
    const made = await appWith((job) => job.track(() => native));
    const port = await listen(made);
    const response = await fetch(`http://127.0.0.1:${port}/run`, { method: "POST" });
    await response.body?.getReader().read();
    const stop = stopwatch();
    await made.app.close();
    await made.jobs.idle();
    expect(stop().own_ms).toBeLessThan(500);
    expect(native.cancelCount).toBe(1);
  });
});
