/** The largest 1, 2 or 5 times a power of ten that is not above `value`. `value` must be positive and finite. */
export function roundStepBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  // log10 may round across a power of ten; the comparison corrects this.
  const candidates = [10, 5, 2, 1, 0.5, 0.2, 0.1].map((digit) => digit * power);
  const step = candidates.find((candidate) => candidate <= value * (1 + 1e-12)) ?? power / 10;
  return Number(step.toPrecision(1));
}

/** The smallest 1, 2 or 5 times a power of ten that is not below `value`. `value` must be positive and finite. */
function roundStepAbove(value: number): number {
  const below = roundStepBelow(value);
  if (below >= value * (1 - 1e-12)) return below;
  // 1 -> 2 -> 5 -> 10
  const factor = below.toExponential().startsWith("2") ? 2.5 : 2;
  return Number((below * factor).toPrecision(1));
}

/** Multiples of a round step between `low` and `high`, about `wanted` at most. Empty for an empty range. */
export function roundTicks(
  low: number,
  high: number,
  wanted: number,
): { readonly values: number[]; readonly step: number } {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return { values: [], step: 1 };
  const step = roundStepAbove(span / Math.max(1, wanted));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const values: number[] = [];
  for (let k = first; k <= last && values.length < 100; k += 1) values.push(k * step);
  return { values, step };
}

/** Number of decimals that a multiple of `step` needs. */
export function stepDecimals(step: number): number {
  return step >= 1 ? 0 : Math.min(9, Math.ceil(-Math.log10(step) - 1e-9));
}

/** Formats a number for readers: fixed decimals, narrow spaces between thousands, a true minus sign. */
export function plainNumber(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  const [whole = "0", fraction] = Math.abs(value).toFixed(decimals).split(".");
  // toFixed returns an exponent from 1e21 on.
  if (whole.includes("e")) return String(value);
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  const isZero = !/[1-9]/.test(whole + (fraction ?? ""));
  return `${value < 0 && !isZero ? "\u2212" : ""}${grouped}${fraction ? `.${fraction}` : ""}`;
}

/** Formats a number of unknown size with about six significant digits, without trailing zeros. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return plainNumber(value, 0);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(4);
  const decimals = Math.max(0, Math.min(6, 5 - Math.floor(Math.log10(size || 1))));
  const text = plainNumber(value, decimals);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
