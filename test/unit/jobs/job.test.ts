import { describe, expect, test } from "vitest";
import { Job } from "../../../backend/jobs/job.ts";
import { JobRegistry, type RunRecord } from "../../../backend/jobs/registry.ts";
import { addon } from "../../../backend/native/core/addon.ts";
import { FakeNative, settle } from "../../support/native/fake-native.ts";

describe("progress of a job", () => {
  test("native progress is mapped to the window of the stage", async () => {
    const job = new Job();
    const native = new FakeNative<number>();
    job.stage("Reading points", 0.2, 0.6);
    const done = job.track(() => native);
    native.now = { phase: "Parsing rows", done: 50, total: 100 };
    expect(job.takeProgress()).toEqual([
      { progress: 0.2, message: "Reading points" },
      { progress: 0.4, message: "Reading points" },
    ]);
    expect(job.takeProgress()).toEqual([]); // nothing moved
    native.now = { phase: "Parsing rows", done: 100, total: 100 };
    native.finish(7);
    expect(await done).toBe(7);
    expect(job.takeProgress()).toEqual([{ progress: 0.6, message: "Reading points" }]);
  });

  test("phases get their weighted share and show their own name; an unknown phase does not move the bar", () => {
    const job = new Job();
    const native = new FakeNative<void>();
    const phases = [
      { name: "Hashing point data", weight: 1 },
      { name: "Building octree", weight: 3 },
    ];
    job.stage("Octree", 0.6, 1, phases);
    void job.track(() => native);
    job.takeProgress();
    native.now = { phase: "Hashing point data", done: 1, total: 2 };
    expect(job.takeProgress()).toEqual([{ progress: 0.65, message: "Hashing point data" }]);
    native.now = { phase: "Building octree", done: 1, total: 3 };
    expect(job.takeProgress()).toEqual([{ progress: 0.8, message: "Building octree" }]);
    native.now = { phase: "Sweeping", done: 0, total: 9 };
    expect(job.takeProgress()).toEqual([{ progress: 0.8, message: "Octree" }]);
    native.finish();
  });

  test("progress never decreases, whatever ops report", () => {
    const job = new Job();
    const native = new FakeNative<void>();
    job.stage("A", 0, 1);
    void job.track(() => native);
    const seen: number[] = [];
    for (const done of [3, 1, 9, 2, 10, 0]) {
      native.now = { phase: "p", done, total: 10 };
      for (const { progress } of job.takeProgress()) seen.push(progress ?? -1);
    }
    job.stage("B", 0.1, 0.2);
    job.advance(1);
    for (const { progress } of job.takeProgress()) seen.push(progress ?? -1);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
    native.finish();
  });

  test("without stages the op's own phases are shown, their share of the run is unknown", () => {
    const job = new Job();
    const native = new FakeNative<void>();
    void job.track(() => native);
    expect(job.takeProgress()).toEqual([]);
    native.now = { phase: "Counting", done: 1, total: 0 };
    expect(job.takeProgress()).toEqual([{ progress: null, message: "Counting" }]);
    native.now = { phase: "Counting", done: 1, total: 4 };
    expect(job.takeProgress()).toEqual([]);
    native.now = { phase: "Sorting", done: 4, total: 4 };
    expect(job.takeProgress()).toEqual([{ progress: null, message: "Sorting" }]);
    job.stage("First", 0.05, 0.2);
    expect(job.takeProgress()).toEqual([
      { progress: 0.05, message: "First" },
      { progress: 0.2, message: "First" },
    ]);
    native.finish();
  });

  test("stages that nobody reads are bounded; the newest are kept", () => {
    const job = new Job();
    for (let i = 0; i <= 1000; i += 1) job.stage(`s${i}`, i / 1000, 1);
    const taken = job.takeProgress();
    expect(taken.length).toBe(64);
    expect(taken.at(-1)).toEqual({ progress: 1, message: "s1000" });
  });

  test("refuses a window outside [0, 1] and a phase without weight", () => {
    const job = new Job();
    expect(() => job.stage("x", 0.5, 0.4)).toThrow(/window/);
    expect(() => job.stage("x", Number.NaN, 1)).toThrow(/window/);
    expect(() => job.stage("x", 0, 1, [{ name: "p", weight: 0 }])).toThrow(/positive weight/);
  });
});

test("a part of a run is canceled with it, even if it begins later, or alone", () => {
  const job = new Job();
  const parts = [job.quiet(), job.quiet()];
  const inner = parts[0]?.quiet();
  parts[1]?.cancel();
  expect([job, ...parts, inner].map((part) => part?.canceled)).toEqual([false, false, true, false]);
  job.cancel();
  expect([job, ...parts, inner, job.quiet()].map((part) => part?.canceled)).toEqual([true, true, true, true, true]);
});

