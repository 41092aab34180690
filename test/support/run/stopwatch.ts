// Times that a test bounds, without what the machine adds to them: other programs share its processors.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, vi } from "vitest";

const LOOK_EVERY_MS = 20; // each look is a wait of its own on a busy machine
/** A condition that takes longer never comes: this only guards against a test that hangs. */
const GUARD_MS = 90_000;

export interface Times {
  readonly ms: number;
  /** Of those, how long threads of the process were ready to run and got no processor, from other programs or from the host. */
  readonly waited_ms: number;
  /** The rest: what the code itself took, its pauses included. */
  readonly own_ms: number;
}

/** What the host of a virtual machine gave to others instead of one of our processors: Linux counts it in steps of 10 ms. */
function stolenMs(): number {
  const [all = ""] = (textOf("/proc/stat") ?? "").split("\n");
  return (10 * Number(all.trim().split(/ +/)[8] ?? 0)) / availableParallelism();
}

/** Waits of the threads of some processes for a processor, as Linux counts them: a thread's first is its process's main. */
class ThreadWaits {
  readonly #start: ReadonlyMap<string, number>;
  readonly #last = new Map<string, number>();
  readonly #stolen = stolenMs();
  readonly #pids: readonly number[];

  constructor(pids: readonly number[]) {
    this.#pids = pids;
    this.look();
    this.#start = new Map(this.#last);
  }
  /** Threads end before the watch does: what they waited is kept from the last look. */
  look(): void {
    for (const pid of this.#pids)
      for (const thread of entries(`/proc/${pid}/task`)) {
        const counts = textOf(`/proc/${pid}/task/${thread}/schedstat`);
        if (counts !== undefined) this.#last.set(`${pid}/${thread}`, Number(counts.split(" ")[1]) / 1e6);
      }
  }
  /** Main threads hand over to each other and to one of the others; the slowest of those counts. */
  total(): number {
    const mains = new Set(this.#pids.map((pid) => `${pid}/${pid}`));
    const waited = [...this.#last].map(([name, ms]) => ({ name, ms: ms - (this.#start.get(name) ?? 0) }));
    const of = (isMain: boolean) => waited.filter(({ name }) => mains.has(name) === isMain).map(({ ms }) => ms);
    return of(true).reduce((sum, ms) => sum + ms, 0) + Math.max(0, ...of(false)) + stolenMs() - this.#stolen;
  }
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // the thread has ended
  }
}

/** A thread that sleeps in short steps and adds up how late it wakes, in microseconds: for systems that count no waits. */
const SLEEPER = `
  const { workerData } = require("node:worker_threads");
  const late = new Int32Array(workerData);
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const began = performance.now();
    Atomics.wait(never, 0, 0, ${LOOK_EVERY_MS});
    Atomics.add(late, 0, Math.round(1000 * Math.max(0, performance.now() - began - ${LOOK_EVERY_MS} - 1)));
  }`;
let lateness: Int32Array | undefined;
function sleeperLateness(): number {
  if (!lateness) {
    lateness = new Int32Array(new SharedArrayBuffer(4));
    new Worker(SLEEPER, { eval: true, workerData: lateness.buffer }).unref();
  }
  return Atomics.load(lateness, 0) / 1000;
}

function waitsOf(pids: readonly number[]): { look(): void; total(): number } {
  if (existsSync("/proc/self/schedstat")) return new ThreadWaits(pids);
  const start = sleeperLateness();
  return { look: () => undefined, total: () => sleeperLateness() - start };
}

/** Starts to measure; the answer ends it. `pid`: another process whose threads count as well. */
export function stopwatch(pid?: number): () => Times {
  const waits = waitsOf(pid === undefined ? [process.pid] : [process.pid, pid]);
  const timer = setInterval(() => waits.look(), LOOK_EVERY_MS);
  const began = performance.now();
  return () => {
    clearInterval(timer);
    const ms = performance.now() - began;
    waits.look();
    const waited_ms = Math.min(ms, waits.total());
    return { ms, waited_ms, own_ms: ms - waited_ms };
  };
}

/** Waits for a condition however long the machine takes for it. */
export const eventually = <T>(check: () => T | Promise<T>, interval = 5): Promise<T> =>
  vi.waitFor(check, { timeout: GUARD_MS, interval });

/** Waits for a condition that must come within `bound_ms`, the machine's part left out. */
export async function within(bound_ms: number, check: () => unknown): Promise<void> {
  const stop = stopwatch();
  await eventually(check);
  const times = stop();
  expect(times.own_ms, `${JSON.stringify(times)}, within ${bound_ms} ms`).toBeLessThan(bound_ms);
}
