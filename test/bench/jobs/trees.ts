import { TEN_MILLION } from "../inputs.ts";
import { atMost, defineJob, USAGE } from "../job.ts";
import { nativeJob, THREADS } from "../native.ts";

const TREES = 1_000;
const STEMS = 1_000_000;

export const treeJobs = {
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
  competition: defineJob(() => nativeJob(["op_s"], "competition", String(STEMS), THREADS), {
    title: "Hegyi's indices of 1M stems within 10 m",
    count: STEMS,
    figure: (sample) => `${sample.op_s.toFixed(2)} s`,
    targets: [atMost((sample) => sample.op_s, 1.5, "<= 1.5 s")],
    compare: USAGE,
  }),
};
