/** The class counts the values in [lo, hi). */
export interface HistogramClass {
  readonly lo: number;
  readonly hi: number;
  readonly count: number;
}

/** Most classes of a histogram; beyond it a width is a mistake. */
const MAX_CLASSES = 10_000;

/** Classes [k w, (k + 1) w) from the first to the last with a value. Errors: RangeError for a width that makes too many. */
export function classesOf(values: readonly number[], width: number): HistogramClass[] {
  if (!(width > 0 && Number.isFinite(width))) throw new RangeError(`a class width of ${width} is not above 0`);
  if (values.length === 0) return [];
  const index = (value: number) => {
    let k = Math.floor(value / width);
    // The edges are k * width; the quotient may round across one.
    if (value < k * width) k -= 1;
    else if (value >= (k + 1) * width) k += 1;
    return k;
  };
  const indices = values.map(index);
  const first = indices.reduce((least, k) => Math.min(least, k));
  const last = indices.reduce((most, k) => Math.max(most, k));
  if (last - first >= MAX_CLASSES) throw new RangeError(`a class width of ${width} makes ${last - first + 1} classes`);
  const counts = new Array<number>(last - first + 1).fill(0);
  for (const k of indices) counts[k - first] = (counts[k - first] ?? 0) + 1;
  return counts.map((count, i) => ({ lo: (first + i) * width, hi: (first + i + 1) * width, count }));
}

/**
 * classesOf, with classes ten, a hundred, ... times as wide where the values are spread too far for the width. Errors:
 * RangeError for a width that is not above 0.
 */
export function fittingClassesOf(values: readonly number[], width: number): HistogramClass[] {
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let fitting = width;
  while (fitting > 0 && (most - least) / fitting >= MAX_CLASSES - 1) fitting *= 10;
  return classesOf(values, fitting);
}
