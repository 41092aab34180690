import type { IcpSuccess } from "../../../shared/contract/icp.ts";
import type { Box, Triple } from "../../../shared/octree/potree2-metadata.ts";
import { chartPicture } from "../drawing/chart.ts";
import type { Rgb } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import { renderView } from "../drawing/render.ts";
import { shortNumber } from "../drawing/round-steps.ts";
import { sceneBox, VIEWS, viewFrame } from "../drawing/view-frame.ts";
import type { Motion } from "../meshes/mesh.ts";
import type { PageFigure } from "../report/page.ts";
import type { FolderRun } from "../run/folder-run.ts";
import type { Part } from "../run/inputs.ts";
import { coloredSample, movedPlaces, partSample } from "../run/samples.ts";

/** Blue and orange: apart with every form of colour blindness. */
export const FIXED_COLOR: Rgb = [0x4f, 0x8f, 0xd6];
export const MOVING_COLOR: Rgb = [0xf2, 0x8e, 0x2b];

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

/** Points of both parts before the motion, true world coordinates. */
export interface BothPlaces {
  readonly moving: Float64Array;
  readonly fixed: Float64Array;
}

export async function bothPlaces(moving: Part, fixed: Part, budget: number, run: FolderRun): Promise<BothPlaces> {
  run.progress.stage("Fetching points");
  const half = Math.floor(budget / 2);
  return {
    moving: await partSample(moving, run.client, half, run.signal),
    fixed: await partSample(fixed, run.client, half, run.signal),
  };
}

/** A box this many times as large as the one after the motion would show only specks. */
const MOST_ZOOM = 1.6;

/** Top and side view before and after the motion. */
export async function pairFigures(
  { moving, fixed }: BothPlaces,
  matrix: Motion,
  longestPx: number,
  { progress, signal }: FolderRun,
): Promise<NamedFigure[]> {
  progress.stage("Drawing pictures");
  const sampleOf = (places: Float64Array) =>
    coloredSample([
      { places: fixed, color: FIXED_COLOR },
      { places, color: MOVING_COLOR },
    ]);
  const [before, after] = [sampleOf(moving), sampleOf(movedPlaces(matrix, moving))];
  const boxes = [sceneBox(before), sceneBox(after)];
  const [first, last] = boxes;
  if (!first || !last) return [];
  const both = union(first, last);
  const isNear = size(both) <= MOST_ZOOM * size(last);
  const wide = last.max[0] - last.min[0] >= last.max[1] - last.min[1];
  const views = VIEWS.filter(({ name }) => name === "top" || name === (wide ? "front" : "side"));
  const figures: NamedFigure[] = [];
  for (const view of views) {
    for (const [sample, box, when] of [
      [before, first, "before"],
      [after, last, "after"],
    ] as const) {
      const frame = viewFrame(view, isNear ? both : box, longestPx);
      const raster = await renderView(sample, frame, { mode: "rgb", ramp: undefined, range: [0, 255] }, signal);
      const title = `${view.title}, ${when}`;
      const furniture = { title, frame, world_shift: [0, 0, 0], bar: null, legend: LEGEND } as const;
      figures.push({ name: `${view.name}_${when}`, title, png: await framedPicture(raster, furniture) });
      progress.update(figures.length / 4);
    }
  }
  return figures;
}

const LEGEND = [
  { color: FIXED_COLOR, text: "fixed" },
  { color: MOVING_COLOR, text: "moving" },
];

const corner = (pick: (a: number, b: number) => number, a: Triple, b: Triple): Triple => [
  pick(a[0], b[0]),
  pick(a[1], b[1]),
  pick(a[2], b[2]),
];
const union = (a: Box, b: Box): Box => ({ min: corner(Math.min, a.min, b.min), max: corner(Math.max, a.max, b.max) });
const size = ({ min, max }: Box) => Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]);

/** RMSE by iteration; undefined with fewer than two iterations. */
export async function convergenceFigure({ history }: IcpSuccess): Promise<NamedFigure | undefined> {
  const points = history.map(({ rmse }, i) => [i + 1, rmse] as const).filter(([, rmse]) => rmse > 0);
  if (points.length < 2) return undefined;
  const values = points.map(([, rmse]) => rmse);
  const marks = history.flatMap(({ voxel_m }, i) =>
    i > 0 && history[i - 1]?.voxel_m === voxel_m
      ? []
      : [{ at: i + 1, text: voxel_m > 0 ? `${shortNumber(Number(voxel_m.toPrecision(2)))} m` : "all points" }],
  );
  const title = "Convergence";
  const png = await chartPicture({
    title: "Convergence: root mean square distance of the matched points",
    x: { title: "iteration", range: [1, history.length] },
    y: { title: "RMSE, m", range: [Math.min(...values) / 1.5, Math.max(...values) * 1.5], is_log: true },
    series: [{ color: FIXED_COLOR, points }],
    marks,
  });
  const text =
    "grey lines: from here on, with the means of voxels of that edge length; finer voxels keep detail and noise, so the RMSE may rise there";
  return { name: "convergence", title, text, png };
}
