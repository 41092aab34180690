import type { DistanceSuccess } from "../../../shared/contract/c2m.ts";
import { chartPicture } from "../drawing/chart.ts";
import type { RampName } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { samplePercentiles } from "../drawing/point-sample.ts";
import { renderView } from "../drawing/render.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import { sceneBox, VIEWS, viewFrame } from "../drawing/view-frame.ts";
import type { PageFigure } from "../report/page.ts";
import type { FolderRun } from "../run/folder-run.ts";

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

/** The cloud from three sides, coloured by distance up to the 99th percentile. `sample`: true world coordinates. */
export async function distanceFigures(
  sample: PointSample,
  isSigned: boolean,
  percentile_99: number,
  longestPx: number,
  { progress, signal }: FolderRun,
): Promise<NamedFigure[]> {
  const box = sceneBox(sample);
  if (!box) return [];
  const end =
    percentile_99 > 0
      ? percentile_99
      : (samplePercentiles(sample.point_count, (i) => Math.abs(sample.value?.[i] ?? 0), [1])?.[0] ?? 0);
  const range = [isSigned ? -end : 0, end] as const;
  const ramp: RampName = isSigned ? "cool_warm" : "viridis";
  const figures: NamedFigure[] = [];
  for (const view of VIEWS) {
    const frame = viewFrame(view, box, longestPx);
    const raster = await renderView(sample, frame, { mode: "value", ramp, range }, signal);
    const title = `${view.title}, coloured by distance`;
    const bar = { ramp, range, unit: "distance, m" };
    const png = await framedPicture(raster, { title, frame, world_shift: [0, 0, 0], bar });
    const text = isSigned
      ? "negative: inside the mesh; beyond the ends of the bar, its end colours"
      : "beyond the end of the bar, its end colour";
    figures.push({ name: `${view.name}_distance`, title, text, png });
    progress.update(figures.length / VIEWS.length);
  }
  return figures;
}

const BINS = 80;
/** The histogram ends at so many times the 99th percentile: a few strays would squeeze all others into one bin. */
const STRETCH = 1.25;

/** The drawn points by distance, with their sign if there is one. */
export async function histogramFigure(
  { value, point_count, total_count }: PointSample,
  { sign_defined, percentile_99, max_distance, median_distance, percentile_95 }: DistanceSuccess,
): Promise<NamedFigure> {
  const end = Math.min(max_distance, STRETCH * percentile_99) || max_distance || 1;
  const low = sign_defined ? -end : 0;
  const width = (end - low) / BINS;
  const counts = new Array<number>(BINS).fill(0);
  let outside = 0;
  for (let i = 0; i < point_count; i += 1) {
    const distance = value?.[i] ?? Number.NaN;
    // The largest distance lies on the upper end.
    const bin = distance === end ? BINS - 1 : Math.floor((distance - low) / width);
    if (bin >= 0 && bin < BINS) counts[bin] = (counts[bin] ?? 0) + 1;
    else outside += 1;
  }
  const png = await chartPicture({
    title: "Points by distance to the mesh",
    x: { title: "distance, m", range: [low, end] },
    y: { title: "points", range: [0, Math.max(...counts, 1) * 1.1] },
    series: [{ color: [0x31, 0x68, 0x8e], points: [...counts, 0].map((n, i) => [low + i * width, n]), is_bars: true }],
    marks: sign_defined
      ? [{ at: 0, text: "on the mesh" }]
      : [
          { at: median_distance, text: "median" },
          { at: percentile_95, text: "95 %" },
        ],
  });
  const share =
    point_count < total_count
      ? `${plainNumber(point_count, 0)} of ${plainNumber(total_count, 0)} points`
      : "all points";
  const text = `${share}; ${plainNumber(outside, 0)} of them lie beyond the ends of the axis`;
  return { name: "histogram", title: "Histogram", text, png };
}
