import { addon } from "../../../backend/native/core/addon.ts";
import type { NativeJob } from "../../../backend/native/core/handles.ts";

/** Functions of the addon that answer at once instead of giving a job; the rest of those is not asked for memory. */
const AT_ONCE = new Set(["mapColumnFile"]);
const LEFT_ALONE = new Set([
  "Column",
  "bulkBytesInUse",
  "reusePages",
  "setThreadsOfJobs",
  "takeThreadShortage",
  "tryLockFile",
  "octreeBuildCost",
  "clothSimulationCost",
  "buildQsmCost",
  "canopyCrownsCost",
  "woodLeafCost",
  "cutPursuitTreesBytes",
  "pathTreesBytes",
  "flatTreesBytes",
  "syncColumnFile",
  "terrainRasterBytes",
]);

/** How the failures begin that are made here. */
export const NO_MEMORY = "no memory";

export interface NthFailure<T> {
  readonly value: T;
  /** Function that failed; undefined when fewer calls were made. */
  readonly failed: string | undefined;
}

/** Runs `body` with the nth native call from now on failing for want of memory. */
export async function withoutMemoryAt<T>(nth: number, body: () => Promise<T>): Promise<NthFailure<T>> {
  const functions = addon as unknown as Record<string, (...args: unknown[]) => unknown>;
  const originals = { ...functions };
  let calls = 0;
  let failed: string | undefined;
  for (const [name, original] of Object.entries(originals)) {
    if (LEFT_ALONE.has(name)) continue;
    functions[name] = (...args) => {
      calls += 1;
      if (calls !== nth) return original(...args);
      failed = name;
      const error = Object.assign(new Error(`${NO_MEMORY} for ${name}`), { code: "out_of_memory" });
      if (AT_ONCE.has(name)) throw error;
      return failedJob(error);
    };
  }
  try {
    return { value: await body(), failed };
  } finally {
    Object.assign(addon, originals);
  }
}

function failedJob(error: Error): NativeJob<never> {
  const promise = new Promise<never>((_, reject) => setImmediate(reject, error));
  return { promise, progress: () => ({ phase: "", done: 0, total: 0 }), cancel: () => undefined };
}

type Op = keyof typeof addon;
type Start = (...args: unknown[]) => NativeJob<unknown>;

/** Holds the next call of a native op, which calls `act`, until the run is canceled; at the latest until `body` ends. */
export async function heldUntilCanceled<T>(op: Op, act: () => void, body: () => Promise<T>): Promise<T> {
  let cancel: () => void = () => undefined;
  const held: Start = () => {
    const promise = new Promise<never>((_, reject) => {
      cancel = () => reject(Object.assign(new Error("canceled"), { code: "canceled" }));
    });
    act();
    return { promise, progress: () => ({ phase: "", done: 0, total: 0 }), cancel };
  };
  try {
    return await once(op, () => held, body);
  } finally {
    cancel();
  }
}

/** Holds the next call of a native op until `act` has settled; then the op itself runs. */
export function heldUntil<T>(op: Op, act: () => Promise<void>, body: () => Promise<T>): Promise<T> {
  const held =
    (original: Start): Start =>
    (...args) => {
      let job: NativeJob<unknown> | undefined;
      const promise = act().then(() => {
        job = original(...args);
        return job.promise;
      });
      return { promise, progress: () => ({ phase: "", done: 0, total: 0 }), cancel: () => job?.cancel() };
    };
  return once(op, held, body);
}

/** Replaces the next call of an op while `body` runs. */
async function once<T>(op: Op, replace: (original: Start) => Start, body: () => Promise<T>): Promise<T> {
  const original = addon[op] as unknown as Start;
  const first: Start = (...args) => {
    Object.assign(addon, { [op]: original });
    return replace(original)(...args);
  };
  Object.assign(addon, { [op]: first });
  try {
    return await body();
  } finally {
    Object.assign(addon, { [op]: original });
  }
}
