// The running service: start, import, export, answers under load, cancel.
import { cancel } from "../cancel-jobs.ts";
import { firstPicture } from "../first-picture.ts";
import { FIFTY_MILLION, lazFile, plotFiles, TEN_MILLION } from "../inputs.ts";
import { atLeast, atMost, defineJob, defineJobOfRuns, FLAT_MIB, millions, rate, USAGE, wall } from "../job.ts";
import type { ProcessFigures } from "../native.ts";
import { create, exportLas, health, ready } from "../service-jobs.ts";

const READY = {
  figure: (sample: { readonly wall_s: number }) => `${(sample.wall_s * 1000).toFixed(0)} ms`,
  compare: ["wall_s", "cpu_s"],
} as const;
/** A start is short: more of them make a steadier median. */
const starts = (command?: readonly string[]) => async (runs: number) => {
  const samples: ProcessFigures[] = [];
  for (let i = 0; i < Math.max(5, runs); i += 1) samples.push(await ready(command));
  return samples;
};

export const startJobs = {
  ready: defineJobOfRuns(starts(["npm", "start"]), {
    ...READY,
    title: "npm start to READY",
    targets: [atMost(wall, 1, "<= 1 s")],
  }),
  "ready-node": defineJobOfRuns(starts(), { ...READY, title: "node headless.js to READY", targets: [] }),
};

export const serviceJobs = {
  create: defineJob(async () => create((await plotFiles(TEN_MILLION)).las, TEN_MILLION), {
    title: "session/create of 10M LAS",
    count: TEN_MILLION,
    figure: (sample) => millions(sample, "pts"),
    targets: [atMost(wall, 8, "<= 8 s")],
    compare: USAGE,
  }),
  "create-laz": defineJob(async () => create(await lazFile(), TEN_MILLION), {
    title: "session/create of 10M LAZ",
    count: TEN_MILLION,
    figure: (sample) => millions(sample, "pts"),
    targets: [atMost(wall, 9, "<= 9 s")],
    compare: USAGE,
  }),
  "first-picture": defineJob(async () => firstPicture(await lazFile(), TEN_MILLION), {
    title: "first picture of 10M LAZ in the window",
    count: TEN_MILLION,
    figure: (sample) =>
      [
        `start ${sample.ready_s.toFixed(2)} s, page ${sample.page_s.toFixed(2)} s, session ${sample.session_s.toFixed(2)} s`,
        `first points ${sample.first_s.toFixed(2)} s, all ${(sample.visible_points / 1e6).toFixed(2)}M ${sample.complete_s.toFixed(2)} s`,
        `turning ${sample.turning_fps} frames/s with ${(sample.turning_points / 1e6).toFixed(2)}M points (software)`,
      ].join("; "),
    targets: [atMost((sample) => sample.first_s, 1, "first points <= 1 s after the session")],
    compare: ["session_s", "first_s", "complete_s"],
  }),
  export: defineJobOfRuns((runs: number) => exportLas(TEN_MILLION, runs), {
    title: "export 10M to LAS",
    count: TEN_MILLION,
    figure: (sample) => `${millions(sample, "pts")}, +${sample.anon_growth_mib.toFixed(0)} MiB`,
    targets: [atLeast(rate, 5e6, ">= 5 M pts/s"), atMost((sample) => sample.anon_growth_mib, FLAT_MIB, "memory flat")],
    compare: USAGE,
  }),
  health: defineJob(() => health(FIFTY_MILLION), {
    title: "/health while a 50M octree builds",
    count: FIFTY_MILLION,
    most: 1,
    figure: (sample) => `p99 ${sample.octree_p99_ms} ms, max ${sample.octree_max_ms} ms`,
    targets: [atMost((sample) => sample.octree_p99_ms, 50, "p99 <= 50 ms")],
    compare: ["octree_p99_ms"],
  }),
  cancel: defineJob(() => cancel(TEN_MILLION), {
    title: "cancel, worst of nine places",
    count: TEN_MILLION,
    figure: (sample) => `${sample.worst_ms.toFixed(0)} ms, ${sample.kept_mib.toFixed(0)} MiB kept`,
    targets: [
      atMost((sample) => sample.worst_ms, 250, "<= 250 ms"),
      atMost((sample) => sample.kept_mib, FLAT_MIB, "memory back in 1 s"),
    ],
    compare: ["worst_ms"],
  }),
};
