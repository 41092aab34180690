// Individual trees.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DATA } from "../../support/scans/data-folder.ts";
import { ONE_MILLION, plotFiles } from "../inputs.ts";
import { atLeast, atMost, defineJob, type Job } from "../job.ts";
import { nativeJob, THREADS } from "../native.ts";

/** The plot of the paper's authors: 1.54M points of lodgepole pines, no ground. */
const PINES = join(DATA, "trees_tls/treeiso_LPine1_demo.laz");

const FIGURES = ["op_s", "op_cpu_s", "trees", "purity"] as const;

export const treeJobs: Readonly<Record<string, Job>> = {
  "trees-cut-pursuit": defineJob(async () => nativeJob(FIGURES, "trees", (await plotFiles(ONE_MILLION)).las, THREADS), {
    title: "cut-pursuit trees of the vegetation of a 1M plot, voxels of 5 and 10 cm",
    count: 610_000,
    figure: (sample) =>
      `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.trees} trees, purity ${sample.purity.toFixed(3)}`,
    targets: [atMost((sample) => sample.op_s, 6, "<= 6 s"), atLeast((sample) => sample.purity, 0.97, "purity >= .97")],
    compare: ["op_cpu_s", "peak_rss_mib"],
  }),
  ...(existsSync(PINES)
    ? {
        "trees-pines": defineJob(() => nativeJob(FIGURES, "trees", PINES, THREADS), {
          title: "cut-pursuit trees of 1.54M points of lodgepole pines",
          count: 1_544_202,
          figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.trees} trees`,
          targets: [atMost((sample) => sample.op_s, 8, "<= 8 s")],
          compare: ["op_cpu_s", "peak_rss_mib"],
        }),
      }
    : {}),
};
