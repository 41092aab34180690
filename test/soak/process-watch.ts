import { readdirSync } from "node:fs";
import { usageOf } from "../bench/process.ts";

export interface Sample {
  readonly minute: number;
  readonly rss_mib: number;
  /** Beyond mapped files. */
  readonly anon_mib: number;
  readonly handles: number;
  readonly threads: number;
}

/** What a process holds, looked at every 10 s. */
export class ProcessWatch {
  readonly samples: Sample[] = [];
  readonly #started = performance.now();
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.look(), 10_000);
  }
  look(): Sample {
    const { rss_mib, anon_mib } = usageOf(this.#pid);
    const count = (what: string) => readdirSync(`/proc/${this.#pid}/${what}`).length;
    const minute = (performance.now() - this.#started) / 60_000;
    const sample = { minute, rss_mib, anon_mib, handles: count("fd"), threads: count("task") };
    this.samples.push(sample);
    return sample;
  }
  stop(): void {
    clearInterval(this.#timer);
  }
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

/** Least-squares slope of a line through the samples of the second half, per hour. */
export function slope(samples: readonly Sample[], what: Exclude<keyof Sample, "minute">): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const mean = (of: (one: Sample) => number) => late.reduce((sum, one) => sum + of(one), 0) / late.length;
  const [at, level] = [mean(({ minute }) => minute), mean((one) => one[what])];
  const spread = mean(({ minute }) => (minute - at) ** 2);
  return (60 * mean((one) => (one.minute - at) * (one[what] - level))) / spread;
}
