import { PNG } from "pngjs";
import { axisTitle, barTicks, fittingTicks, lengthLabel, scaleBarLength } from "./axes.ts";
import { Canvas, INK, LINE_PX, textWidth } from "./canvas.ts";
import { type RampName, type Rgb, rampColor } from "./color-ramp.ts";
import { encodePng, type Raster } from "./render.ts";
import { isFromAbove, type ViewFrame } from "./view-frame.ts";

const FRAME: Rgb = [0x8a, 0x94, 0x8e];
const TICK = 7;
const GAP = 10;
const BAR_WIDTH = 22;
/** Height of title and of what lies below the picture. */
const TOP = 2 * LINE_PX;
const BOTTOM = 5 * LINE_PX;
/** Least width of the picture with its margins, for title and scale bar. */
const MIN_WIDTH = 520;

export interface PictureFurniture {
  readonly title: string;
  readonly frame: ViewFrame;
  /** Added to stored coordinates to get true world coordinates, metres. */
  readonly world_shift: readonly [number, number, number];
  /** Colour bar with the displayed values at its ends. */
  readonly bar: { readonly ramp: RampName; readonly range: readonly [number, number]; readonly unit: string } | null;
  readonly legend?: readonly { readonly color: Rgb; readonly text: string }[];
}

/** A PNG file of 8-bit channels as a raster. */
export function decodePng(png: Uint8Array): Raster {
  const { width, height, data } = PNG.sync.read(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
  return { width, height, data };
}

/** The picture with title, axes in true world coordinates, scale bar, legend and, seen from above, a north arrow. */
export function framedPicture(picture: Raster, furniture: PictureFurniture): Promise<Uint8Array> {
  const { frame, world_shift, title, bar, legend = [] } = furniture;
  const { right, up } = frame.view;
  const low_x = frame.left_stored + world_shift[right];
  const high_y = frame.top_stored + world_shift[up];
  const low_y = high_y - frame.height_px * frame.metres_per_px;
  const high_x = low_x + frame.width_px * frame.metres_per_px;
  const across = fittingTicks(low_x, high_x, frame.width_px, textWidth, 2 * GAP);
  const upwards = fittingTicks(low_y, high_y, frame.height_px, () => LINE_PX, LINE_PX);
  const length = Math.min(420, frame.height_px - 3 * LINE_PX);
  const marks = bar ? barTicks(bar.range[0], bar.range[1], length, LINE_PX) : [];
  const beside = [
    ...(bar ? [textWidth(bar.unit), ...marks.map(({ text }) => BAR_WIDTH + GAP + TICK + textWidth(text))] : []),
    ...legend.map(({ text }) => BAR_WIDTH + GAP + textWidth(text)),
    0,
  ];
  const rightMargin = Math.max(...beside, 50) + 3 * GAP;
  const widest = Math.max(...upwards.map(({ text }) => textWidth(text)), textWidth(axisTitle(up)) - GAP);
  const x = Math.round(widest + TICK + 3 * GAP);
  const width = Math.max(MIN_WIDTH, x + frame.width_px + rightMargin, x + textWidth(title) + GAP);
  const canvas = new Canvas(Math.ceil(width), TOP + frame.height_px + BOTTOM);
  const box = { x, y: TOP, width: frame.width_px, height: frame.height_px };
  canvas.place(picture, box.x, box.y);
  outline(canvas, box);
  canvas.text(title, x, LINE_PX);
  for (const { value, text } of across) {
    const at = x + (value - low_x) / frame.metres_per_px;
    canvas.fill(at, TOP + box.height, 1, TICK);
    canvas.text(text, at, TOP + box.height + TICK + LINE_PX, "middle");
  }
  canvas.text(axisTitle(right), x + box.width / 2, TOP + box.height + TICK + 2.2 * LINE_PX, "middle");
  for (const { value, text } of upwards) {
    const at = TOP + (high_y - value) / frame.metres_per_px;
    canvas.fill(x - TICK, at, TICK, 1);
    canvas.text(text, x - TICK - GAP / 2, at + LINE_PX / 3, "right");
  }
  canvas.text(axisTitle(up), x - TICK, TOP - GAP, "right");
  scaleBar(canvas, box, frame);
  sideBar(canvas, { x: x + box.width + GAP, y: TOP, length }, furniture, marks);
  return encodePng(canvas);
}

/** A picture that no axis of the coordinates is parallel to: with title, scale bar and the names of the colours. */
export function captionedPicture(
  picture: Raster,
  { title, frame, legend = [] }: Pick<PictureFurniture, "title" | "legend"> & { readonly frame: Scale },
): Promise<Uint8Array> {
  const beside = Math.max(0, ...legend.map(({ text }) => BAR_WIDTH + GAP + textWidth(text) + GAP));
  const width = Math.max(MIN_WIDTH, picture.width + 2 * GAP + beside, textWidth(title) + 2 * GAP);
  const canvas = new Canvas(Math.ceil(width), TOP + picture.height + BOTTOM);
  const box = { x: GAP, y: TOP, width: picture.width, height: picture.height };
  canvas.place(picture, box.x, box.y);
  outline(canvas, box);
  canvas.text(title, GAP, LINE_PX);
  scaleBar(canvas, box, frame);
  legendKeys(canvas, box.x + box.width + GAP, TOP, legend);
  return encodePng(canvas);
}

/** Returns the height below the last key. */
function legendKeys(
  canvas: Canvas,
  x: number,
  y: number,
  legend: readonly { readonly color: Rgb; readonly text: string }[],
): number {
  let top = y;
  for (const { color, text } of legend) {
    canvas.fill(x, top, BAR_WIDTH, LINE_PX - 4, color);
    canvas.text(text, x + BAR_WIDTH + GAP, top + LINE_PX - 6);
    top += LINE_PX + GAP / 2;
  }
  return top;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function outline(canvas: Canvas, { x, y, width, height }: Place): void {
  canvas.fill(x - 1, y - 1, width + 2, 1, FRAME);
  canvas.fill(x - 1, y + height, width + 2, 1, FRAME);
  canvas.fill(x - 1, y - 1, 1, height + 2, FRAME);
  canvas.fill(x + width, y - 1, 1, height + 2, FRAME);
}

type Scale = Pick<ViewFrame, "width_px" | "metres_per_px">;

/** Below the left end of the picture, where it hides nothing. */
function scaleBar(canvas: Canvas, { x, y, height }: Place, frame: Scale): void {
  const metres = scaleBarLength(frame);
  const length = metres / frame.metres_per_px;
  const base = y + height + TICK + 3.4 * LINE_PX;
  canvas.fill(x, base - 4, length, 4);
  canvas.fill(x, base - 10, 2, 10);
  canvas.fill(x + length - 2, base - 10, 2, 10);
  canvas.text(lengthLabel(metres), x + length + GAP, base);
}

interface Side {
  readonly x: number;
  readonly y: number;
  readonly length: number;
}

/** North arrow, legend and colour bar, from top to bottom. */
function sideBar(
  canvas: Canvas,
  { x, y, length }: Side,
  { frame, bar, legend = [] }: PictureFurniture,
  marks: readonly { readonly value: number; readonly text: string }[],
): void {
  let top = y;
  if (isFromAbove(frame.view)) {
    canvas.text("N", x + BAR_WIDTH / 2, top + LINE_PX, "middle");
    for (let row = 0; row < 34; row += 1) {
      const half = (row * 9) / 34;
      const notch = row < 24 ? 0 : ((row - 24) * 9) / 10;
      canvas.fill(x + BAR_WIDTH / 2 - half, top + LINE_PX + 6 + row, half - notch + 1, 1);
      canvas.fill(x + BAR_WIDTH / 2 + notch, top + LINE_PX + 6 + row, half - notch + 1, 1);
    }
    top += 3 * LINE_PX + GAP;
  }
  top = legendKeys(canvas, x, top, legend);
  if (!bar) return;
  canvas.text(bar.unit, x, top + LINE_PX - 4);
  top += LINE_PX + GAP;
  const shown = Math.max(LINE_PX, Math.min(length, y + frame.height_px - top));
  for (let row = 0; row < shown; row += 1)
    canvas.fill(x, top + row, BAR_WIDTH, 1, rampColor(bar.ramp, 1 - (row + 0.5) / shown));
  const [low, high] = bar.range;
  for (const { value, text } of marks) {
    const at = top + (high > low ? (high - value) / (high - low) : 0.5) * shown;
    canvas.fill(x + BAR_WIDTH, at, TICK, 1, INK);
    canvas.text(text, x + BAR_WIDTH + TICK + GAP / 2, at + LINE_PX / 3);
  }
}
