import type { SkeletonResponse } from "../../../shared/contract/skeleton.ts";
import type { Rgb } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { renderView } from "../drawing/render.ts";
import { sceneBox, VIEWS, viewFrame } from "../drawing/view-frame.ts";
import { MapCanvas } from "../inventory/map-canvas.ts";

export interface SkeletonPicture {
  readonly name: string;
  readonly png: Uint8Array;
}

/** Colours of the orders from the tips: 1, 2, 3 and more. */
const ORDERS: readonly Rgb[] = [
  [0x2c, 0xa0, 0x2c],
  [0x1f, 0x77, 0xb4],
  [0xff, 0x7f, 0x0e],
  [0xd6, 0x27, 0x28],
];
const NODE: Rgb = [0x20, 0x20, 0x20];
/** Grey of the points: dark enough to be seen, light enough for lines above them. */
const POINTS = 190;

const colorOf = (order: number): Rgb => ORDERS[Math.min(order, ORDERS.length) - 1] ?? NODE;

/** The points in grey with the skeleton over them, from above and from two sides. */
export async function skeletonPictures(
  sample: PointSample,
  { skeleton_points, skeleton_edges, branch_orders, max_branch_order }: SkeletonResponse,
  longestPx: number,
  signal: AbortSignal,
): Promise<SkeletonPicture[]> {
  const box = sceneBox(sample);
  if (!box) return [];
  const grey = { ...sample, rgb: new Uint8Array(3 * sample.point_count).fill(POINTS) };
  const pictures: SkeletonPicture[] = [];
  for (const view of VIEWS) {
    const frame = viewFrame(view, box, longestPx);
    const raster = await renderView(grey, frame, { mode: "rgb", ramp: undefined, range: [0, 255] }, signal);
    const map = new MapCanvas(frame, raster);
    const at = (node: number) => {
      const place = skeleton_points[node] ?? [0, 0, 0];
      return [place[view.right], place[view.up]] as const;
    };
    for (const [from, to] of skeleton_edges) map.line(at(from), at(to), colorOf(branch_orders[to] ?? 1), 2);
    const legend = ORDERS.slice(0, max_branch_order).map((color, i) => ({
      color,
      text: i + 1 < ORDERS.length ? `order ${i + 1}` : `order ${i + 1} and above`,
    }));
    const title = `Skeleton: ${view.title.toLowerCase()}`;
    pictures.push({
      name: `skeleton_${view.name}`,
      png: await framedPicture(map.canvas, { title, frame, world_shift: [0, 0, 0], bar: null, legend }),
    });
  }
  return pictures;
}
