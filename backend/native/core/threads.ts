import { addon } from "./addon.ts";

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
