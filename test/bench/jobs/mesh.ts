import { atLeast, atMost, defineJob, type Target, USAGE } from "../job.ts";
import { passiveJob, THREADS } from "../native.ts";

const MILLION = 1_000_000;

interface Compared {
  readonly embree: number;
  readonly build_ratio: number;
  readonly closest_ratio: number;
  readonly ray_ratio: number;
}

/** Not met without Embree: then nothing was compared. */
const compared = ({ text, met }: Target<Compared>): Target<Compared> => ({
  text,
  met: (sample) => sample.embree === 1 && met(sample),
});

const meshJob = (triangles: number, words: string) =>
  defineJob(
    () =>
      passiveJob(
        [
          "build_s",
          "build_cpu_s",
          "closest_cpu_ns",
          "ray_cpu_ns",
          "embree",
          "build_ratio",
          "closest_ratio",
          "ray_ratio",
        ],
        "mesh",
        String(triangles),
        THREADS,
      ),
    {
      title: `tree of ${words} triangles, closest points, rays`,
      count: triangles,
      figure: (sample) =>
        `build ${sample.build_cpu_s.toFixed(2)} CPU-s, ${sample.closest_cpu_ns.toFixed(0)} ns a point, ${sample.ray_cpu_ns.toFixed(0)} ns a ray` +
        (sample.embree === 1
          ? `; Embree: build ${sample.build_ratio.toFixed(2)}x its time, points ${sample.closest_ratio.toFixed(2)}x, rays ${sample.ray_ratio.toFixed(2)}x the rate of its packets`
          : "; Embree is not installed (libembree-dev)"),
      targets: [
        compared(atMost((sample) => sample.build_ratio, 1.5, "build <= 1.5x Embree")),
        compared(atLeast((sample) => sample.closest_ratio, 1, "points >= Embree")),
        compared(atLeast((sample) => sample.ray_ratio, 0.8, "rays >= 0.8x Embree's packets of 16")),
      ],
      compare: ["build_cpu_s", "closest_cpu_ns", "ray_cpu_ns"],
    },
  );

interface RayFigures {
  readonly unequal: number;
}

const rayJob = (rays: string, words: string) =>
  defineJob(
    () =>
      passiveJob(
        ["embree", "ray_ns", "single_ray_ns", "unequal", "packet_ratio", "single_ratio"],
        "rays",
        String(MILLION),
        rays,
      ),
    {
      title: `${words} among 1M triangles, one thread`,
      count: 2 * MILLION,
      figure: (sample) =>
        `${sample.ray_ns.toFixed(0)} ns a ray, one by one ${sample.single_ray_ns.toFixed(0)}` +
        (sample.embree === 1
          ? `; ${sample.packet_ratio.toFixed(2)}x the rate of Embree's packets, one by one ${sample.single_ratio.toFixed(2)}x`
          : "; Embree is not installed (libembree-dev)"),
      targets: [atMost((sample: RayFigures) => sample.unequal, 0, "equal hits one by one")],
      compare: ["ray_ns", "single_ray_ns"],
    },
  );

const surfaceJob = (method: string, words: string, points: number, limit: number) =>
  defineJob(
    () =>
      passiveJob(["count", "op_s", "op_cpu_s", "clean_s", "clean_cpu_s"], "surface", method, String(points), THREADS),
    {
      title: `${words} of ${points / 1e6}M points`,
      count: points,
      figure: (sample) =>
        `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s; clean-up ${sample.clean_cpu_s.toFixed(2)} CPU-s`,
      targets: [atMost((sample) => sample.op_s, limit, `<= ${limit} s`)],
      compare: ["op_cpu_s", "clean_cpu_s"],
    },
  );

/** Leaf area density of so many pulses in voxels of a cube, `edge` along each side. */
const leafAreaJob = (pulses: number, edge: number, targets: readonly [number, number] | number) =>
  defineJob(
    () =>
      passiveJob(
        ["count", "op_s", "op_cpu_s", "trace_s", "trace_cpu_s", "invert_cpu_s", "crossed", "of_truth"],
        "lad",
        String(pulses),
        String(edge),
        THREADS,
      ),
    {
      title: `leaf area density of ${pulses / MILLION}M pulses in ${edge ** 3} voxels`,
      count: pulses,
      figure: (sample) =>
        `${sample.op_s.toFixed(2)} s; beams ${sample.trace_cpu_s.toFixed(2)} CPU-s, ${((1e9 * sample.trace_cpu_s) / sample.crossed).toFixed(0)} ns per voxel crossed; inversion ${sample.invert_cpu_s.toFixed(3)} CPU-s`,
      targets:
        typeof targets === "number"
          ? [atMost((sample) => sample.op_s, targets, `<= ${targets} s`)]
          : [
              atMost((sample) => sample.trace_s, targets[0], `beams <= ${targets[0]} s`),
              atMost((sample) => sample.op_s - sample.trace_s, targets[1], `inversion <= ${targets[1]} s`),
            ],
      compare: ["op_cpu_s", "trace_cpu_s"],
    },
  );

export const meshJobs = {
  "lad-2m": leafAreaJob(2 * MILLION, 20, [1, 0.15]),
  "lad-10m": leafAreaJob(10 * MILLION, 100, 4),
  delaunay: surfaceJob("delaunay", "Delaunay triangulation", MILLION, 0.9),
  "alpha-shape": surfaceJob("alpha_shape", "alpha shape", 500_000, 8),
  "ball-pivoting": surfaceJob("ball_pivoting", "ball pivoting", 500_000, 2.5),
  poisson: surfaceJob("poisson", "Poisson surface of depth 9", 500_000, 20),
  "scan-mesh": defineJob(
    () =>
      passiveJob(
        ["count", "op_s", "op_cpu_s", "delaunay_cpu_s", "filter_cpu_s", "triangles"],
        "scan_mesh",
        String(10 * MILLION),
        THREADS,
      ),
    {
      title: "angular triangulation of 10M points, with filter and voxels",
      count: 10 * MILLION,
      figure: (sample) =>
        `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s: triangulation ${sample.delaunay_cpu_s.toFixed(2)}, filter ${sample.filter_cpu_s.toFixed(2)}`,
      targets: [atMost((sample) => sample.op_s, 6, "<= 6 s")],
      compare: USAGE,
    },
  ),
  "mesh-200k": meshJob(200_000, "200k"),
  "mesh-1m": meshJob(MILLION, "1M"),
  "rays-scan": rayJob("scan", "pulses of a scanner"),
  "rays-random": rayJob("random", "random rays"),
  "rays-down": rayJob("down", "vertical rays"),
  c2m: defineJob(() => passiveJob(["count", "op_s", "op_cpu_s"], "c2m", String(MILLION), String(MILLION), THREADS), {
    title: "distances of 1M points to 1M triangles",
    count: MILLION,
    figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.op_cpu_s.toFixed(2)} CPU-s`,
    targets: [atMost((sample) => sample.op_s, 1.2, "<= 1.2 s")],
    compare: USAGE,
  }),
};
