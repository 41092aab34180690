import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { StemRow, TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { RampName, Rgb } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { renderView } from "../drawing/render.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import { VIEWS, viewFrame } from "../drawing/view-frame.ts";
import { MapCanvas } from "./map-canvas.ts";
import { largestTrees, type NamedFigure } from "./pictures.ts";

const COUNT = 10;
/** Longest side of a tree's picture, pixels; less if the other pictures are smaller. */
const LONGEST_PX = 700;
const SECTION: Rgb = [0xd6, 0x27, 0x28];
const UNSURE: Rgb = [0xff, 0x9d, 0x2e];
const BREAST: Rgb = [0x1f, 0x77, 0xb4];

/** The largest trees seen from the south, with the sections of their stem curves as bars of their diameters. */
export async function treeViews(
  { trees, stem_curve }: TreeInventoryTail,
  sample: PointSample,
  pictureSize: number,
  signal: AbortSignal,
): Promise<NamedFigure[]> {
  const longestPx = Math.min(LONGEST_PX, pictureSize);
  const chosen = largestTrees(trees, COUNT);
  const samples = samplesOf(sample, new Set(chosen.map(({ tree_id }) => tree_id)));
  const figures: NamedFigure[] = [];
  for (const tree of chosen) {
    const points = samples.get(tree.tree_id);
    const sections = stem_curve.filter(({ tree_id }) => tree_id === tree.tree_id);
    if (points) figures.push(await treeView(tree, { points, sections, longestPx }, signal));
  }
  return figures;
}

/** The drawn points of each of some trees. */
function samplesOf(
  { position, value, point_count }: PointSample,
  wanted: ReadonlySet<number>,
): Map<number, PointSample> {
  const rows = new Map<number, number[]>();
  for (let i = 0; i < point_count; i += 1) {
    const id = Math.round(value?.[i] ?? 0);
    if (!wanted.has(id)) continue;
    const list = rows.get(id);
    if (list) list.push(i);
    else rows.set(id, [i]);
  }
  return new Map(
    [...rows].map(([id, list]) => {
      const out = new Float64Array(3 * list.length);
      for (const [k, i] of list.entries()) out.set(position.subarray(3 * i, 3 * i + 3), 3 * k);
      const one: PointSample = {
        point_count: list.length,
        total_count: list.length,
        position: out,
        rgb: undefined,
        intensity: undefined,
      };
      return [id, one];
    }),
  );
}

interface Drawn {
  readonly points: PointSample;
  readonly sections: readonly StemRow[];
  readonly longestPx: number;
}

async function treeView(
  tree: TreeRow,
  { points, sections, longestPx }: Drawn,
  signal: AbortSignal,
): Promise<NamedFigure> {
  const view = VIEWS.find(({ name }) => name === "front");
  const { bbox_min: min, bbox_max: max } = tree;
  if (!view || !min || !max) throw new Error("a measured tree without a box");
  const frame = viewFrame(view, { min, max }, longestPx);
  const scale = { ramp: "greys" as RampName, range: [min[2], max[2]] as const };
  const raster = await renderView(points, frame, { mode: "height", ...scale }, signal);
  const map = new MapCanvas(frame, raster);
  const bar = (x: number, z: number, diameter: number, color: Rgb) =>
    map.line([x - diameter / 2, z], [x + diameter / 2, z], color, 3);
  for (const { x, z, diameter_m, ok } of sections) bar(x, z, diameter_m, ok ? SECTION : UNSURE);
  if (tree.dbh) bar(tree.dbh.center[0], tree.dbh.center[2], tree.dbh.diameter_m, BREAST);
  const title = `Tree ${tree.tree_id}, looking north`;
  const png = await framedPicture(map.canvas, {
    title,
    frame,
    world_shift: [0, 0, 0],
    bar: null,
    legend: [
      ...(sections.some(({ ok }) => ok) ? [{ color: SECTION, text: "stem curve" }] : []),
      ...(sections.some(({ ok }) => !ok) ? [{ color: UNSURE, text: "unsure" }] : []),
      ...(tree.dbh ? [{ color: BREAST, text: "breast height" }] : []),
    ],
  });
  const diameter = tree.dbh
    ? `diameter ${plainNumber(100 * tree.dbh.diameter_m, 1)} cm${tree.dbh.sigma_m === null ? "" : ` ± ${plainNumber(100 * tree.dbh.sigma_m, 1)} cm`}`
    : "no diameter";
  const flags = tree.flags.length > 0 ? `; ${tree.flags.join(", ")}` : "";
  return {
    name: `tree_${tree.tree_id}`,
    title,
    text: `${diameter}, height ${plainNumber(tree.height_m ?? 0, 1)} m${flags}`,
    png,
  };
}
