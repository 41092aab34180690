import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Admission, memoryBudget, WAITING_LABEL } from "../../../backend/jobs/admission.ts";
import { Job } from "../../../backend/jobs/job.ts";
import { GIB } from "../../../shared/limits.ts";

interface Held {
  readonly ended: Promise<string>;
  readonly job: Job;
  readonly state: "waiting" | "running" | "done" | "canceled";
  end(): void;
}

/** Starts an operation that runs until end(). */
function start(admission: Admission, label: string, bytes: number): Held {
  const job = new Job();
  let end: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state: { now: Held["state"] } = { now: "waiting" };
  const body = async () => {
    state.now = "running";
    await gate;
    state.now = "done";
    return label;
  };
  const ended = admission.run(job, label, bytes, body).catch((error: { code: string }) => {
    state.now = "canceled";
    return error.code;
  });
  return {
    job,
    ended,
    end: () => end(),
    get state() {
      return state.now;
    },
  };
}
const turn = () => vi.advanceTimersByTimeAsync(0);

describe("admission", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("runs operations that fit, makes others wait visibly, and admits them on release", async () => {
    const admission = new Admission(() => 100);
    const a = start(admission, "a", 60);
    const b = start(admission, "b", 40);
    const c = start(admission, "c", 1);
    await turn();
    expect([a.state, b.state, c.state]).toEqual(["running", "running", "waiting"]);
    expect(c.job.takeProgress()).toEqual([{ progress: null, message: WAITING_LABEL }]);
    expect(admission.operations()).toMatchObject([
      { label: "a", bytes: 60 },
      { label: "b", bytes: 40 },
    ]);
    a.end();
    await turn();
    expect(c.state).toBe("running");
    b.end();
    c.end();
    await turn();
    expect(admission.admittedCount).toBe(0);
  });

  test("runs an operation alone, however large, and logs that", async () => {
    const lines: string[] = [];
    const admission = new Admission(() => 100, { info: (_f, message) => void lines.push(message) });
    const a = start(admission, "a", 1000);
    await turn();
    expect(a.state).toBe("running");
    expect(lines).toEqual(["over the memory budget, running it alone"]);
    const b = start(admission, "b", 1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(b.state).toBe("waiting");
    expect(lines).toEqual(["over the memory budget, running it alone", "waiting for memory"]); // logged once
    a.end();
    await turn();
    expect(b.state).toBe("running");
  });

  test("notices memory freed by other programs within 2 s", async () => {
    let budget = 100;
    const admission = new Admission(() => budget);
    start(admission, "a", 80);
    const b = start(admission, "b", 80);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(b.state).toBe("waiting");
    budget = 200;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(b.state).toBe("running");
  });

  test("a canceled operation stops waiting at once, never runs, and lets the next one in", async () => {
    const admission = new Admission(() => 100);
    const a = start(admission, "a", 60);
    const big = start(admission, "big", 90);
    const small = start(admission, "small", 10);
    await turn();
    expect([big.state, small.state]).toEqual(["waiting", "waiting"]); // first come, first served
    big.job.cancel();
    await turn();
    expect([a.state, big.state, small.state]).toEqual(["running", "canceled", "running"]);
    expect(await big.ended).toBe("canceled");
    expect(admission.admittedCount).toBe(2);
  });

  test("a failing operation releases its bytes", async () => {
    const admission = new Admission(() => 100);
    const job = new Job();
    await expect(admission.run(job, "x", 100, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(admission.admittedCount).toBe(0);
  });

  test("a canceled job is not admitted; an estimate of NaN is a bug", async () => {
    const admission = new Admission(() => 100);
    const job = new Job();
    await expect(admission.run(job, "x", Number.NaN, async () => 1)).rejects.toMatchObject({ code: "internal" });
    job.cancel();
    await expect(admission.run(job, "x", 1, async () => 1)).rejects.toMatchObject({ code: "canceled" });
    expect(admission.admittedCount).toBe(0);
  });

  test("shows the stage again after the wait", async () => {
    const admission = new Admission(() => 100);
    const a = start(admission, "a", 100);
    const job = new Job();
    job.stage("Opening project", 0.3, 0.5);
    const run = admission.run(job, "b", 10, async () => undefined);
    await turn();
    a.end();
    await turn();
    await run;
    const stage = { progress: 0.3, message: "Opening project" };
    expect(job.takeProgress()).toEqual([stage, { progress: null, message: WAITING_LABEL }, stage]);
  });
});

describe("memory budget", () => {
  const memory = { physical_bytes: 32 * GIB, available_bytes: 10 * GIB, rss_bytes: 0, measured: true };
  const admissionBudget = (pinned_bytes: number | undefined, fraction: number, m = memory) =>
    memoryBudget({ pinned_bytes, fraction }, m);

  test("a pinned budget is used as it is", () => {
    expect(admissionBudget(100 * GIB, 0.5)).toEqual({
      budget_bytes: 100 * GIB,
      budget_fraction: 0.5,
      budget_source: "env",
      admission_budget_bytes: 100 * GIB,
    });
  });
  test("a fraction is limited to 0.7 of the free memory, but at least 1 GiB", () => {
    expect(admissionBudget(undefined, 0.5)).toMatchObject({ budget_bytes: 16 * GIB, admission_budget_bytes: 7 * GIB });
    expect(admissionBudget(undefined, 0.1).admission_budget_bytes).toBe(Math.floor(3.2 * GIB));
    expect(admissionBudget(undefined, 0.5, { ...memory, available_bytes: 1 }).admission_budget_bytes).toBe(GIB);
  });
  test("unknown memory has a fixed budget", () => {
    const unknown = { ...memory, physical_bytes: 0, available_bytes: 0 };
    expect(admissionBudget(undefined, 0.5, unknown)).toMatchObject({
      budget_bytes: 4 * GIB,
      admission_budget_bytes: 4 * GIB,
      budget_source: "fraction",
    });
  });
});
