// Synthetic scans through the running service.
import { atLeast, atMost, defineJob } from "../job.ts";
import { scanAnswers } from "../lidar-jobs.ts";

const MILLION = 1e6;

const scanJob = (triangles: number, limit_s: number) =>
  defineJob(() => scanAnswers({ triangles, pulses: 2 * MILLION, rays: 1 }), {
    title: `scan of 2M pulses, ${triangles / MILLION}M triangles, with session and octree`,
    count: 2 * MILLION,
    figure: ({ answer_s, answer_cpu_s, points }) =>
      `${answer_s.toFixed(2)} s, ${answer_cpu_s.toFixed(2)} CPU-s, ${(points / MILLION).toFixed(2)}M points`,
    targets: [atMost((sample) => sample.answer_s, limit_s, `<= ${limit_s} s`)],
    compare: ["answer_cpu_s"],
  });

export const lidarJobs = {
  "scan-200k": scanJob(0.2 * MILLION, 0.6),
  "scan-1m": scanJob(MILLION, 1.9),
  "scan-rays": defineJob(() => scanAnswers({ triangles: 0.2 * MILLION, pulses: 80_000, rays: 100 }), {
    title: "scan of 80k pulses of 100 rays, 0.2M triangles, with session and octree",
    count: 8 * MILLION,
    figure: ({ answer_s, answer_cpu_s, count }) =>
      `${(count / answer_s / MILLION).toFixed(1)} M rays/s, ${answer_cpu_s.toFixed(2)} CPU-s`,
    targets: [atLeast(({ count, answer_s }) => count / answer_s, 10 * MILLION, ">= 10 M rays/s")],
    compare: ["answer_cpu_s"],
  }),
};
