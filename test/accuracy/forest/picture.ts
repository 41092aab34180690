// Points as a picture, to look at.
import { writeFileSync } from "node:fs";
import { PNG } from "pngjs";

type Color = readonly [number, number, number];

/** What is drawn: coordinates across and up the picture, the distance from the viewer, and a colour. */
export interface Drawn {
  readonly count: number;
  across(i: number): number;
  up(i: number): number;
  depth(i: number): number;
  color(i: number): Color;
}

/** A colour for each id, neighbours far apart. */
export function idColor(id: number): Color {
  const hue = (id * 0.618034) % 1;
  const channel = (turn: number) => Math.round(70 + 170 * Math.abs((((hue + turn) % 1) * 2 - 1) ** 2));
  return id === 0 ? [90, 80, 70] : [channel(0), channel(1 / 3), channel(2 / 3)];
}

/** Draws nearer points over farther ones; `left`, `low`: the corner; `scale`: pixels per metre. */
export function drawPoints(
  path: string,
  drawn: Drawn,
  view: {
    readonly left: number;
    readonly low: number;
    readonly scale: number;
    readonly width: number;
    readonly height: number;
  },
): void {
  const { left, low, scale, width, height } = view;
  const png = new PNG({ width, height });
  const depth = new Float64Array(width * height).fill(Infinity);
  png.data.fill(255);
  for (let i = 0; i < drawn.count; i += 1) {
    const x = Math.floor((drawn.across(i) - left) * scale);
    const y = height - 1 - Math.floor((drawn.up(i) - low) * scale);
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    const at = y * width + x;
    if (drawn.depth(i) >= (depth[at] ?? 0)) continue;
    depth[at] = drawn.depth(i);
    png.data.set(drawn.color(i), 4 * at);
  }
  writeFileSync(path, PNG.sync.write(png));
}
