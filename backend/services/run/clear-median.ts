/** Standard errors of a median that chance explains. */
const MOST_ERRORS = 4;
/** Of a median of n values from a normal distribution, times their deviation over the root of n. */
const MEDIAN_ERROR = 1.25;

/** Whether a median of `count` values that scatter by `spread` is above `least` and not by chance. */
export const isClearMedian = (median: number, spread: number, count: number, least: number): boolean =>
  median > Math.max(least, (MOST_ERRORS * MEDIAN_ERROR * spread) / Math.sqrt(count));
