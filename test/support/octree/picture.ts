import { PNG } from "pngjs";

/** Brighter than this in some channel is drawn: the background is black. */
const LIT = 24;

export interface Picture {
  /** Drawn pixels. */
  readonly lit: number;
  /** Of the box around them, pixels. */
  readonly width: number;
  readonly height: number;
  /** Mean row of the red and of the green pixels, from the top; NaN when there are none. */
  readonly red_row: number;
  readonly green_row: number;
}

/** What is drawn in a screenshot with a black background. */
export function readPicture(png: Buffer): Picture {
  const { width, height, data } = PNG.sync.read(png);
  const box = { left: width, right: -1, top: height, bottom: -1 };
  const rows = { red: [] as number[], green: [] as number[] };
  let lit = 0;
  for (let i = 0; i < width * height; i += 1) {
    const [r = 0, g = 0, b = 0] = data.subarray(4 * i, 4 * i + 3);
    if (Math.max(r, g, b) < LIT) continue;
    const row = Math.floor(i / width);
    lit += 1;
    box.left = Math.min(box.left, i % width);
    box.right = Math.max(box.right, i % width);
    box.top = Math.min(box.top, row);
    box.bottom = row;
    if (r > 2 * Math.max(g, b)) rows.red.push(row);
    if (g > 2 * Math.max(r, b)) rows.green.push(row);
  }
  const mean = (list: number[]) => list.reduce((sum, row) => sum + row, 0) / list.length;
  return {
    lit,
    width: Math.max(0, box.right - box.left + 1),
    height: Math.max(0, box.bottom - box.top + 1),
    red_row: mean(rows.red),
    green_row: mean(rows.green),
  };
}
