// Readers and writers.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../folders.ts";
import { lazFile, ONE_MILLION, plotFiles, scanFiles, TEN_MILLION } from "../inputs.ts";
import { atLeast, atMost, besides, defineJob, lean, millions, operationRate, rate, USAGE } from "../job.ts";
import { nativeJob, THREADS } from "../native.ts";

const READ = ["count", "op_s", "column_mib"] as const;
const WRITTEN = ["count", "op_s", "scratch_mib"] as const;

/** The same with one thread and with two: the second is the sample, `one_s` the time of the operation on one. */
async function onOneAndTwo<Sample extends { readonly op_s: number }>(run: (threads: string) => Promise<Sample>) {
  const one = await run("1");
  return { ...(await run(THREADS)), one_s: one.op_s };
}
interface OnOneAndTwo {
  readonly count: number;
  readonly op_s: number;
  readonly one_s: number;
}
const oneCore = (sample: OnOneAndTwo) => sample.count / sample.one_s;
const scaling = (sample: OnOneAndTwo) => sample.one_s / sample.op_s;
const twice = atLeast(scaling, 1.9, ">= 1.9x with 2 threads");
const perCore = (sample: OnOneAndTwo) =>
  `${(oneCore(sample) / 1e6).toFixed(1)} M pts/s per core, ${scaling(sample).toFixed(2)}x on two`;

/** The text reader and the loop in turn, on one thread and on two; the sample is that of the reader on two. */
async function againstTheLoop(file: string) {
  const ratio = async (threads: string) => {
    const loop = await nativeJob(READ, "text_loop", file, threads);
    const reader = await nativeJob(READ, "text", file, threads);
    return { reader, ratio: reader.op_s / loop.op_s };
  };
  const one = await ratio("1");
  const two = await ratio(THREADS);
  return { ...two.reader, one_ratio: one.ratio, two_ratio: two.ratio };
}

const tenMillion = async () => (await plotFiles(TEN_MILLION)).las;

/** Writes the 10M plot in one format and removes the file. */
async function write(format: string, threads: string) {
  const file = join(dataFolder, `scratch.${format}`);
  try {
    return await nativeJob(WRITTEN, "write", await tenMillion(), file, threads);
  } finally {
    rmSync(file, { force: true });
  }
}

/** The rate is that of the writing alone. */
const writeJob = (format: string, least: number) =>
  defineJob(() => write(format, THREADS), {
    title: `${format.toUpperCase()} write 10M`,
    count: TEN_MILLION,
    figure: (sample) =>
      `${(operationRate(sample) / 1e6).toFixed(1)} M pts/s, ${sample.scratch_mib.toFixed(0)} MiB of scratch`,
    targets: [
      atLeast(operationRate, least, `>= ${least / 1e6} M pts/s`),
      atMost((sample) => sample.scratch_mib, 64, "<= 64 MiB of scratch"),
    ],
    compare: ["cpu_s"],
  });

export const fileJobs = {
  text: defineJob(async () => nativeJob(READ, "text", (await plotFiles(TEN_MILLION, true)).txt, THREADS), {
    title: "text 10M x 7 columns",
    count: TEN_MILLION,
    figure: (sample) => `${millions(sample, "rows")}, ${besides(sample)}`,
    targets: [atLeast(rate, 8e6, ">= 8 M rows/s"), lean],
    compare: USAGE,
  }),
  "text-loop": defineJob(async () => againstTheLoop((await plotFiles(TEN_MILLION, true)).txt), {
    title: "text 10M x 7 columns, against a bare loop of from_chars",
    count: TEN_MILLION,
    figure: (sample) =>
      `${sample.one_ratio.toFixed(2)}x the loop on one thread, ${sample.two_ratio.toFixed(2)}x on two`,
    targets: [
      atMost((sample) => sample.one_ratio, 1.2, "<= 1.2x on one thread"),
      atMost((sample) => sample.two_ratio, 1.2, "<= 1.2x on two"),
    ],
    compare: ["cpu_s"],
  }),
  las: defineJob(async () => nativeJob(READ, "las", await tenMillion(), THREADS), {
    title: "LAS read 10M, all fields",
    count: TEN_MILLION,
    figure: (sample) => `${millions(sample, "pts")}, ${besides(sample)}`,
    targets: [atLeast(rate, 15e6, ">= 15 M pts/s"), lean],
    compare: USAGE,
  }),
  "laz-write": defineJob(() => onOneAndTwo((threads) => write("laz", threads)), {
    title: "LAZ encode 10M",
    count: TEN_MILLION,
    figure: perCore,
    targets: [atLeast(oneCore, 4e6, ">= 4 M pts/s per core"), twice],
    compare: ["cpu_s"],
  }),
  laz: defineJob(() => onOneAndTwo(async (threads) => nativeJob(READ, "las", await lazFile(), threads)), {
    title: "LAZ decode 10M, all fields",
    count: TEN_MILLION,
    figure: (sample) => `${perCore(sample)}, ${besides(sample)}`,
    targets: [atLeast(oneCore, 3e6, ">= 3 M pts/s per core"), twice, lean],
    compare: ["cpu_s", "peak_rss_mib"],
  }),
  "laz-xyz": defineJob(() => onOneAndTwo(async (threads) => nativeJob(READ, "las", await lazFile(), threads, "xyz")), {
    title: "LAZ decode 10M, xyz only",
    count: TEN_MILLION,
    figure: (sample) => `${perCore(sample)}, ${besides(sample)}`,
    targets: [atLeast(oneCore, 5.5e6, ">= 5.5 M pts/s per core"), lean],
    compare: ["cpu_s", "peak_rss_mib"],
  }),
  e57: defineJob(async () => nativeJob(READ, "e57", (await scanFiles(ONE_MILLION)).e57, THREADS), {
    title: "E57 read 1M, float xyz, intensity, colour",
    count: ONE_MILLION,
    figure: (sample) => `${millions(sample, "pts")}, ${besides(sample)}`,
    targets: [atLeast(rate, 8e6, ">= 8 M pts/s"), lean],
    compare: USAGE,
  }),
  ptx: defineJob(async () => nativeJob(READ, "ptx", (await scanFiles(ONE_MILLION)).ptx, THREADS), {
    title: "PTX read 1M cells with colour",
    count: ONE_MILLION,
    figure: (sample) => `${millions(sample, "cells")}, ${besides(sample)}`,
    targets: [lean],
    compare: USAGE,
  }),
  "pcd-write": writeJob("pcd", 15e6),
  "e57-write": writeJob("e57", 15e6),
  "pts-write": writeJob("pts", 5e6),
  "ptx-write": writeJob("ptx", 5e6),
};
