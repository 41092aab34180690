import { availableParallelism } from "node:os";

const CORES = availableParallelism();
/** Builds at a time, one more than cores: files are made in between. */
export const POOL = poolOf(CORES);

export function poolOf(cores: number): number {
  return Math.min(8, cores + 1);
}

/**
 * Threads of the build of one child; 0 = all cores. Small ones get their share of the cores: teams of threads would mostly
 * wait for each other. One with a large share of the points would be the last one under way, alone.
 */
export function buildThreads(count: number, total: number, cores = CORES): number {
  const pool = poolOf(cores);
  return count * pool > total ? 0 : Math.ceil(cores / pool);
}

/**
 * Rows of children that memory holds at a time: of the largest that may meet, or of all where sessions have no files to
 * let their columns go to. Each child has every miss.
 */
export function rowsAtATime(counts: readonly number[], miss_count: number, saved: boolean, pool = POOL): number {
  const held = saved ? [...counts].sort((a, b) => b - a).slice(0, pool) : counts;
  return held.reduce((sum, count) => sum + count + miss_count, 0);
}
