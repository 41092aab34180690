import { availableParallelism } from "node:os";
import type { Job } from "../../jobs/job.ts";
import type { MadeChild } from "./child.ts";

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

/** What makes a child of so many points. */
export interface Maker {
  readonly count: number;
  readonly make: (quiet: Job) => Promise<MadeChild>;
}

/** Builds children a few at a time, large ones first, and tells how many are done. */
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
    tasks.sort((a, b) => b.count - a.count); // a large one that came last would be alone
    if (parent) tasks.unshift({ count: 0, run: () => parent(this.#quiet) });
    const worker = async () => {
      for (let task = tasks.shift(); task && !this.#failed; task = tasks.shift()) await this.#one(task.run);
    };
    await Promise.all(Array.from({ length: POOL }, worker));
    if (this.#failed) throw this.#failure;
    return this.#made.filter((child) => child !== undefined);
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
      this.#quiet.cancel(); // the others need not go on
    }
  }

  /** Nothing of what was built stays. */
  async discard(): Promise<void> {
    for (const child of this.#made) await child?.staged.discard();
  }
}
