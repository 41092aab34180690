// The life of a session in the running service.
import { FIFTY_MILLION, TEN_MILLION } from "../inputs.ts";
import { atMost, defineJob, USAGE, wall } from "../job.ts";
import { edits, extractByColumn } from "../session-edits.ts";
import { journal, recovery } from "../session-journal.ts";

const SHOWN = ["delete_box", "delete_polygon", "reset_50", "label", "translate", "bake"] as const;

export const sessionJobs = {
  edits: defineJob(() => edits(FIFTY_MILLION), {
    title: "edits of a 50M session",
    count: FIFTY_MILLION,
    most: 1,
    figure: (sample) => SHOWN.map((name) => `${name} ${sample[`${name}_s`].toFixed(2)} s`).join(", "),
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
  }),
  extract: defineJob(() => extractByColumn(TEN_MILLION), {
    title: "10M points into 100 clouds",
    count: TEN_MILLION,
    most: 1,
    figure: (sample) => `${(sample.wall_s / sample.octree_s).toFixed(2)}x one octree`,
    targets: [atMost((sample) => sample.wall_s / sample.octree_s, 1.3, "<= 1.3x one octree")],
    compare: USAGE,
  }),
  journal: defineJob(() => journal(TEN_MILLION), {
    title: "journal of a 10M session",
    count: TEN_MILLION,
    figure: (sample) =>
      `create +${(100 * sample.create_share).toFixed(0)} %, edit ${sample.edit_ms.toFixed(1)} ms beside ${sample.edit_without_ms.toFixed(1)} ms`,
    targets: [
      atMost((sample) => sample.create_share, 0.15, "create <= +15 %"),
      atMost((sample) => sample.edit_ms - sample.edit_without_ms, 5, "edit <= +5 ms"),
    ],
    compare: ["edit_ms"],
  }),
  recovery: defineJob(() => recovery(5_000_000, 10), {
    title: "ten 5M sessions after kill -9",
    count: 5_000_000,
    most: 1,
    figure: (sample) =>
      `READY ${sample.wall_s.toFixed(2)} s, first touch at most ${sample.first_touch_max_s.toFixed(2)} s`,
    targets: [
      atMost(wall, 2, "READY <= 2 s"),
      atMost((sample) => sample.first_touch_max_s, 0.5, "first touch <= 0.5 s"),
    ],
    compare: ["wall_s", "first_touch_max_s"],
  }),
};
