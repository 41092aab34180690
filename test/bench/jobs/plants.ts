// Plants: single ones, canopies, the first one, memory of a resting one.
import { atMost, defineJob, type Target } from "../job.ts";
import { firstPlant, growthWithAge, type PlantFigures, plantAnswers, restingPlants } from "../plant-jobs.ts";

const GIB_MIB = 1024;
const within = (ms: number, text: string): Target<PlantFigures> =>
  atMost((sample: PlantFigures) => sample.answer_ms, ms, `<= ${text}`);
const figure = ({ answer_ms, count, frame_mib }: PlantFigures) =>
  `${answer_ms.toFixed(1)} ms, ${(count / 1000).toFixed(0)}k triangles, ${frame_mib.toFixed(1)} MiB`;
/** Wall time depends on what else the machine does. */
const COMPARE = ["cpu_s"] as const;

const plantJob = (plant_type: string, age: number, words: string, ms: number, repeats: number) =>
  defineJob(() => plantAnswers({ path: "/api/plant/generate", request: { plant_type, age }, repeats }), {
    title: `${words} as a frame`,
    figure,
    targets: [within(ms, ms < 100 ? `${ms} ms` : `${ms / 1000} s`)],
    compare: COMPARE,
  });

const beans = (side: number, instances: boolean) => ({
  path: "/api/plant/canopy/generate" as const,
  request: { plant_type: "bean", age: 30, count_x: side, count_y: side, instances },
});

export const plantJobs = {
  "plant-bean": plantJob("bean", 30, "bean of 30 days", 15, 15),
  "plant-maize": plantJob("maize", 60, "maize of 60 days", 15, 15),
  "plant-first": defineJob(() => firstPlant({ plant_type: "bean", age: 30 }), {
    title: "the first bean after the start",
    figure,
    targets: [within(50, "50 ms")],
    compare: COMPARE,
  }),
  "plant-almond-3y": plantJob("almond", 1095, "almond of 3 years", 150, 3),
  "plant-almond-5y": plantJob("almond", 1825, "almond of 5 years", 1200, 3),
  "plant-apple-4y": plantJob("apple", 1460, "apple of 4 years", 800, 3),
  "plant-olive-5y": plantJob("olive", 1825, "olive of 5 years", 1500, 3),
  "plant-canopy": defineJob(() => plantAnswers({ ...beans(10, false), repeats: 3 }), {
    title: "10 x 10 beans",
    figure,
    targets: [within(300, "0.3 s")],
    compare: COMPARE,
  }),
  "plant-canopy-10k": defineJob(() => plantAnswers({ ...beans(100, true), repeats: 1 }), {
    title: "100 x 100 beans as instances",
    figure: (sample) => `${figure(sample)}, peak ${sample.peak_rss_mib.toFixed(0)} MiB`,
    targets: [within(2000, "2 s"), atMost((sample) => sample.peak_rss_mib, GIB_MIB, "RSS <= 1 GiB")],
    compare: ["cpu_s", "peak_rss_mib"],
  }),
  "plant-growth": defineJob(() => growthWithAge("almond"), {
    title: "growth of an almond to 2 and to 5 years, per node",
    figure: ({ young_us, old_us }) => `${young_us.toFixed(2)} and ${old_us.toFixed(2)} us of CPU time a node`,
    targets: [atMost((sample) => sample.ratio, 2, "5 years <= 2x the time a node")],
    compare: ["young_us", "old_us"],
  }),
  "plant-memory": defineJob(() => restingPlants({ plant_type: "almond", age: 1825 }), {
    title: "memory of four resting almonds of 5 years",
    figure: (sample) => `${sample.bytes_per_triangle.toFixed(0)} bytes a triangle`,
    targets: [atMost((sample) => sample.bytes_per_triangle, 120, "<= 120 bytes a triangle")],
    compare: ["bytes_per_triangle"],
  }),
};
