import { Canvas, LINE_PX, textWidth } from "../drawing/canvas.ts";
import type { Rgb } from "../drawing/color-ramp.ts";
import type { Raster } from "../drawing/render.ts";
import type { ViewFrame } from "../drawing/view-frame.ts";

/** A place along the right and the up axis of a view, metres. */
type Place = readonly [number, number];

/** Draws on a picture of a view, in the coordinates of its axes. */
export class MapCanvas {
  readonly canvas: Canvas;
  readonly #frame: ViewFrame;

  constructor(frame: ViewFrame, background?: Raster) {
    this.#frame = frame;
    this.canvas = new Canvas(frame.width_px, frame.height_px);
    if (background) this.canvas.place(background, 0, 0);
  }

  /** Pixels of a length. */
  pixels(metres: number): number {
    return metres / this.#frame.metres_per_px;
  }

  at([right, up]: Place): Place {
    const { left_stored, top_stored, metres_per_px } = this.#frame;
    return [(right - left_stored) / metres_per_px, (top_stored - up) / metres_per_px];
  }

  line(from: Place, to: Place, color: Rgb, width = 2): void {
    const [[x, y], [x2, y2]] = [this.at(from), this.at(to)];
    const steps = Math.min(20_000, Math.ceil(Math.max(Math.abs(x2 - x), Math.abs(y2 - y), 1)));
    for (let i = 0; i <= steps; i += 1)
      this.canvas.fill(
        x + ((x2 - x) * i) / steps - width / 2,
        y + ((y2 - y) * i) / steps - width / 2,
        width,
        width,
        color,
      );
  }

  polygon(corners: readonly Place[], color: Rgb, width = 2): void {
    for (const [i, corner] of corners.entries())
      this.line(corner, corners[(i + 1) % corners.length] ?? corner, color, width);
  }

  /** A filled circle of a radius in pixels. */
  disc(center: Place, radius: number, color: Rgb): void {
    const [x, y] = this.at(center);
    for (let row = -Math.ceil(radius); row <= Math.ceil(radius); row += 1) {
      const half = Math.sqrt(Math.max(0, radius * radius - row * row));
      if (half > 0) this.canvas.fill(x - half, y + row, 2 * half, 1, color);
    }
  }

  cross(center: Place, size: number, color: Rgb): void {
    const [x, y] = this.at(center);
    this.canvas.fill(x - size, y - 1, 2 * size, 2, color);
    this.canvas.fill(x - 1, y - size, 2, 2 * size, color);
  }

  /** A word with its middle at a place, on a light ground. */
  label(text: string, place: Place): void {
    const [x, y] = this.at(place);
    const width = textWidth(text);
    this.canvas.fill(x - width / 2 - 2, y - LINE_PX / 2 + 3, width + 4, LINE_PX - 6, [255, 255, 255]);
    this.canvas.text(text, x, y + LINE_PX / 3 - 1, "middle");
  }
}
