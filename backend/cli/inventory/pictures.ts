import { isNoTree, type StandSummary } from "../../../shared/client/index.ts";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { textWidth } from "../drawing/canvas.ts";
import { chartPicture } from "../drawing/chart.ts";
import type { RampName, Rgb } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import { type PointSample, samplePercentiles } from "../drawing/point-sample.ts";
import { drawGrid } from "../drawing/raster-picture.ts";
import { renderView } from "../drawing/render.ts";
import { sceneBox, VIEWS, type View, viewFrame } from "../drawing/view-frame.ts";
import type { PageFigure } from "../report/page.ts";
import { MapCanvas } from "./map-canvas.ts";
import type { LabelledPlot } from "./steps.ts";

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

const OUTLINE: Rgb = [0xd6, 0x27, 0x28];
const STEM: Rgb = [0x6b, 0x42, 0x26];
const SEED: Rgb = [0x1f, 0x77, 0xb4];
const PLOT: Rgb = [0x8a, 0x94, 0x8e];
const BARS: Rgb = [0x31, 0x68, 0x8e];
const [TOP_VIEW] = VIEWS as readonly [View, ...View[]];
/** Room around a number that is written on a map, pixels. */
const NUMBER_ROOM = 6;

/** A shift from stored to true world coordinates. */
type Shift = readonly [number, number, number];

/** Crowns with their ids over the canopy height model, or over the points where there is none. */
export async function crownMap(
  plot: LabelledPlot,
  { trees, stand }: TreeInventoryTail,
  sample: PointSample,
  longestPx: number,
  signal: AbortSignal,
): Promise<NamedFigure | null> {
  const shift: Shift = plot.tail.world_shift ?? [0, 0, 0];
  const made = plot.chm ? gridGround(plot.chm, shift, longestPx) : await pointGround(sample, longestPx, signal);
  if (!made) return null;
  const { frame, raster, bar } = made;
  const map = new MapCanvas(frame, raster);
  if (stand?.plot_polygon) map.polygon(stand.plot_polygon, PLOT);
  for (const { crown_hull_xy } of trees) if (crown_hull_xy) map.polygon(crown_hull_xy, OUTLINE);
  let unnamed = 0;
  for (const tree of trees) {
    const text = String(tree.tree_id);
    const room = map.pixels(tree.crown_max_width_m ?? 0);
    if (tree.stem_base && room >= textWidth(text) + NUMBER_ROOM)
      map.label(text, [tree.stem_base[0], tree.stem_base[1]]);
    else unnamed += 1;
  }
  const title = plot.chm ? "Crowns over the canopy height model" : "Crowns over the points seen from above";
  const png = await framedPicture(map.canvas, {
    title,
    frame,
    world_shift: [0, 0, 0],
    bar,
    legend: [{ color: OUTLINE, text: "crown" }, ...(stand?.plot_polygon ? [{ color: PLOT, text: "plot" }] : [])],
  });
  const hidden = unnamed > 0 ? `; ${unnamed} crowns are too small here for their number` : "";
  return { name: "crowns", title, text: `numbers are tree_id, at the stems${hidden}`, png };
}

function gridGround(grid: NonNullable<LabelledPlot["chm"]>, [dx, dy]: Shift, longestPx: number) {
  const { nx, ny, cell, origin } = grid;
  const moved = { ...grid, origin: [origin[0] + dx, origin[1] + dy] as const };
  const [x, y] = moved.origin;
  const ends = samplePercentiles(grid.z.length, (i) => grid.z[i] ?? Number.NaN, [0.995]);
  if (!ends) return null;
  const frame = viewFrame(TOP_VIEW, { min: [x, y, 0], max: [x + nx * cell, y + ny * cell, 0] }, longestPx);
  const scale = { ramp: "greys" as RampName, range: [0, ends[0] ?? 1] as const };
  return { frame, raster: drawGrid(moved, frame, scale), bar: { ...scale, unit: "height, m" } };
}

async function pointGround(sample: PointSample, longestPx: number, signal: AbortSignal) {
  const box = sceneBox(sample);
  if (!box) return null;
  const frame = viewFrame(TOP_VIEW, box, longestPx);
  const scale = { ramp: "greys" as RampName, range: [box.min[2], box.max[2]] as const };
  const raster = await renderView(sample, frame, { mode: "height", ...scale }, signal);
  return { frame, raster, bar: { ...scale, unit: "z, m" } };
}

