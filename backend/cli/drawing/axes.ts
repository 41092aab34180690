import { plainNumber, roundStepBelow, roundTicks, shortNumber, stepDecimals } from "./round-steps.ts";
import { AXIS_NAMES, type ViewFrame } from "./view-frame.ts";

/** Length of the scale bar, metres: the largest 1, 2 or 5 x 10^k in a quarter of the picture's width. */
export function scaleBarLength(frame: Pick<ViewFrame, "width_px" | "metres_per_px">): number {
  return roundStepBelow(0.25 * frame.width_px * frame.metres_per_px);
}

/** "20 m", "0.5 m", "1e-7 m". */
export function lengthLabel(metres: number): string {
  return metres < 1e-6 || metres >= 1e9
    ? `${metres.toExponential(0)} m`
    : `${plainNumber(metres, stepDecimals(metres))} m`;
}

export function axisTitle(axis: 0 | 1 | 2): string {
  return `${AXIS_NAMES[axis]} ${["(east)", "(north)", "(up)"][axis]}, m`;
}

export interface Tick {
  readonly value: number;
  readonly text: string;
}

const MOST_TICKS = 10;

/**
 * The most ticks with round values, at most ten, whose labels stay apart on an axis of `length`.
 * `sizeOf`: extent of a label along the axis; `gap`: least distance between two labels; all in the unit of `length`.
 */
export function fittingTicks(
  low: number,
  high: number,
  length: number,
  sizeOf: (text: string) => number,
  gap: number,
): Tick[] {
  for (let wanted = MOST_TICKS; wanted >= 1; wanted -= 1) {
    const { values, step } = roundTicks(low, high, wanted);
    const ticks = values.map((value) => ({ value, text: plainNumber(value, stepDecimals(step)) }));
    const room = (length * step) / (high - low);
    if (ticks.length > 0 && ticks.every(({ text }) => sizeOf(text) + gap <= room)) return ticks;
  }
  // Not even two labels fit beside each other: one stands alone.
  const { values, step } = roundTicks(low, high, 1);
  return values.slice(0, 1).map((value) => ({ value, text: plainNumber(value, stepDecimals(step)) }));
}

/** Ticks of a colour bar; of a single value, that value. */
export function barTicks(low: number, high: number, length: number, line: number): Tick[] {
  const ticks = fittingTicks(low, high, length, () => line, line / 2);
  return ticks.length > 0 ? ticks : [{ value: low, text: shortNumber(low) }];
}
