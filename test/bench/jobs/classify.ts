// Noise and ground.
import { ONE_MILLION, plotFiles, TEN_MILLION } from "../inputs.ts";
import { atLeast, atMost, columnsRatio, defineJob, operationRate, USAGE, wall } from "../job.ts";
import { type Figures, nativeJob, THREADS } from "../native.ts";

const denoiseJob = (method: string, title: string, least: number) =>
  defineJob(
    async () =>
      nativeJob(["count", "op_s", "op_cpu_s"], "denoise", (await plotFiles(TEN_MILLION)).las, method, THREADS),
    {
      title,
      count: TEN_MILLION,
      figure: (sample) => `${(operationRate(sample) / 1e6).toFixed(1)} M pts/s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
      targets: [atLeast(operationRate, least, `>= ${least / 1e6} M pts/s`)],
      compare: ["op_cpu_s", "peak_rss_mib"],
    },
  );

/** Includes building the tree: what an op that asks only for neighbours takes. */
const knnJob = (k: number, limit?: number) =>
  defineJob(
    async () =>
      nativeJob(["op_s", "op_cpu_s", "tree_s"], "knn", (await plotFiles(TEN_MILLION)).las, String(k), THREADS),
    {
      title: `${k} nearest of each of 10M points`,
      count: TEN_MILLION,
      figure: (sample) =>
        `${sample.op_s.toFixed(2)} s, tree ${sample.tree_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
      targets: limit === undefined ? [] : [atMost((sample) => sample.op_s, limit, `<= ${limit} s`)],
      compare: ["op_cpu_s", "peak_rss_mib"],
    },
  );

/** A point 1e7 m away among 1M: the criterion says what it does to the labels, nothing says that it may cost time. */
const farJob = (method: string) =>
  defineJob(async () => nativeJob(["ratio"], "denoise_far", (await plotFiles(ONE_MILLION)).las, method), {
    title: `${method} of 1M with a point 1e7 m away`,
    count: ONE_MILLION,
    most: 1,
    figure: (sample) => `${sample.ratio.toFixed(3)}x the CPU time without it`,
    targets: [atMost((sample) => sample.ratio, 1.1, "<= 1.1x")],
    compare: [],
  });

const cloth = (resolution: string) => async () =>
  nativeJob(["column_mib", "precision", "recall"], "cloth", (await plotFiles(TEN_MILLION)).las, resolution, THREADS);
const labels = (sample: Figures<"column_mib" | "precision" | "recall">) =>
  `precision ${sample.precision.toFixed(3)}, recall ${sample.recall.toFixed(3)}, ${columnsRatio(sample).toFixed(2)}x columns`;
const memory = atMost(columnsRatio, 1.3, "RSS <= 1.3x columns");

/** Clouds on lines, planes and grids, in few places, with a far point: the same op on the same number of points. */
const shapes = () => nativeJob(["worst_exponent", "worst_factor"], "shapes", "100000");

/** Every op, reader and writer on the inputs that are worst for it; the exponent less what its header states beyond 1. */
const costs = () => nativeJob(["cases", "worst_exponent", "worst_factor"], "costs");

export const classifyJobs = {
  costs: defineJob(costs, {
    title: "ops, readers and writers for n and 4 n, one thread",
    count: 0,
    most: 1,
    figure: (sample) =>
      `${sample.cases} cases: CPU time grows with the power ${sample.worst_exponent.toFixed(2)} at most, ${sample.worst_factor.toFixed(1)}x that of the first input`,
    targets: [
      atMost((sample) => sample.worst_exponent, 1.3, "exponent <= 1.3"),
      atMost((sample) => sample.worst_factor, 4, "<= 4x the first input"),
    ],
    compare: [],
  }),
  shapes: defineJob(shapes, {
    title: "15 ops on clouds of 13 shapes, 100 000 and 400 000 points, one thread",
    count: 100_000,
    most: 1,
    figure: (sample) =>
      `CPU time grows with the power ${sample.worst_exponent.toFixed(2)} of the points at most, ${sample.worst_factor.toFixed(1)}x that of a random volume`,
    targets: [
      atMost((sample) => sample.worst_exponent, 1.3, "exponent <= 1.3"),
      atMost((sample) => sample.worst_factor, 4, "<= 4x a random volume"),
    ],
    compare: [],
  }),
  ror: denoiseJob("ror", "radius outlier of 10M, radius from the spacing", 4e6),
  "ror-tiled": denoiseJob("ror_tiled", "the same by tiles of 3M", 4e6),
  voxel_count: denoiseJob("voxel_count", "voxel count of 10M, 10 cm", 25e6),
  sor: denoiseJob("sor", "statistical outlier of 10M, k = 16", 2.85e6),
  "noise-auto": denoiseJob("auto", "small clusters of 10M", 2.5e6),
  "knn-16": knnJob(16, 3),
  "knn-64": knnJob(64),
  "ror-far": farJob("ror"),
  "ror-tiled-far": farJob("ror_tiled"),
  "voxel_count-far": farJob("voxel_count"),
  "sor-far": farJob("sor"),
  "noise-auto-far": farJob("auto"),
  "cloth-fine": defineJob(cloth("0.1"), {
    title: "cloth 0.1 m, 10M",
    count: TEN_MILLION,
    figure: labels,
    targets: [atMost(wall, 2, "<= 2.0 s"), atMost((sample) => sample.cpu_s, 3.5, "<= 3.5 CPU-s"), memory],
    compare: USAGE,
  }),
  "cloth-coarse": defineJob(cloth("0.5"), {
    title: "cloth 0.5 m, 10M",
    count: TEN_MILLION,
    figure: labels,
    targets: [memory],
    compare: USAGE,
  }),
};
