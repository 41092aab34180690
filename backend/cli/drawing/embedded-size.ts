import { decodePng } from "./framed-picture.ts";
import { encodePng, type Raster } from "./render.ts";

/** Bytes that base64 needs for so many bytes. */
const encoded = (bytes: number) => Math.ceil(bytes / 3) * 4;
/** A picture is not made smaller than this. */
const LEAST_PX = 160;

/**
 * The pictures, reduced in size until they fit a budget as base64. The largest files are reduced first; a picture that
 * fits stays as it is.
 */
export async function fitPictures(pngs: readonly Uint8Array[], budget: number): Promise<Uint8Array[]> {
  const fitted = [...pngs];
  for (;;) {
    const sizes = fitted.map((png) => encoded(png.length));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (total <= budget) return fitted;
    const largest = sizes.indexOf(Math.max(...sizes));
    const png = fitted[largest];
    if (!png) return fitted;
    const picture = decodePng(png);
    if (Math.max(picture.width, picture.height) <= LEAST_PX) return fitted;
    // Never below the fair share at once: the size of a PNG follows its area roughly only.
    const share = Math.max(0.5, Math.min(0.9, Math.sqrt(budget / total)));
    fitted[largest] = await encodePng(reduced(picture, share));
  }
}

/** A picture with its sides multiplied by `share`; each pixel is the mean of the area that it covers. */
export function reduced({ width, height, data }: Raster, share: number): Raster {
  const columns = Math.max(1, Math.round(width * share));
  const rows = Math.max(1, Math.round(height * share));
  const out = new Uint8Array(4 * columns * rows);
  for (let row = 0; row < rows; row += 1) {
    const [top, bottom] = [(row * height) / rows, ((row + 1) * height) / rows];
    for (let column = 0; column < columns; column += 1) {
      const [left, right] = [(column * width) / columns, ((column + 1) * width) / columns];
      const sum = [0, 0, 0];
      for (let y = Math.floor(top); y < bottom; y += 1) {
        const tall = Math.min(bottom, y + 1) - Math.max(top, y);
        for (let x = Math.floor(left); x < right; x += 1) {
          const area = tall * (Math.min(right, x + 1) - Math.max(left, x));
          for (let k = 0; k < 3; k += 1) sum[k] = (sum[k] ?? 0) + area * (data[4 * (y * width + x) + k] ?? 0);
        }
      }
      const whole = (bottom - top) * (right - left);
      out.set([...sum.map((value) => Math.round(value / whole)), 255], 4 * (row * columns + column));
    }
  }
  return { width: columns, height: rows, data: out };
}
