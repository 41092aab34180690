// Project files in the running service.
import { ONE_MILLION, TEN_MILLION } from "../inputs.ts";
import { atMost, defineJob, defineJobOfRuns } from "../job.ts";
import { project, projectSize } from "../project-jobs.ts";

const MOST_MIB = 256;

export const projectJobs = {
  project: defineJobOfRuns((runs: number) => project(TEN_MILLION, runs), {
    title: "save and open a 10M session with 8 scalar columns",
    count: TEN_MILLION,
    figure: (sample) =>
      `save ${sample.save_mb_s.toFixed(0)} MB/s, ${sample.save_cpu_s.toFixed(1)} CPU-s, +${sample.save_memory_mib.toFixed(0)} MiB; open ${sample.open_mb_s.toFixed(0)} MB/s, ${sample.open_cpu_s.toFixed(1)} CPU-s, +${sample.open_memory_mib.toFixed(0)} MiB; disk ${sample.disk_mb_s.toFixed(0)} MB/s`,
    targets: [
      {
        text: "save >= 250 MB/s or 90 % of the disk",
        met: (sample) =>
          sample.save_mb_s >= 250 || sample.packed_mib / sample.save_s >= (0.9 * sample.disk_mb_s * 1e6) / 2 ** 20,
      },
      {
        text: "open >= 1 GB/s or 90 % of the disk",
        met: (sample) => sample.open_mb_s >= Math.min(1000, 0.9 * sample.disk_mb_s),
      },
      atMost((sample) => sample.save_memory_mib, MOST_MIB, `save: at most +${MOST_MIB} MiB`),
      atMost((sample) => sample.open_memory_mib, MOST_MIB, `open: at most +${MOST_MIB} MiB`),
    ],
    compare: ["save_cpu_s", "open_cpu_s"],
  }),
  "project-size": defineJob(() => projectSize(ONE_MILLION), {
    title: "columns of a project beside zlib level 1 with the best filter per column",
    count: ONE_MILLION,
    most: 1,
    figure: (sample) =>
      `${sample.packed_mib.toFixed(1)} MiB of ${sample.raw_mib.toFixed(1)}, zlib ${sample.zlib_mib.toFixed(1)}`,
    targets: [atMost((sample) => sample.packed_mib / sample.zlib_mib, 1.01, "at most zlib + 1 %")],
    compare: ["packed_mib"],
  }),
};
