// Individual trees.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DATA } from "../../support/scans/data-folder.ts";
import { ONE_MILLION, plotFiles, TEN_MILLION } from "../inputs.ts";
import { atLeast, atMost, defineJob, type Job, USAGE } from "../job.ts";
import { nativeJob, THREADS } from "../native.ts";

const TREES = 1_000;
const TREE_POINTS = 20_000;
const LEAVES = 100_000;
/** The time of a cell grows with the square of its leaves and more: cells of leaves, and doubled. */
const LEAVES_PER_CELL = [500, 1_000] as const;
const STEMS = 1_000_000;
/** Of the plot, millions: the growth from one to the next shows. */
const DOUBLED_MILLIONS = [2.5, 5, 10] as const;

/** The plot of the paper's authors: 1.54M points of lodgepole pines, no ground. */
const PINES = join(DATA, "trees_tls/treeiso_LPine1_demo.laz");

const FIGURES = ["op_s", "op_cpu_s", "trees", "purity"] as const;

export const treeJobs: Readonly<Record<string, Job>> = {
  "tree-list": defineJob(
    () => nativeJob(["op_s", "with_diameter"], "trees", String(TREES), String(TEN_MILLION), THREADS),
    {
      title: "inventory of 1000 trees, 10M points",
      count: TEN_MILLION,
      figure: (sample) => `${sample.op_s.toFixed(1)} s, ${sample.with_diameter} diameters`,
      targets: [atMost((sample) => sample.op_s, 20, "<= 20 s")],
      compare: USAGE,
    },
  ),
  "tree-qsm": defineJob(
    () => nativeJob(["op_s", "op_cpu_s", "modelled"], "model-trees", String(TREES), String(TREE_POINTS), THREADS),
    {
      title: "models of the wood of 1000 trees of 20k points, side by side",
      count: TREES * TREE_POINTS,
      most: 2,
      figure: (sample) => `${sample.op_s.toFixed(1)} s, ${sample.op_cpu_s.toFixed(1)} CPU-s, ${sample.modelled} models`,
      targets: [
        atMost((sample) => sample.op_s, 60, "<= 60 s"),
        atLeast((sample) => sample.modelled, TREES, "every tree"),
      ],
      compare: ["op_cpu_s", "peak_rss_mib"],
    },
  ),
  ...Object.fromEntries(
    LEAVES_PER_CELL.map((per_cell) => [
      `leaf-angles-${per_cell}`,
      defineJob(
        () => nativeJob(["op_s", "op_cpu_s", "turned"], "turn-leaves", String(LEAVES), String(per_cell), THREADS),
        {
          title: `angles of 100k leaves adjusted, ${per_cell} a cell`,
          count: LEAVES,
          figure: (sample) =>
            `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.turned} turned`,
          targets: [atMost((sample) => sample.op_s, 10, "<= 10 s")],
          compare: ["op_cpu_s", "peak_rss_mib"],
        },
      ),
    ]),
  ),
  competition: defineJob(() => nativeJob(["op_s"], "competition", String(STEMS), THREADS), {
    title: "Hegyi's indices of 1M stems within 10 m",
    count: STEMS,
    figure: (sample) => `${sample.op_s.toFixed(2)} s`,
    targets: [atMost((sample) => sample.op_s, 1.5, "<= 1.5 s")],
    compare: USAGE,
  }),
  ...Object.fromEntries(
    [1, 2, 5, 10].map((millions) => [
      `skeleton-${millions}m`,
      defineJob(
        () => nativeJob(["op_s", "op_cpu_s", "bytes_per_point"], "skeleton", String(millions * ONE_MILLION), THREADS),
        {
          title: `skeleton of ${millions}M points of a tree`,
          count: millions * ONE_MILLION,
          figure: (sample) =>
            `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.bytes_per_point.toFixed(0)} bytes per point`,
          targets: [
            atMost((sample) => sample.op_s, 4 * millions, `<= ${4 * millions} s`),
            atMost((sample) => sample.bytes_per_point, 250, "<= 250 bytes per point"),
          ],
          compare: ["op_cpu_s", "peak_rss_mib"],
        },
      ),
    ]),
  ),
  ...Object.fromEntries(
    [1, 2, 4, 10].map((millions) => [
      `qsm-${millions}m`,
      defineJob(
        () => nativeJob(["op_s", "op_cpu_s", "bytes_per_point"], "build-qsm", String(millions * ONE_MILLION), THREADS),
        {
          title: `model of ${millions}M points of a tree`,
          count: millions * ONE_MILLION,
          most: 2,
          figure: (sample) =>
            `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.bytes_per_point.toFixed(0)} bytes per point`,
          targets: [
            atMost(
              (sample) => sample.op_s,
              millions < 10 ? 10 * millions : 90,
              `<= ${millions < 10 ? 10 * millions : 90} s`,
            ),
            atMost((sample) => sample.bytes_per_point, 250, "<= 250 bytes per point"),
          ],
          compare: ["op_cpu_s", "peak_rss_mib"],
        },
      ),
    ]),
  ),
  ...Object.fromEntries(
    (["sota", "geometric"] as const).map((method) => [
      `wood-${method}`,
      defineJob(() => nativeJob(["op_s", "op_cpu_s", "point_bytes"], "wood", String(ONE_MILLION), method, THREADS), {
        title: `wood and leaves of a tree of 1M points, method ${method}`,
        count: ONE_MILLION,
        figure: (sample) =>
          `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.point_bytes.toFixed(0)} bytes a point`,
        targets: [
          atMost((sample) => sample.op_s, 5, "<= 5 s"),
          atMost((sample) => sample.point_bytes, 400, "<= 400 bytes a point"),
        ],
        compare: ["op_cpu_s", "peak_rss_mib"],
      }),
    ]),
  ),
  ...Object.fromEntries(
    DOUBLED_MILLIONS.flatMap((millions) => {
      const points = String(millions * ONE_MILLION);
      const figures = ["op_s", "op_cpu_s", "found", "column_ratio"] as const;
      const [seconds, least] = [6 * millions, 40];
      return [
        [
          `trees-auto-${millions}m`,
          defineJob(() => nativeJob(figures, "path-trees", points, THREADS), {
            title: `trees by paths of a plot of ${millions}M points`,
            count: millions * ONE_MILLION,
            most: 2,
            figure: (sample) =>
              `${sample.op_s.toFixed(1)} s, ${sample.op_cpu_s.toFixed(1)} CPU-s, ${sample.found} trees, ${sample.column_ratio.toFixed(2)}x the columns`,
            targets: [
              atMost((sample) => sample.op_s, seconds, `<= ${seconds} s`),
              atMost((sample) => sample.column_ratio, 3, "<= 3x the columns"),
              atLeast((sample) => sample.found, least, "40 trees"),
            ],
            compare: ["op_cpu_s", "peak_rss_mib"],
          }),
        ],
        [
          `stems-${millions}m`,
          defineJob(() => nativeJob(figures, "find-stems", points, THREADS), {
            title: `stems of a plot of ${millions}M points`,
            count: millions * ONE_MILLION,
            figure: (sample) =>
              `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.found} stems, ${sample.column_ratio.toFixed(2)}x the columns`,
            targets: [
              atMost((sample) => sample.op_s, millions, `<= ${millions} s`),
              atLeast((sample) => sample.found, least, "40 stems"),
            ],
            compare: ["op_cpu_s", "peak_rss_mib"],
          }),
        ],
      ];
    }),
  ),
  "trees-cut-pursuit": defineJob(
    async () => nativeJob(FIGURES, "segment-trees", (await plotFiles(ONE_MILLION)).las, THREADS),
    {
      title: "cut-pursuit trees of the vegetation of a 1M plot, voxels of 5 and 10 cm",
      count: 610_000,
      figure: (sample) =>
        `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.trees} trees, purity ${sample.purity.toFixed(3)}`,
      targets: [
        atMost((sample) => sample.op_s, 6, "<= 6 s"),
        atLeast((sample) => sample.purity, 0.97, "purity >= .97"),
      ],
      compare: ["op_cpu_s", "peak_rss_mib"],
    },
  ),
  ...(existsSync(PINES)
    ? {
        "trees-pines": defineJob(() => nativeJob(FIGURES, "segment-trees", PINES, THREADS), {
          title: "cut-pursuit trees of 1.54M points of lodgepole pines",
          count: 1_544_202,
          figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s, ${sample.trees} trees`,
          targets: [atMost((sample) => sample.op_s, 8, "<= 8 s")],
          compare: ["op_cpu_s", "peak_rss_mib"],
        }),
      }
    : {}),
};
