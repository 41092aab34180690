import type { Job } from "../../jobs/job.ts";
import type { NativeJob, NativeProgress } from "../../native/core/handles.ts";
import { BUILD_STAGES } from "./build.ts";

const POLL_MS = 50;

interface RunningTree {
  readonly native: NativeJob<unknown>;
  /** The largest so far: a tree that swayed is built again. */
  share: number;
}

/** Share of a tree's build that is done, 0..1, by its phase. */
function shareOf({ phase, done, total }: NativeProgress): number {
  const stage = BUILD_STAGES.find(({ name }) => name === phase);
  if (!stage) return 0;
  return stage.from + (stage.to - stage.from) * (total > 0 ? Math.min(1, done / total) : 0);
}

/** Shows the progress of trees that are built side by side; the message names the one that began first. */
export class BatchProgress {
  readonly #running = new Map<number, RunningTree>();
  readonly #job: Job;
  readonly #total: number;
  #done = 0;

  constructor(job: Job, total: number) {
    this.#job = job;
    this.#total = total;
  }

  /** Shows the trees that `body` builds until it settles. */
  async while<T>(body: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => this.#show(), POLL_MS);
    try {
      return await body();
    } finally {
      clearInterval(timer);
    }
  }
  /** `place`: number of the tree from 1, in the order in which they begin. */
  begin<T extends NativeJob<unknown>>(place: number, running: T): T {
    this.#running.set(place, { native: running, share: 0 });
    this.#show();
    return running;
  }
  end(place: number): void {
    this.#running.delete(place);
    this.#done += 1;
    this.#show();
  }

  #show(): void {
    if (this.#job.canceled) return; // the run ends by itself
    const [first] = [...this.#running].sort(([a], [b]) => a - b);
    let shares = 0;
    for (const tree of this.#running.values()) {
      tree.share = Math.max(tree.share, shareOf(tree.native.progress()));
      shares += tree.share;
    }
    const stage = first?.[1].native.progress().phase || "Reading points";
    const message = first ? `Tree ${first[0]}/${this.#total}: ${stage}` : `Tree ${this.#done}/${this.#total}`;
    this.#job.advance((this.#done + shares) / this.#total, message);
  }
}
