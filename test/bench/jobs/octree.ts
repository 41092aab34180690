// Octrees: built, moved.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../folders.ts";
import { FIFTY_MILLION, plotFiles, TEN_MILLION } from "../inputs.ts";
import { atMost, columnsRatio, defineJob, millions, USAGE, wall } from "../job.ts";
import { nativeJob, THREADS } from "../native.ts";
import { operationJob } from "./operation.ts";

/** Runs a job on the plot in a folder of its own. */
async function inFolder<Name extends string>(names: readonly Name[], job: string, count: number) {
  const { las } = await plotFiles(count);
  const folder = mkdtempSync(join(dataFolder, `${job}-`));
  try {
    return await nativeJob(names, job, las, folder, THREADS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const octree = (count: number) => inFolder(["count", "op_s", "column_mib"], "octree", count);
const columns = atMost(columnsRatio, 1.5, "RSS <= 1.5x columns");

export const octreeJobs = {
  octree: defineJob(() => octree(TEN_MILLION), {
    title: "octree 10M",
    count: TEN_MILLION,
    figure: (sample) => `${millions(sample, "pts")}, ${columnsRatio(sample).toFixed(2)}x columns`,
    targets: [atMost(wall, 4.5, "<= 4.5 s"), atMost((sample) => sample.cpu_s, 7, "<= 7 CPU-s"), columns],
    compare: USAGE,
  }),
  "octree-50m": defineJob(() => octree(FIFTY_MILLION), {
    title: "octree 50M",
    count: FIFTY_MILLION,
    most: 1,
    figure: (sample) => `${millions(sample, "pts")}, ${columnsRatio(sample).toFixed(2)}x columns`,
    targets: [atMost(wall, 30, "<= 30 s"), columns],
    compare: USAGE,
  }),
  translate: operationJob("move an octree of 50M, 28 bytes a point", FIFTY_MILLION, 2, () =>
    inFolder(["op_s", "op_cpu_s"], "translate", FIFTY_MILLION),
  ),
};
