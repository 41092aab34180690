import { decodePng } from "./framed-picture.ts";
import { encodePng, type Raster } from "./render.ts";

/** Bytes that base64 needs for so many bytes. */
const encoded = (bytes: number) => Math.ceil(bytes / 3) * 4;
/** A picture is not made smaller than this. */
const LEAST_PX = 160;

/** Smallest and largest factor of the sides in one round: the size of a PNG follows its area only roughly. */
const [LEAST_STEP, MOST_STEP] = [0.5, 0.96];

/**
 * The pictures, reduced in size until they fit a budget as base64: those whose files are larger than the level at which all
 * fit, each from its full size. A picture below that level stays as it is.
 */
export async function fitPictures(pngs: readonly Uint8Array[], budget: number): Promise<Uint8Array[]> {
  const fitted = [...pngs];
  const shares = pngs.map(() => 1);
  for (;;) {
    const sizes = fitted.map((png) => encoded(png.length));
    if (sizes.reduce((sum, size) => sum + size, 0) <= budget) return fitted;
    const level = commonLevel(sizes, budget);
    const shrink = async (png: Uint8Array, k: number): Promise<boolean> => {
      const size = sizes[k] ?? 0;
      if (size <= level) return false;
      const picture = decodePng(png);
      const share = (shares[k] ?? 1) * Math.max(LEAST_STEP, Math.min(MOST_STEP, Math.sqrt(level / size)));
      if (Math.max(picture.width, picture.height) * share < LEAST_PX) return false;
      shares[k] = share;
      fitted[k] = await encodePng(reduced(picture, share));
      return true;
    };
    const changed = await Promise.all(pngs.map(shrink));
    if (!changed.includes(true)) return fitted;
  }
}

/** The level at which sizes cut to it have the sum `budget`; the sizes have a larger sum. */
function commonLevel(sizes: readonly number[], budget: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = budget;
  for (const [k, size] of ascending.entries()) {
    const level = left / (ascending.length - k);
    if (size > level) return Math.max(0, level);
    left -= size;
  }
  return 0;
}

/** A picture with its sides multiplied by `share`; each pixel is the mean of the area that it covers. */
export function reduced({ width, height, data }: Raster, share: number): Raster {
  const columns = Math.max(1, Math.round(width * share));
  const rows = Math.max(1, Math.round(height * share));
  // The mean over a rectangle is the mean of its rows' means.
  const low = new Float32Array(4 * width * rows);
  eachCover(height, rows, (row, y, part) => {
    const [from, to] = [4 * width * y, 4 * width * row];
    for (let k = 0; k < 4 * width; k += 1) low[to + k] = (low[to + k] ?? 0) + part * (data[from + k] ?? 0);
  });
  const out = new Float32Array(4 * columns * rows);
  eachCover(width, columns, (column, x, part) => {
    for (let row = 0; row < rows; row += 1) {
      const [from, to] = [4 * (row * width + x), 4 * (row * columns + column)];
      for (let k = 0; k < 3; k += 1) out[to + k] = (out[to + k] ?? 0) + part * (low[from + k] ?? 0);
    }
  });
  const bytes = new Uint8Array(out.length);
  for (let k = 0; k < out.length; k += 1) bytes[k] = k % 4 === 3 ? 255 : Math.round(out[k] ?? 0);
  return { width: columns, height: rows, data: bytes };
}

/** Calls `visit` with each of `count` equal intervals, each of `length` cells that it covers, and the cell's part of it. */
function eachCover(length: number, count: number, visit: (interval: number, cell: number, part: number) => void): void {
  for (let k = 0; k < count; k += 1) {
    const [low, high] = [(k * length) / count, ((k + 1) * length) / count];
    for (let cell = Math.floor(low); cell < high; cell += 1)
      visit(k, cell, (Math.min(high, cell + 1) - Math.max(low, cell)) / (high - low));
  }
}
