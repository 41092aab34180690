import type { Rgb } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { renderView } from "../drawing/render.ts";
import { sceneBox, VIEWS, viewFrame } from "../drawing/view-frame.ts";

const WOOD = 1;
const LEAF = 2;
const BROWN: Rgb = [0x7a, 0x4a, 0x21];
const GREEN: Rgb = [0x4f, 0xa0, 0x3c];

export interface WoodPicture {
  /** Name of the file. */
  readonly name: string;
  readonly png: Uint8Array;
}

/** Both classes, and each alone, seen from the front in one frame; those without points are left out. */
export async function woodPictures(
  sample: PointSample,
  longestPx: number,
  signal: AbortSignal,
): Promise<WoodPicture[]> {
  const box = sceneBox(sample);
  const view = VIEWS.find(({ name }) => name === "front");
  if (!box || !view) return [];
  const frame = viewFrame(view, box, longestPx);
  const wanted = [
    { name: "wood_and_leaf.png", title: "Wood and leaves", classes: [WOOD, LEAF] },
    { name: "wood.png", title: "Wood", classes: [WOOD] },
    { name: "leaf.png", title: "Leaves", classes: [LEAF] },
  ];
  const pictures: WoodPicture[] = [];
  for (const { name, title, classes } of wanted) {
    const shown = colored(sample, classes);
    if (shown.point_count === 0) continue;
    const raster = await renderView(shown, frame, { mode: "rgb", ramp: undefined, range: [0, 255] }, signal);
    const legend = [
      ...(classes.includes(WOOD) ? [{ color: BROWN, text: "wood" }] : []),
      ...(classes.includes(LEAF) ? [{ color: GREEN, text: "leaf" }] : []),
    ];
    pictures.push({
      name,
      png: await framedPicture(raster, { title, frame, world_shift: [0, 0, 0], bar: null, legend }),
    });
  }
  return pictures;
}

/** The points of some classes in their colours. */
function colored({ position, value, point_count }: PointSample, classes: readonly number[]): PointSample {
  const rows: number[] = [];
  for (let i = 0; i < point_count; i += 1) if (classes.includes(Math.round(value?.[i] ?? 0))) rows.push(i);
  const places = new Float64Array(3 * rows.length);
  const rgb = new Uint8Array(3 * rows.length);
  for (const [k, i] of rows.entries()) {
    places.set(position.subarray(3 * i, 3 * i + 3), 3 * k);
    rgb.set(Math.round(value?.[i] ?? 0) === WOOD ? BROWN : GREEN, 3 * k);
  }
  return { point_count: rows.length, total_count: rows.length, position: places, rgb, intensity: undefined };
}
