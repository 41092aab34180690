import { addonAs } from "./load.ts";

export interface ThreadsNative {
  /** Sets the threads of native jobs started afterwards, 0 = all cores; returns the previous value. */
  setThreadsOfJobs(threads: number): number;
  /** The first team of compute threads since the last call that the system did not start in full. */
  takeThreadShortage(): ThreadShortage | null;
}

export interface ThreadShortage {
  readonly wanted: number;
  readonly started: number;
}

const addon = addonAs<ThreadsNative>();

/** Calls `start` and returns its result; native jobs it starts use at most `threads` threads, 0 = all cores. */
export function withThreads<T>(threads: number, start: () => T): T {
  if (threads === 0) return start();
  const before = addon.setThreadsOfJobs(threads);
  try {
    return start();
  } finally {
    addon.setThreadsOfJobs(before);
  }
}

export const takeThreadShortage = (): ThreadShortage | null => addon.takeThreadShortage();
