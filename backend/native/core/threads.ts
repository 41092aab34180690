import { addonAs } from "./load.ts";

export interface ThreadsNative {
  /** Threads of native jobs started from now on, 0 = all cores; returns what it was. */
  setThreadsOfJobs(threads: number): number;
}

const addon = addonAs<ThreadsNative>();

/** What `start` returns; a native job that it starts computes with at most so many threads. 0 = all cores. */
export function withThreads<T>(threads: number, start: () => T): T {
  if (threads === 0) return start();
  const before = addon.setThreadsOfJobs(threads);
  try {
    return start();
  } finally {
    addon.setThreadsOfJobs(before);
  }
}
