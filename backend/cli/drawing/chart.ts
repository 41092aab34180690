import { fittingTicks, type Tick } from "./axes.ts";
import { Canvas, LINE_PX, textWidth } from "./canvas.ts";
import type { Rgb } from "./color-ramp.ts";
import { encodePng } from "./render.ts";
import { shortNumber } from "./round-steps.ts";

/** An axis of a chart. */
export interface ChartAxis {
  readonly title: string;
  readonly range: readonly [number, number];
  /** Equal lengths for equal ratios; the range is then positive. */
  readonly is_log?: boolean;
}

export interface ChartSeries {
  readonly color: Rgb;
  readonly points: readonly (readonly [number, number])[];
  /** Columns from the bottom to each point, as wide as the distance to the next point; else lines between points. */
  readonly is_bars?: boolean;
  /** Points without lines. */
  readonly is_dots?: boolean;
  /** Lines without points. */
  readonly is_line?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  readonly series: readonly ChartSeries[];
  /** Places on the x axis to mark, with a word each. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[];
}

const [WIDTH, HEIGHT] = [1000, 460];
const GAP = 10;
const GRID: Rgb = [0xe2, 0xe6, 0xe3];
const MARK: Rgb = [0x8a, 0x94, 0x8e];

/** Draws a chart. */
export function chartPicture({ title, x, y, series, marks = [] }: Chart): Promise<Uint8Array> {
  const across = ticksOf(x, WIDTH, textWidth, 3 * GAP);
  const upwards = ticksOf(y, HEIGHT, () => LINE_PX, LINE_PX);
  const left = Math.max(...upwards.map(({ text }) => textWidth(text)), 40) + 3 * GAP;
  const top = 3.2 * LINE_PX;
  const canvas = new Canvas(Math.ceil(left + WIDTH + 5 * GAP), Math.ceil(top + HEIGHT + 3.4 * LINE_PX));
  const at_x = (value: number) => left + WIDTH * share(x, value);
  const at_y = (value: number) => top + HEIGHT * (1 - share(y, value));
  canvas.text(title, left, LINE_PX);
  canvas.text(y.title, left, top - GAP);
  for (const { value, text } of upwards) {
    canvas.fill(left, at_y(value), WIDTH, 1, GRID);
    canvas.text(text, left - GAP, at_y(value) + LINE_PX / 3, "right");
  }
  for (const { value, text } of across) {
    canvas.fill(at_x(value), top + HEIGHT, 1, 6);
    canvas.text(text, at_x(value), top + HEIGHT + 6 + LINE_PX, "middle");
  }
  canvas.text(x.title, left + WIDTH / 2, top + HEIGHT + 2.6 * LINE_PX, "middle");
  for (const one of series) drawSeries(canvas, one, at_x, at_y, top + HEIGHT);
  // A word that would overlap the one before goes to the next line.
  let [end, row] = [-Infinity, 0];
  for (const { at, text } of marks) {
    row = at_x(at) < end ? row + 1 : 0;
    end = at_x(at) + textWidth(text) + GAP;
    canvas.fill(at_x(at), top, 2, HEIGHT, MARK);
    canvas.text(text, at_x(at) + 5, top + LINE_PX * (1 + row));
  }
  canvas.fill(left, top, 1, HEIGHT);
  canvas.fill(left, top + HEIGHT, WIDTH + 1, 1);
  return encodePng(canvas);
}

function drawSeries(
  canvas: Canvas,
  { color, points, is_bars, is_dots, is_line }: ChartSeries,
  at_x: (value: number) => number,
  at_y: (value: number) => number,
  base: number,
): void {
  for (const [k, [px, py]] of points.entries()) {
    const next = points[k + 1];
    const [x, y] = [at_x(px), at_y(py)];
    if (is_bars) {
      if (next) canvas.fill(x, y, Math.max(1, at_x(next[0]) - x - 1), base - y, color);
      continue;
    }
    if (!is_line) canvas.fill(x - 3, y - 3, 6, 6, color);
    if (!next || is_dots) continue;
    const [x2, y2] = [at_x(next[0]), at_y(next[1])];
    const steps = Math.ceil(Math.max(Math.abs(x2 - x), Math.abs(y2 - y), 1));
    for (let i = 0; i <= steps; i += 1)
      canvas.fill(x + ((x2 - x) * i) / steps - 1, y + ((y2 - y) * i) / steps - 1, 2, 2, color);
  }
}

/** Position of a value on an axis, 0..1 inside its range. */
function share({ range: [low, high], is_log = false }: ChartAxis, value: number): number {
  const scale = (v: number) => (is_log ? Math.log10(v) : v);
  const span = scale(high) - scale(low);
  return span > 0 ? Math.min(1, Math.max(0, (scale(Math.max(value, is_log ? low : value)) - scale(low)) / span)) : 0.5;
}

function ticksOf(axis: ChartAxis, length: number, sizeOf: (text: string) => number, gap: number): Tick[] {
  const [low, high] = axis.range;
  if (!axis.is_log) return fittingTicks(low, high, length, sizeOf, gap);
  const decades = (digits: readonly number[]) => {
    const values: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1)
      values.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    return values.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  };
  const wanted = [[1], [1, 2, 5]].map(decades);
  const chosen = (wanted[0]?.length ?? 0) >= 3 ? wanted[0] : wanted[1];
  return (chosen ?? []).map((value) => ({ value, text: value < 1e-4 ? value.toExponential(0) : shortNumber(value) }));
}
