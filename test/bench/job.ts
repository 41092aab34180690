// What a job is: how it is run once, what it must reach, which of its figures the baseline compares.

import type { Medians, NumberNames } from "./median.ts";
import { median } from "./median.ts";

export interface Target<Sample> {
  readonly text: string;
  readonly met: (median: Sample) => boolean;
}

interface JobSpec<Sample extends object, Name> {
  readonly title: string;
  /** Points or rows of the input. */
  readonly count?: number;
  /** Runs at most, for jobs that take long. */
  readonly most?: number;
  /** The median in words. */
  readonly figure: (median: Medians<Sample>) => string;
  readonly targets: readonly Target<Medians<Sample>>[];
  /** Figures that the baseline keeps. */
  readonly compare: readonly Name[];
}

/** What the runs of a job gave. */
export interface Measured {
  readonly samples: readonly object[];
  readonly median: object;
  readonly figure: string;
  readonly targets: readonly { readonly text: string; readonly met: boolean }[];
}

export interface Job {
  readonly title: string;
  readonly count: number | undefined;
  readonly compare: readonly string[];
  /** What it must reach. */
  readonly targets: readonly string[];
  /** Runs it so often, or less where it takes long. */
  measure(runs: number): Promise<Measured>;
}

/** A job whose runs are measured one after the other. */
export const defineJob = <Sample extends object, Name extends NumberNames<Sample>>(
  measure: () => Promise<Sample>,
  spec: JobSpec<Sample, Name>,
): Job =>
  defineJobOfRuns(async (runs) => {
    const samples: Sample[] = [];
    for (let i = 0; i < runs; i += 1) samples.push(await measure());
    return samples;
  }, spec);

/** A job that says itself how its runs are measured. */
export function defineJobOfRuns<Sample extends object, Name extends NumberNames<Sample>>(
  sample: (runs: number) => Promise<readonly Sample[]>,
  { title, count, most = Number.POSITIVE_INFINITY, figure, targets, compare }: JobSpec<Sample, Name>,
): Job {
  return {
    title,
    count,
    compare,
    targets: targets.map(({ text }) => text),
    async measure(runs) {
      const samples = await sample(Math.min(runs, most));
      const middle = median(samples);
      return {
        samples,
        median: middle,
        figure: figure(middle),
        targets: targets.map(({ text, met }) => ({ text, met: met(middle) })),
      };
    },
  };
}

export const atMost = <Sample>(figure: (sample: Sample) => number, limit: number, text: string): Target<Sample> => ({
  text,
  met: (sample) => figure(sample) <= limit,
});
export const atLeast = <Sample>(figure: (sample: Sample) => number, limit: number, text: string): Target<Sample> => ({
  text,
  met: (sample) => figure(sample) >= limit,
});

/** Figures of a whole process that the baseline keeps. */
export const USAGE = ["wall_s", "cpu_s", "peak_rss_mib"] as const;
/** Memory that a run may keep or an export may add and still count as none: buffers, the heap of the runtime. */
export const FLAT_MIB = 64;
/** Memory of a reader besides the columns it returns. */
const READER_MIB = 64;

interface Timed {
  readonly wall_s: number;
}
interface Counted {
  readonly count: number;
}
interface Resident {
  readonly peak_rss_mib: number;
  readonly column_mib: number;
}
interface Operated {
  readonly op_s: number;
}

export const wall = (sample: Timed) => sample.wall_s;
export const rate = (sample: Counted & Timed) => sample.count / sample.wall_s;
export const millions = (sample: Counted & Timed, what: string) => `${(rate(sample) / 1e6).toFixed(1)} M ${what}/s`;
/** The rate of the operation alone. */
export const operationRate = (sample: Counted & Operated) => sample.count / sample.op_s;

export const columnsRatio = (sample: Resident) => sample.peak_rss_mib / sample.column_mib;
const spare = (sample: Resident) => sample.peak_rss_mib - sample.column_mib;
export const lean = atMost(spare, READER_MIB, `RSS <= columns + ${READER_MIB} MiB`);
export const besides = (sample: Resident) => `+${spare(sample).toFixed(0)} MiB`;
