import { type Addon, addon } from "../../../backend/native/core/addon.ts";
import type { NativeJob } from "../../../backend/native/core/handles.ts";

/** A point inside a native op: its nth call from now on, in the phase of that name, that part of it done. */
export interface NativeMoment {
  readonly op: keyof Addon;
  readonly call?: number;
  /** null: as soon as it has started, for an op that may be over before it is seen in a phase. */
  readonly phase?: string | null;
  readonly fraction?: number;
}

/**
 * Calls `act` when the op gets there, and restores the addon. Progress is looked at on every turn of the event loop, so
 * that also an op of a few milliseconds is caught inside. Resolves to whether it got there.
 */
export async function atMoment<T>(
  moment: NativeMoment,
  act: () => void,
  body: () => Promise<T>,
): Promise<{ reached: boolean; value: T }> {
  const { op, call = 1, phase, fraction = 0 } = moment;
  const original = addon[op] as unknown as (...args: unknown[]) => NativeJob<unknown>;
  let calls = 0;
  let reached = false;
  let over = false;
  const watch = (job: NativeJob<unknown>) => {
    const now = job.progress();
    const inPhase = phase === undefined ? now.phase !== "" : phase === null || now.phase === phase;
    const there = inPhase && now.done >= fraction * now.total;
    if (there && !over) {
      reached = true;
      act();
    } else if (!over) setImmediate(watch, job);
  };
  const watched = (...args: unknown[]) => {
    const job = original(...args);
    calls += 1;
    if (calls === call) {
      const end = () => {
        over = true;
      };
      job.promise.then(end, end);
      queueMicrotask(() => watch(job)); // not before the run knows the job: it could not cancel it
    }
    return job;
  };
  Object.assign(addon, { [op]: watched });
  try {
    const value = await body();
    return { value, reached };
  } finally {
    over = true;
    Object.assign(addon, { [op]: original });
  }
}
