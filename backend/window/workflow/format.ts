/* Numbers for people: few digits, and thousands apart. */

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (value: number): string => grouped.format(value);

/** Up to `digits` after the point; two significant ones where that would show 0. */
export function measure(value: number | null | undefined, unit: string, digits = 2): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const isTiny = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  const places = isTiny ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: digits };
  const text = new Intl.NumberFormat("en", places).format(value);
  return unit === "" ? text : `${text} ${unit}`;
}

export const percent = (share: number): string => measure(100 * share, "%", 1);

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 100) return measure(seconds, "s", 1);
  return seconds < 6000 ? measure(seconds / 60, "min", 0) : measure(seconds / 3600, "h", 1);
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const place = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return measure(value / 1000 ** place, units[place] ?? "B", 1);
}

/** A file name without its extension, as the beginning of other names. */
export const fileStem = (name: string): string => name.replace(/\.[^./\\]*$/, "") || name;
