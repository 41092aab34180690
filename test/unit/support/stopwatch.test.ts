import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { stopwatch, within } from "../../support/run/stopwatch.ts";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Works until this process has used so much processor time. */
function work(ms: number): void {
  const { user, system } = process.cpuUsage();
  for (;;) {
    const now = process.cpuUsage();
    if (now.user - user + now.system - system > 1000 * ms) return;
  }
}

test("a pause and work of our own are not put down to the machine", async () => {
  const paused = stopwatch();
  await sleep(400);
  expect(paused().own_ms).toBeGreaterThan(300); // the looks themselves wait a little where others are at work
  const worked = stopwatch();
  work(200);
  expect(worked().own_ms).toBeGreaterThan(150); // a garbage collector's threads count as processor time too
});

test("what other programs take of the processors is", async () => {
  const busy = Array.from({ length: 6 * availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  try {
    await sleep(500);
    const stop = stopwatch();
    work(200);
    const { ms, waited_ms, own_ms } = stop();
    expect(ms).toBeGreaterThan(500);
    expect(own_ms).toBeLessThan(300);
    expect(waited_ms).toBeCloseTo(ms - own_ms, 6);
  } finally {
    for (const child of busy) child.kill("SIGKILL");
  }
});

test("a condition that comes too late fails, one in time does not", async () => {
  const from = performance.now();
  const after = (ms: number) => () => expect(performance.now() - from).toBeGreaterThan(ms);
  await within(1000, after(0));
  await expect(within(100, after(400))).rejects.toThrow(/within 100 ms/);
});
