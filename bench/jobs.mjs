// Every job: how it is run once, what it must reach, which figures the baseline compares.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, nativeJob, plotFiles, scanFiles } from "./native.mjs";
import { cancel, create, exportLas, health, ready } from "./service-jobs.mjs";
import { edits, extractByColumn, journal, recovery } from "./session-jobs.mjs";

const ONE_MILLION = 1_000_000;
const TEN_MILLION = 10_000_000;
const FIFTY_MILLION = 50_000_000;
/** The targets are stated for two cores; more would flatter them. */
const THREADS = "2";
const USAGE = ["wall_s", "cpu_s", "peak_rss_mib"];
/** Memory that a run may keep or an export may add and still count as none: buffers, the heap of the runtime. */
const FLAT_MIB = 64;

/** Memory of a reader besides the columns it returns. */
const READER_MIB = 64;

const atMost = (figure, limit, text) => ({ text, met: (sample) => figure(sample) <= limit });
const atLeast = (figure, limit, text) => ({ text, met: (sample) => figure(sample) >= limit });
const wall = (sample) => sample.wall_s;
const rate = (sample) => sample.count / sample.wall_s;
const millions = (sample, what) => `${(rate(sample) / 1e6).toFixed(1)} M ${what}/s`;

async function octree(count) {
  const { las } = await plotFiles(count);
  const folder = mkdtempSync(join(dataFolder, "octree-"));
  try {
    return await nativeJob("octree", las, folder, THREADS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const columnsRatio = (sample) => sample.peak_rss_mib / sample.column_mib;
const columns = atMost(columnsRatio, 1.5, "RSS <= 1.5x columns");

const spare = (sample) => sample.peak_rss_mib - sample.column_mib;
const lean = atMost(spare, READER_MIB, `RSS <= columns + ${READER_MIB} MiB`);
const besides = (sample) => `+${spare(sample).toFixed(0)} MiB`;

const cloth = (resolution) => async () => nativeJob("cloth", (await plotFiles(TEN_MILLION)).las, resolution, THREADS);
const labels = (sample) =>
  `precision ${sample.precision.toFixed(3)}, recall ${sample.recall.toFixed(3)}, ${columnsRatio(sample).toFixed(2)}x columns`;

const once = (measure) => async (runs) => {
  const samples = [];
  for (let i = 0; i < runs; i += 1) samples.push(await measure());
  return samples;
};

/** A start is short: more of them make a steadier median. */
const starts = (command) => (runs) => once(() => ready(command))(Math.max(5, runs));
const readyJob = (title, command) => ({
  title,
  sample: starts(command),
  figure: (sample) => `${(sample.wall_s * 1000).toFixed(0)} ms`,
  compare: ["wall_s", "cpu_s"],
});

const scratchLaz = join(dataFolder, "scratch.laz");
const madeLaz = join(dataFolder, "plot_10M.laz");
/** The 10M plot as LAZ, made once. */
async function lazFile() {
  const { las } = await plotFiles(TEN_MILLION);
  if (!existsSync(madeLaz)) await nativeJob("write", las, madeLaz, THREADS);
  return madeLaz;
}

/** The same with one thread and with two: the second is the sample, `one_s` the time of the operation on one. */
async function onOneAndTwo(run) {
  const one = await run("1");
  return { ...(await run(THREADS)), one_s: one.op_s };
}
const oneCore = (sample) => sample.count / sample.one_s;
const scaling = (sample) => sample.one_s / sample.op_s;
const twice = atLeast(scaling, 1.9, ">= 1.9x with 2 threads");
const perCore = (sample) =>
  `${(oneCore(sample) / 1e6).toFixed(1)} M pts/s per core, ${scaling(sample).toFixed(2)}x on two`;

/** The 10M plot written in one format; the rate is that of the writing alone. */
const writeJob = (format, least) => ({
  title: `${format.toUpperCase()} write 10M`,
  count: TEN_MILLION,
  sample: once(async () => {
    const file = join(dataFolder, `scratch.${format}`);
    try {
      return await nativeJob("write", (await plotFiles(TEN_MILLION)).las, file, THREADS);
    } finally {
      rmSync(file, { force: true });
    }
  }),
  figure: (sample) => `${(written(sample) / 1e6).toFixed(1)} M pts/s, ${sample.scratch_mib.toFixed(0)} MiB of scratch`,
  targets: [
    atLeast(written, least, `>= ${least / 1e6} M pts/s`),
    atMost((sample) => sample.scratch_mib, 64, "<= 64 MiB of scratch"),
  ],
  compare: ["cpu_s"],
});
const written = (sample) => sample.count / sample.op_s;
/** Edits read their input first; only the operation itself (the median of five in one process) is the figure. */
const operation = (sample) => sample.op_s;
const editJob = (title, count, limit, run) => ({
  title,
  count,
  most: 1,
  sample: once(run),
  figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
  targets: [atMost(operation, limit, `<= ${limit} s`)],
  compare: ["op_cpu_s"],
});
const denoiseJob = (method, title, least) => ({
  title,
  count: TEN_MILLION,
  sample: once(async () => nativeJob("denoise", (await plotFiles(TEN_MILLION)).las, method, THREADS)),
  figure: (sample) => `${(written(sample) / 1e6).toFixed(1)} M pts/s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
  targets: [atLeast(written, least, `>= ${least / 1e6} M pts/s`)],
  compare: ["op_cpu_s", "peak_rss_mib"],
});
/** With the building of the tree: what an op waits for that asks for neighbours alone. */
const knnJob = (k, limit) => ({
  title: `${k} nearest of each of 10M points`,
  count: TEN_MILLION,
  sample: once(async () => nativeJob("knn", (await plotFiles(TEN_MILLION)).las, String(k), THREADS)),
  figure: (sample) =>
    `${operation(sample).toFixed(2)} s, tree ${sample.tree_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
  targets: limit ? [atMost(operation, limit, `<= ${limit} s`)] : [],
  compare: ["op_cpu_s", "peak_rss_mib"],
});
/** A point 1e7 m away among 1M: the criterion says what it does to the labels, nothing says that it may cost time. */
const farJob = (method) => ({
  title: `${method} of 1M with a point 1e7 m away`,
  count: ONE_MILLION,
  most: 1,
  sample: once(async () => nativeJob("denoise_far", (await plotFiles(ONE_MILLION)).las, method)),
  figure: (sample) => `${sample.ratio.toFixed(3)}x the CPU time without it`,
  targets: [atMost((sample) => sample.ratio, 1.1, "<= 1.1x")],
  compare: [],
});
const fiftyMillion = async () => (await plotFiles(FIFTY_MILLION)).las;

async function translate(count) {
  const { las } = await plotFiles(count);
  const folder = mkdtempSync(join(dataFolder, "translate-"));
  try {
    return await nativeJob("translate", las, folder, THREADS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const jobs = {
  ready: { ...readyJob("npm start to READY", ["npm", "start"]), targets: [atMost(wall, 1, "<= 1 s")] },
  "ready-node": { ...readyJob("node headless.js to READY"), targets: [] },
  text: {
    title: "text 10M x 7 columns",
    count: TEN_MILLION,
    sample: once(async () => nativeJob("text", (await plotFiles(TEN_MILLION, true)).txt, THREADS)),
    figure: (sample) => `${millions(sample, "rows")}, ${besides(sample)}`,
    targets: [atLeast(rate, 8e6, ">= 8 M rows/s"), lean],
    compare: USAGE,
  },
  las: {
    title: "LAS read 10M, all fields",
    count: TEN_MILLION,
    sample: once(async () => nativeJob("las", (await plotFiles(TEN_MILLION)).las, THREADS)),
    figure: (sample) => `${millions(sample, "pts")}, ${besides(sample)}`,
    targets: [atLeast(rate, 15e6, ">= 15 M pts/s"), lean],
    compare: USAGE,
  },
  "laz-write": {
    title: "LAZ encode 10M",
    count: TEN_MILLION,
    sample: once(async () =>
      onOneAndTwo(async (threads) => nativeJob("write", (await plotFiles(TEN_MILLION)).las, scratchLaz, threads)),
    ),
    figure: perCore,
    targets: [atLeast(oneCore, 4e6, ">= 4 M pts/s per core"), twice],
    compare: ["cpu_s"],
  },
  laz: {
    title: "LAZ decode 10M, all fields",
    count: TEN_MILLION,
    sample: once(async () => onOneAndTwo(async (threads) => nativeJob("las", await lazFile(), threads))),
    figure: (sample) => `${perCore(sample)}, ${besides(sample)}`,
    targets: [atLeast(oneCore, 3e6, ">= 3 M pts/s per core"), twice, lean],
    compare: ["cpu_s", "peak_rss_mib"],
  },
  "laz-xyz": {
    title: "LAZ decode 10M, xyz only",
    count: TEN_MILLION,
    sample: once(async () => onOneAndTwo(async (threads) => nativeJob("las", await lazFile(), threads, "xyz"))),
    figure: (sample) => `${perCore(sample)}, ${besides(sample)}`,
    targets: [atLeast(oneCore, 5.5e6, ">= 5.5 M pts/s per core"), lean],
    compare: ["cpu_s", "peak_rss_mib"],
  },
  e57: {
    title: "E57 read 1M, float xyz, intensity, colour",
    count: ONE_MILLION,
    sample: once(async () => nativeJob("e57", (await scanFiles(ONE_MILLION)).e57, THREADS)),
    figure: (sample) => `${millions(sample, "pts")}, ${besides(sample)}`,
    targets: [atLeast(rate, 8e6, ">= 8 M pts/s"), lean],
    compare: USAGE,
  },
  ptx: {
    title: "PTX read 1M cells with colour",
    count: ONE_MILLION,
    sample: once(async () => nativeJob("ptx", (await scanFiles(ONE_MILLION)).ptx, THREADS)),
    figure: (sample) => `${millions(sample, "cells")}, ${besides(sample)}`,
    targets: [lean],
    compare: USAGE,
  },
  "pcd-write": writeJob("pcd", 15e6),
  "pts-write": writeJob("pts", 5e6),
  "ptx-write": writeJob("ptx", 5e6),
  octree: {
    title: "octree 10M",
    count: TEN_MILLION,
    sample: once(() => octree(TEN_MILLION)),
    figure: (sample) => `${millions(sample, "pts")}, ${columnsRatio(sample).toFixed(2)}x columns`,
    targets: [atMost(wall, 4.5, "<= 4.5 s"), atMost((sample) => sample.cpu_s, 7, "<= 7 CPU-s"), columns],
    compare: USAGE,
  },
  "octree-50m": {
    title: "octree 50M",
    count: FIFTY_MILLION,
    most: 1,
    sample: once(() => octree(FIFTY_MILLION)),
    figure: (sample) => `${millions(sample, "pts")}, ${columnsRatio(sample).toFixed(2)}x columns`,
    targets: [atMost(wall, 30, "<= 30 s"), columns],
    compare: USAGE,
  },
  "select-box": editJob("select 50M by a box", FIFTY_MILLION, 0.3, async () =>
    nativeJob("select", await fiftyMillion(), "box", THREADS),
  ),
  "select-lasso": editJob("select 50M by a lasso of 500 points", FIFTY_MILLION, 0.6, async () =>
    nativeJob("select", await fiftyMillion(), "polygon", THREADS),
  ),
  "select-brush": editJob("select 50M by 4000 squares", FIFTY_MILLION, 0.6, async () =>
    nativeJob("select", await fiftyMillion(), "squares", THREADS),
  ),
  compact: editJob("drop half of 50M, 55 bytes a row", FIFTY_MILLION, 0.6, async () =>
    nativeJob("compact", await fiftyMillion(), THREADS),
  ),
  paint: editJob("paint 1M of 50M labels", FIFTY_MILLION, 0.3, () =>
    nativeJob("paint", String(FIFTY_MILLION), THREADS),
  ),
  dem: {
    title: "DEM of 10M at 0.25 m, 4M cells",
    count: TEN_MILLION,
    sample: once(() => nativeJob("dem", String(TEN_MILLION), THREADS)),
    figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.populated} cells with points`,
    targets: [atMost((sample) => sample.op_s, 1.5, "<= 1.5 s")],
    compare: USAGE,
  },
  translate: editJob("move an octree of 50M, 28 bytes a point", FIFTY_MILLION, 2, () => translate(FIFTY_MILLION)),
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
  "cloth-fine": {
    title: "cloth 0.1 m, 10M",
    count: TEN_MILLION,
    sample: once(cloth("0.1")),
    figure: labels,
    targets: [
      atMost(wall, 2, "<= 2.0 s"),
      atMost((sample) => sample.cpu_s, 3.5, "<= 3.5 CPU-s"),
      atMost(columnsRatio, 1.3, "RSS <= 1.3x columns"),
    ],
    compare: USAGE,
  },
  "cloth-coarse": {
    title: "cloth 0.5 m, 10M",
    count: TEN_MILLION,
    sample: once(cloth("0.5")),
    figure: labels,
    targets: [atMost(columnsRatio, 1.3, "RSS <= 1.3x columns")],
    compare: USAGE,
  },
  create: {
    title: "session/create of 10M LAS",
    count: TEN_MILLION,
    sample: once(async () => create((await plotFiles(TEN_MILLION)).las, TEN_MILLION)),
    figure: (sample) => millions(sample, "pts"),
    targets: [atMost(wall, 8, "<= 8 s")],
    compare: USAGE,
  },
  "create-laz": {
    title: "session/create of 10M LAZ",
    count: TEN_MILLION,
    sample: once(async () => create(await lazFile(), TEN_MILLION)),
    figure: (sample) => millions(sample, "pts"),
    targets: [atMost(wall, 9, "<= 9 s")],
    compare: USAGE,
  },
  export: {
    title: "export 10M to LAS",
    count: TEN_MILLION,
    sample: (runs) => exportLas(TEN_MILLION, runs),
    figure: (sample) => `${millions(sample, "pts")}, +${sample.anon_growth_mib.toFixed(0)} MiB`,
    targets: [atLeast(rate, 5e6, ">= 5 M pts/s"), atMost((sample) => sample.anon_growth_mib, FLAT_MIB, "memory flat")],
    compare: USAGE,
  },
  edits: {
    title: "edits of a 50M session",
    count: FIFTY_MILLION,
    most: 1,
    sample: once(() => edits(FIFTY_MILLION)),
    figure: (sample) =>
      ["delete_box", "delete_polygon", "reset_50", "label", "translate", "bake"]
        .map((name) => `${name} ${sample[`${name}_s`].toFixed(2)} s`)
        .join(", "),
    targets: [
      atMost((sample) => sample.delete_box_s, 0.3, "box <= 0.3 s"),
      atMost((sample) => sample.delete_polygon_s, 0.6, "polygon <= 0.6 s"),
      atMost((sample) => sample.reset_50_s, 0.5, "reset <= 0.5 s"),
      atMost((sample) => sample.label_s, 0.5, "stroke <= 0.5 s"),
      atMost((sample) => sample.translate_s, 2, "translation <= 2 s"),
      atMost((sample) => sample.bake_s - sample.rebuild_s, 1.5, "bake <= octree + 1.5 s"),
      atMost((sample) => sample.peak_rss_mib / sample.column_mib, 2, "RSS <= 2x columns"),
    ],
    compare: ["delete_box_s", "delete_polygon_s", "reset_50_s", "label_s", "translate_s", "bake_s", "peak_rss_mib"],
  },
  extract: {
    title: "10M points into 100 clouds",
    count: TEN_MILLION,
    most: 1,
    sample: once(() => extractByColumn(TEN_MILLION)),
    figure: (sample) => `${(sample.wall_s / sample.octree_s).toFixed(2)}x one octree`,
    targets: [atMost((sample) => sample.wall_s / sample.octree_s, 1.3, "<= 1.3x one octree")],
    compare: USAGE,
  },
  journal: {
    title: "journal of a 10M session",
    count: TEN_MILLION,
    sample: once(() => journal(TEN_MILLION)),
    figure: (sample) =>
      `create +${(100 * sample.create_share).toFixed(0)} %, edit ${sample.edit_ms.toFixed(1)} ms beside ${sample.edit_without_ms.toFixed(1)} ms`,
    targets: [
      atMost((sample) => sample.create_share, 0.15, "create <= +15 %"),
      atMost((sample) => sample.edit_ms - sample.edit_without_ms, 5, "edit <= +5 ms"),
    ],
    compare: ["edit_ms"],
  },
  recovery: {
    title: "ten 5M sessions after kill -9",
    count: 5_000_000,
    most: 1,
    sample: once(() => recovery(5_000_000, 10)),
    figure: (sample) =>
      `READY ${sample.wall_s.toFixed(2)} s, first touch at most ${sample.first_touch_max_s.toFixed(2)} s`,
    targets: [
      atMost(wall, 2, "READY <= 2 s"),
      atMost((sample) => sample.first_touch_max_s, 0.5, "first touch <= 0.5 s"),
    ],
    compare: ["wall_s", "first_touch_max_s"],
  },
  health: {
    title: "/health while a 50M octree builds",
    count: FIFTY_MILLION,
    most: 1,
    sample: once(() => health(FIFTY_MILLION)),
    figure: (sample) => `p99 ${sample.octree_p99_ms} ms, max ${sample.octree_max_ms} ms`,
    targets: [atMost((sample) => sample.octree_p99_ms, 50, "p99 <= 50 ms")],
    compare: ["octree_p99_ms"],
  },
  cancel: {
    title: "cancel, worst of nine places",
    count: TEN_MILLION,
    sample: once(() => cancel(TEN_MILLION)),
    figure: (sample) => `${sample.worst_ms.toFixed(0)} ms, ${sample.kept_mib.toFixed(0)} MiB kept`,
    targets: [
      atMost((sample) => sample.worst_ms, 250, "<= 250 ms"),
      atMost((sample) => sample.kept_mib, FLAT_MIB, "memory back in 1 s"),
    ],
    compare: ["worst_ms"],
  },
};
