import { inflateSync } from "node:zlib";
import type { Rgb } from "./color-ramp.ts";
import { ADVANCES, BASELINE, COVERAGE, GLYPH_ROWS, GLYPHS } from "./font-data.ts";
import type { Raster } from "./render.ts";

/** Height of a line of text, pixels. */
export const LINE_PX = GLYPH_ROWS;
export const INK: Rgb = [0x1d, 0x24, 0x20];

interface Glyph {
  readonly width: number;
  /** First value in the coverage. */
  readonly start: number;
}

const GLYPH_TABLE: ReadonlyMap<string, Glyph> = (() => {
  const table = new Map<string, Glyph>();
  let start = 0;
  for (const [i, letter] of [...GLYPHS].entries()) {
    const width = ADVANCES[i] ?? 0;
    table.set(letter, { width, start });
    start += width * GLYPH_ROWS;
  }
  return table;
})();
let coverage: Uint8Array | undefined;

/** The glyph of a letter; the replacement character for one that the font lacks. */
const glyphOf = (letter: string): Glyph =>
  GLYPH_TABLE.get(letter) ?? GLYPH_TABLE.get("\ufffd") ?? { width: 0, start: 0 };

/** Width of a text, pixels. */
export const textWidth = (text: string): number => [...text].reduce((sum, letter) => sum + glyphOf(letter).width, 0);

/** A white picture to draw on. */
export class Canvas implements Raster {
  readonly data: Uint8Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.data = new Uint8Array(4 * width * height).fill(255);
  }

  /** Copies a picture to a place. */
  place(picture: Raster, x: number, y: number): void {
    for (let row = 0; row < picture.height; row += 1) {
      const from = 4 * row * picture.width;
      this.data.set(picture.data.subarray(from, from + 4 * picture.width), 4 * ((y + row) * this.width + x));
    }
  }

  fill(x: number, y: number, width: number, height: number, color: Rgb = INK): void {
    for (let row = Math.max(0, Math.round(y)); row < Math.min(this.height, Math.round(y + height)); row += 1) {
      for (let at = Math.max(0, Math.round(x)); at < Math.min(this.width, Math.round(x + width)); at += 1)
        this.data.set(color, 4 * (row * this.width + at));
    }
  }

  /** Writes text with its baseline at `y`. */
  text(text: string, x: number, y: number, align: "left" | "middle" | "right" = "left"): void {
    coverage ??= inflateSync(Buffer.from(COVERAGE, "base64"));
    const share = { left: 0, middle: 0.5, right: 1 }[align];
    let left = Math.round(x - share * textWidth(text));
    const top = Math.round(y) - BASELINE;
    for (const letter of text) {
      const { width, start } = glyphOf(letter);
      for (let k = 0; k < width * GLYPH_ROWS; k += 1) {
        const packed = coverage[(start + k) >> 1] ?? 0;
        const ink = ((start + k) % 2 === 0 ? packed >> 4 : packed & 15) / 15;
        if (ink > 0) this.#blend(left + (k % width), top + Math.floor(k / width), ink);
      }
      left += width;
    }
  }

  #blend(x: number, y: number, ink: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = 4 * (y * this.width + x);
    for (let k = 0; k < 3; k += 1)
      this.data[at + k] = Math.round((this.data[at + k] ?? 0) * (1 - ink) + (INK[k] ?? 0) * ink);
  }
}
