import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sendEvents } from "../../backend/http/sse.ts";
import type { Job } from "../../backend/jobs/job.ts";
import { addon } from "../../backend/native/core/addon.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { NativeJson } from "../../backend/sessions/native-json.ts";
import { AppError } from "../../shared/errors.ts";
import { baseAppOfTest } from "../support/app/base-app.ts";
import { eventsOf, openEvents } from "../support/app/events.ts";
import { FakeNative } from "../support/native/fake-native.ts";
import { eventually, within } from "../support/run/stopwatch.ts";

const appWith = (body: (job: Job) => Promise<object>) =>
  baseAppOfTest({
    routes: [(app, { jobs }) => void app.post("/events", (_request, reply) => sendEvents(reply, jobs, body))],
  });
const shown = async (body: (job: Job) => Promise<object>) => {
  const { app } = await appWith(body);
  const { rawPayload, headers } = await app.inject({ method: "POST", url: "/events" });
  return { headers, events: eventsOf(rawPayload).map(({ event, data }) => [event, JSON.parse(data)] as const) };
};
afterEach(() => void vi.useRealTimers());

describe("a run as events", () => {
  test("run_id first, progress in order, then the result", async () => {
    const { headers, events } = await shown(async (job) => {
      job.stage("Growing plants...", 0, 0.6);
      job.stage("Packing geometry...", 0.6, 0.95);
      return { success: true };
    });
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect(events).toEqual([
      ["run_id", { run_id: expect.stringMatching(/^[0-9a-f]{32}$/) }],
      ["progress", { progress: 0, message: "Growing plants..." }],
      ["progress", { progress: 0.6, message: "Packing geometry..." }],
      ["result", { success: true }],
    ]);
  });

  test("while the progress is unknown the last one stays", async () => {
    const { events } = await shown(async (job) => {
      job.stage("Growing", 0.25, 0.6);
      await job.whileWaiting("Waiting for memory", async () => undefined);
      return {};
    });
    expect(events.slice(1, -1)).toEqual([
      ["progress", { progress: 0.25, message: "Growing" }],
      ["progress", { progress: 0.25, message: "Waiting for memory" }],
      ["progress", { progress: 0.25, message: "Growing" }],
    ]);
  });

  test("native columns become lists and texts, and are released", async () => {
    const before = addon.bulkBytesInUse();
    const { events } = await shown(async (job) => {
      const of = (dtype: "f32" | "u8", values: Float32Array | Uint8Array) =>
        job.adopt(new ColumnRef(new addon.Column(dtype, new Uint8Array(values.buffer))));
      const vertices = of(
        "f32",
        Float32Array.from({ length: 600_000 }, (_, i) => i / 3),
      );
      return {
        vertices: new NativeJson(vertices, "triples"),
        indices: new NativeJson(vertices, "counts"),
        none: new NativeJson(of("f32", new Float32Array(0)), "pairs"),
        text: new NativeJson(of("u8", new Uint8Array(Buffer.from('a "b"\n\u00e9'))), "text"),
      };
    });
    const result = events.at(-1)?.[1];
    expect(result.vertices).toHaveLength(200_000);
    expect(result.vertices.flat().every((value: number, i: number) => Math.fround(value) === Math.fround(i / 3))).toBe(
      true,
    );
    expect(result.indices[199_999]).toEqual([599_997, 599_998, 599_999]);
    expect([result.none, result.text]).toEqual([[], 'a "b"\n\u00e9']);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  });

  test("a failure is an error event with its sentence", async () => {
    const { events } = await shown(async () => {
      throw new AppError("invalid_argument", "age must be 0 or more, not -1\nor so");
    });
    expect(events.slice(1)).toEqual([
      ["error", { detail: "age must be 0 or more, not -1\nor so", code: "invalid_argument" }],
    ]);
  });

  test("after 5 s without an event a comment is sent", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const native = new FakeNative<object>();
    const made = await appWith((job) => job.track(() => native));
    const running = made.app.inject({ method: "POST", url: "/events" });
    await eventually(() => expect(made.jobs.size).toBe(1));
    for (let i = 0; i < 64; i += 1) {
      await vi.advanceTimersByTimeAsync(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    native.finish({ ok: 1 });
    const { body } = await running;
    expect(body.match(/^: $/gm)).toHaveLength(2);
    expect(eventsOf(Buffer.from(body)).at(-1)).toEqual({ event: "result", data: '{"ok":1}' });
  });
});

describe("over a socket", () => {
  const listening = async (body: (job: Job) => Promise<object>) => {
    const made = await appWith(body);
    await made.app.listen({ host: "127.0.0.1", port: 0 });
    return { ...made, base: `http://127.0.0.1:${(made.app.server.address() as AddressInfo).port}` };
  };

  test("a cancel ends the stream with its event", async () => {
    const native = new FakeNative<never>();
    const made = await listening((job) => job.track(() => native));
    const live = await openEvents(made.base, "/events", {});
    await fetch(`${made.base}/api/cancel/${live.run_id}`, { method: "POST" });
    expect(await live.last).toEqual({ event: "canceled", data: "{}" });
    expect(native.cancelCount).toBe(1);
  });

  test("a client that hangs up cancels the run", async () => {
    const native = new FakeNative<never>();
    const made = await listening((job) => job.track(() => native));
    const live = await openEvents(made.base, "/events", {});
    live.hangUp();
    await within(250, () => expect(made.jobs.size).toBe(0));
    expect(native.cancelCount).toBe(1);
  });
});
