import { svg } from "./dom.ts";

const BINS = 12;
const WIDTH = 60;
const HEIGHT = 18;

export interface Bins {
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
}

/** Counts of finite values in equal bins; null without one. A single value has one bin. */
export function binsOf(values: readonly (number | null | undefined)[]): Bins | null {
  const finite = values.filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  if (finite.length === 0) return null;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of finite) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const counts = new Array<number>(low === high ? 1 : BINS).fill(0);
  for (const value of finite) {
    const share = low === high ? 0 : value / (high - low) - low / (high - low);
    const bin = Math.min(counts.length - 1, Math.floor(share * counts.length));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { low, high, counts };
}

/** A small drawing of the bins; `mark` shows where a value lies. */
export function histogram({ low, high, counts }: Bins, label: string, mark?: number): SVGElement {
  const most = Math.max(...counts);
  const width = WIDTH / counts.length;
  const bars = counts.map((value, i) =>
    svg("rect", {
      x: i * width,
      y: HEIGHT - (HEIGHT * value) / most,
      width: Math.max(1, width - 1),
      height: (HEIGHT * value) / most,
    }),
  );
  const at = mark === undefined || high === low ? null : (WIDTH * (mark - low)) / (high - low);
  return svg(
    "svg",
    { class: "histogram", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    ...bars,
    at !== null && svg("line", { x1: at, x2: at, y1: 0, y2: HEIGHT }),
  );
}