/** Smallest disc of a stem, pixels. */
const LEAST_DISC = 3;
/** Discs are drawn so many times as wide as the stems, so that they are seen. */
const DISC_SCALE = 4;

/** Where the stems stand, by diameter, and the stems that were found in the layer at breast height. */
export async function stemMap(
  { tail, stems }: LabelledPlot,
  { trees: listed, stand }: TreeInventoryTail,
  longestPx: number,
): Promise<NamedFigure | null> {
  const trees = listed.filter((tree) => !isNoTree(tree));
  const bases = trees.flatMap(({ stem_base }) => (stem_base ? [stem_base] : []));
  if (bases.length === 0 || (bases.length === 1 && !stand?.plot_polygon)) return null; // a single disc is no map
  const [dx, dy] = tail.world_shift ?? [0, 0, 0];
  const corners = [...(stand?.plot_polygon ?? []), ...bases.map(([x, y]) => [x, y] as const)];
  const ends = (axis: 0 | 1, pick: (a: number, b: number) => number) =>
    corners.map((corner) => corner[axis]).reduce((a, b) => pick(a, b));
  const box = {
    min: [ends(0, Math.min), ends(1, Math.min), 0] as const,
    max: [ends(0, Math.max), ends(1, Math.max), 0] as const,
  };
  const frame = viewFrame(TOP_VIEW, { min: [...box.min], max: [...box.max] }, longestPx);
  const map = new MapCanvas(frame);
  if (stand?.plot_polygon) map.polygon(stand.plot_polygon, PLOT);
  const withStem = trees.filter(({ dbh_m }) => typeof dbh_m === "number");
  for (const { stem_base, dbh_m } of trees) {
    if (!stem_base) continue;
    const radius = typeof dbh_m === "number" ? Math.max(LEAST_DISC, (DISC_SCALE * map.pixels(dbh_m)) / 2) : LEAST_DISC;
    map.disc([stem_base[0], stem_base[1]], radius, typeof dbh_m === "number" ? STEM : PLOT);
  }
  for (const { x, y } of stems?.seeds ?? []) map.cross([x + dx, y + dy], 9, SEED);
  const title = "Stem map";
  const png = await framedPicture(map.canvas, {
    title,
    frame,
    world_shift: [0, 0, 0],
    bar: null,
    legend: [
      ...(withStem.length > 0 ? [{ color: STEM, text: "diameter" }] : []),
      ...(withStem.length < trees.length ? [{ color: PLOT, text: "no diameter" }] : []),
      ...(stems ? [{ color: SEED, text: "stem seen" }] : []),
    ],
  });
  const seeds = stems ? `; crosses: ${stems.seeds.length} stems found by themselves in the layer at breast height` : "";
  return {
    name: "stems",
    title,
    text: `discs are ${DISC_SCALE} times as wide as the stems, at least ${2 * LEAST_DISC} pixels${seeds}`,
    png,
  };
}

/** Diameter and height classes. */
export async function histogramFigures(
  { dbhClasses }: StandSummary,
  heightClasses: StandSummary["heightClasses"],
): Promise<NamedFigure[]> {
  const figures: NamedFigure[] = [];
  const add = async (name: string, title: string, x: string, classes: StandSummary["dbhClasses"]) => {
    const [first, last] = [classes[0], classes.at(-1)];
    if (!first || !last) return;
    const most = classes.reduce((largest, { count }) => Math.max(largest, count), 1);
    const points = [...classes.map(({ lo, count }) => [lo, count] as const), [last.hi, 0] as const];
    const png = await chartPicture({
      title,
      x: { title: x, range: [first.lo, last.hi] },
      y: { title: "trees", range: [0, most * 1.1] },
      series: [{ color: BARS, points, is_bars: true }],
    });
    figures.push({ name, title, png });
  };
  await add("diameters", "Diameters at breast height", "diameter, cm", dbhClasses);
  await add("heights", "Tree heights", "height, m", heightClasses);
  return figures;
}

/** Trees by size: diameter, else height. */
export const largestTrees = (trees: readonly TreeRow[], count: number): TreeRow[] =>
  trees
    .filter((tree) => tree.height_m !== undefined && !isNoTree(tree))
    .toSorted((a, b) => (b.dbh_m ?? 0) - (a.dbh_m ?? 0) || (b.height_m ?? 0) - (a.height_m ?? 0))
    .slice(0, count);
