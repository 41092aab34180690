import { availableParallelism } from "node:os";
import type { Job } from "../../jobs/job.ts";
import type { MadeChild } from "./child.ts";

const CORES = availableParallelism();
/** Concurrent builds: one more than cores, because builds also write files. */
export const POOL = poolOf(CORES);

export function poolOf(cores: number): number {
  return Math.min(8, cores + 1);
}

/**
 * Threads for the build of one child; 0 = all cores. A small child gets its share of the cores, because larger teams
 * would mostly wait. A child with a large share of the points gets all, because it would run last and alone.
 */
export function buildThreads(count: number, total: number, cores = CORES): number {
  const pool = poolOf(cores);
  return count * pool > total ? 0 : Math.ceil(cores / pool);
}

/**
 * Largest number of rows of children in memory at a time: those of the largest concurrent builds, or of all children if
 * sessions are not saved to files. Every child contains all misses.
 */
export function rowsAtATime(counts: readonly number[], miss_count: number, saved: boolean, pool = POOL): number {
  const held = saved ? [...counts].sort((a, b) => b - a).slice(0, pool) : counts;
  return held.reduce((sum, count) => sum + count + miss_count, 0);
}

/** Makes one child of `count` points. */
export interface Maker {
  readonly count: number;
  readonly make: (quiet: Job) => Promise<MadeChild>;
}

/** Builds children, a few at a time and large ones first, and reports how many are done. */
export class Builds {
  readonly #made: (MadeChild | undefined)[] = [];
  #done = 0;
  #failure: unknown;
  #failed = false;
  readonly #quiet: Job;

  constructor(
    readonly total: number,
    readonly job: Job,
  ) {
    this.#quiet = job.quiet();
    job.stage(this.#label(), 0, 1);
  }

  #label(): string {
    return `Building ${this.#done} of ${this.total} clouds`;
  }

  async run(makers: readonly Maker[], parent: ((quiet: Job) => Promise<void>) | undefined): Promise<MadeChild[]> {
    const tasks = makers.map(({ count, make }, i) => ({
      count,
      run: async () => {
        this.#made[i] = await make(this.#quiet);
      },
    }));
    tasks.sort((a, b) => b.count - a.count); // large ones first: a large last one would run alone
    if (parent) tasks.unshift({ count: 0, run: () => parent(this.#quiet) });
    const worker = async () => {
      for (let task = tasks.shift(); task && !this.#failed; task = tasks.shift()) await this.#one(task.run);
    };
    await Promise.all(Array.from({ length: POOL }, worker));
    if (this.#failed) throw this.#failure;
    return this.made();
  }

  async #one(task: () => Promise<void>): Promise<void> {
    try {
      this.job.checkpoint();
      await task();
      this.#done += 1;
      this.job.advance(this.#done / this.total, this.#label());
    } catch (error) {
      if (!this.#failed) this.#failure = error;
      this.#failed = true;
      this.#quiet.cancel(); // stops the other builds
    }
  }

  /** Everything that was built so far. */
  made(): MadeChild[] {
    return this.#made.filter((child) => child !== undefined);
  }
}
