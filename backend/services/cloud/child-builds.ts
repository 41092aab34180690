import type { Job } from "../../jobs/job.ts";
import type { MadeChild } from "./child.ts";
import { POOL } from "./extract-plan.ts";

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
