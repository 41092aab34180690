import { TEN_MILLION } from "../inputs.ts";
import { atMost, defineJob, USAGE } from "../job.ts";
import { nativeJob, THREADS } from "../native.ts";

export const terrainJobs = {
  dem: defineJob(() => nativeJob(["op_s", "populated"], "dem", String(TEN_MILLION), THREADS), {
    title: "DEM of 10M at 0.25 m, 4M cells",
    count: TEN_MILLION,
    figure: (sample) => `${sample.op_s.toFixed(2)} s, ${sample.populated} cells with points`,
    targets: [atMost((sample) => sample.op_s, 1.5, "<= 1.5 s")],
    compare: USAGE,
  }),
};
