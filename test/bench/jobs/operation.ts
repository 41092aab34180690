import { atMost, defineJob } from "../job.ts";
import type { Figures } from "../native.ts";

export const OPERATION = ["op_s", "op_cpu_s"] as const;

/** A job that reads its input first: only the operation itself (the median of five in one process) is the figure. */
export const operationJob = (
  title: string,
  count: number,
  limit: number,
  run: () => Promise<Figures<"op_s" | "op_cpu_s">>,
) =>
  defineJob(run, {
    title,
    count,
    most: 1,
    figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
    targets: [atMost((sample) => sample.op_s, limit, `<= ${limit} s`)],
    compare: ["op_cpu_s"],
  });