test("a scoped part releases what it and its quiet parts adopted when its body settles; a cancel reaches it", async () => {
  const released: string[] = [];
  const resource = (name: string) => ({ release: () => void released.push(name) });
  const job = new Job();
  job.adopt(resource("run"));
  await job.scoped(async (part) => {
    part.adopt(resource("scope"));
    part.quiet().adopt(resource("inner"));
    expect(released).toEqual([]);
  });
  expect(released).toEqual(["inner", "scope"]);
  const failing = job.quiet(3).scoped(async (part) => {
    part.adopt(resource("failed"));
    job.cancel();
    expect([part.canceled, part.threads]).toEqual([true, 3]);
    part.checkpoint();
  });
  await expect(failing).rejects.toMatchObject({ code: "canceled" });
  expect(released).toEqual(["inner", "scope", "failed"]);
  await job.scoped(async (part) => expect(part.canceled).toBe(true));
});

test("a part of a run can set the threads of its native ops and of its own parts", async () => {
  const during = () => {
    const threads = addon.setThreadsOfJobs(0);
    addon.setThreadsOfJobs(threads);
    return threads;
  };
  const job = new Job();
  const seen: number[] = [];
  const start = () => {
    seen.push(during());
    const native = new FakeNative<void>();
    native.finish();
    return native;
  };
  const one = job.quiet(1);
  for (const run of [job, one, one.quiet(), one.quiet(3), one.quiet(0), job.quiet()]) await run.track(start);
  expect(seen).toEqual([0, 1, 1, 3, 0, 0]);
  const failing = one.track(() => {
    throw new Error("no such op");
  });
  await expect(failing).rejects.toThrow("no such op");
  expect(during()).toBe(0);
});

describe("runs", () => {
  test("cancel reaches every native op, is idempotent, and returns false for an ended run", async () => {
    const jobs = new JobRegistry();
    const natives = [new FakeNative<number>(), new FakeNative<number>()];
    let id = "";
    const run = jobs.run((job) => Promise.all(natives.map((n) => job.track(() => n))), {
      onStart: (job) => (id = job.id),
    });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    await settle();
    expect([jobs.cancel(id), jobs.cancel(id)]).toEqual([true, true]);
    expect(natives.map((n) => n.cancelCount)).toEqual([1, 1]);
    await expect(run).rejects.toMatchObject({ code: "canceled" });
    expect([jobs.cancel(id), jobs.cancel("unknown"), jobs.size]).toEqual([false, false, 0]);
  });

  test("a canceled run is listed until its body has ended", async () => {
    const jobs = new JobRegistry();
    let unwound: () => void = () => undefined;
    const run = jobs.run(async (job) => {
      await new Promise<void>((resolve) => {
        unwound = resolve;
      });
      job.checkpoint();
    });
    await settle();
    jobs.cancelAll();
    await settle();
    expect(jobs.size).toBe(1);
    let idle = false;
    const waiting = jobs.idle().then(() => (idle = true));
    await settle();
    expect(idle).toBe(false);
    unwound();
    await expect(run).rejects.toMatchObject({ code: "canceled" });
    await waiting;
    expect(jobs.size).toBe(0);
  });

  test("adopted resources are released once, newest first, however the run ends", async () => {
    const released: string[] = [];
    const resource = (name: string) => ({ release: () => void released.push(name) });
    const jobs = new JobRegistry();
    await jobs.run(async (job) => {
      job.adopt(resource("a"));
      job.adopt(resource("b"));
    });
    const failing = jobs.run(async (job) => {
      const early = job.adopt(resource("early"));
      job.adopt(resource("c"));
      job.releaseEarly(early);
      expect(released).toEqual(["b", "a", "early"]);
      expect(() => job.releaseEarly(early)).toThrow("does not own");
      throw new Error("boom");
    });
    await expect(failing).rejects.toMatchObject({ code: "internal", message: "boom" });
    expect(released).toEqual(["b", "a", "early", "c"]);
  });

  test("a native error keeps its code and message; an unknown code becomes internal", async () => {
    const jobs = new JobRegistry();
    const native = new FakeNative<void>();
    const run = jobs.run((job) => job.track(() => native));
    native.fail("no_space", "disk full at 12 of 90 MB");
    await expect(run).rejects.toMatchObject({ code: "no_space", message: "disk full at 12 of 90 MB" });
    const other = jobs.run((job) =>
      job.track<void>(() => {
        throw Object.assign(new Error("x"), { code: "ENOENT" });
      }),
    );
    await expect(other).rejects.toMatchObject({ code: "internal" });
  });

  test("a cancel after the last checkpoint changes nothing", async () => {
    const jobs = new JobRegistry();
    const run = jobs.run(async (job) => {
      job.checkpoint();
      job.cancel();
      return "committed";
    });
    expect(await run).toBe("committed");
  });

  test("after shutdown no run begins", async () => {
    const jobs = new JobRegistry();
    jobs.shutdown();
    let ran = false;
    await expect(
      jobs.run(async () => {
        ran = true;
      }),
    ).rejects.toMatchObject({ code: "canceled" });
    expect(ran).toBe(false);
  });

  test("each run writes one record", async () => {
    const records: RunRecord[] = [];
    const jobs = new JobRegistry((record) => records.push(record));
    await jobs.run(async () => 1, { label: "import" });
    await jobs
      .run(async () => {
        throw new Error("bad row 7");
      })
      .catch(() => undefined);
    expect(records).toMatchObject([
      { label: "import", outcome: "done" },
      { outcome: "failed", error: "bad row 7" },
    ]);
    expect(records[0]?.seconds).toBeGreaterThanOrEqual(0);
  });
});
