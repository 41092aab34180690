// The median of samples, figure by figure.

/** The figures of a sample: its numbers and its groups of numbers (stages, phases). */
export type Medians<Sample> = {
  readonly [name in keyof Sample as Sample[name] extends readonly unknown[]
    ? never
    : Sample[name] extends number | object
      ? name
      : never]: Sample[name];
};
/** The names of a sample's single figures. */
export type NumberNames<Sample> = {
  [name in keyof Sample]: Sample[name] extends number ? name : never;
}[keyof Sample] &
  string;

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Median of every figure over the runs; of figures in groups too. A group's figure that a run lacks counts as 0. */
export function median<Sample extends object>(samples: readonly Sample[]): Medians<Sample> {
  return medianOfGroups(samples as readonly Group[]) as Medians<Sample>;
}

type Group = Readonly<Record<string, unknown>>;

function medianOfGroups(groups: readonly Group[]): Group {
  const result: Record<string, unknown> = {};
  for (const [key, first] of Object.entries(groups[0] ?? {})) {
    const values = groups.map((group) => group[key]);
    if (typeof first === "number") result[key] = Number(medianOf(values as number[]).toFixed(4));
    else if (first !== null && typeof first === "object")
      result[key] = medianOfGroups(values.map((group) => ({ ...blank(values), ...(group as Group) })));
  }
  return result;
}

/** Every key that any of the groups has, at zero: a short stage may not be seen in each run. */
const blank = (groups: readonly unknown[]): Group =>
  Object.fromEntries(groups.flatMap((group) => Object.keys(group as Group)).map((key) => [key, 0]));
