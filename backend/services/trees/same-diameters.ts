import type { Diameter } from "./doubtful-diameters.ts";

/** Diameters within this part of each other, and at least this, metres, are the same. */
const SAME_PART = 0.01;
const SAME_M = 0.001;
/** Fewer that are the same are so by chance. */
const FEWEST = 5;
/** Of how many such ranges around one the rest of the trees tells what chance would put there, and how far above it, in deviations. */
const RANGES = 10;
const DEVIATIONS = 5;
const NAMED = 5;

type Known = Pick<Diameter, "tree_id" | "dbh_m">;

/** The number of an ascending list's values up to ever greater bounds. */
function counter(sorted: readonly Known[]): (bound: number) => number {
  let count = 0;
  return (bound) => {
    while (count < sorted.length && (sorted[count]?.dbh_m ?? 0) <= bound) count += 1;
    return count;
  };
}

/** The most diameters that are the same, and far more than those around them let expect. */
export function sameDiameters(diameters: readonly Known[]): Known[] {
  const sorted = diameters.toSorted((a, b) => a.dbh_m - b.dbh_m);
  const [below, upTo, above] = [counter(sorted), counter(sorted), counter(sorted)];
  let best: Known[] = [];
  for (const [i, { dbh_m }] of sorted.entries()) {
    const width = Math.max(SAME_M, SAME_PART * dbh_m);
    const half = ((RANGES - 1) * width) / 2;
    const around = above(dbh_m + width + half) - below(dbh_m - half);
    const same = upTo(dbh_m + width) - i;
    const chance = (around - same) / (RANGES - 1);
    if (same >= FEWEST && same > best.length && same > chance + DEVIATIONS * Math.sqrt(chance) + FEWEST - 1)
      best = sorted.slice(i, i + same);
  }
  return best;
}

/** That trees may be stakes, shelters or posts: things that are made have one diameter. */
export function sameDiameterWarnings(diameters: readonly Known[]): string[] {
  const same = sameDiameters(diameters);
  if (same.length === 0) return [];
  const square = (sum: number, { dbh_m }: Known) => sum + dbh_m ** 2;
  const share = same.reduce(square, 0) / diameters.reduce(square, 0);
  const ids = same.map(({ tree_id }) => tree_id).sort((a, b) => a - b);
  const more = ids.length > NAMED ? ", .." : "";
  const millimetres = (one?: Known) => (1000 * (one?.dbh_m ?? 0)).toFixed(0);
  return [
    `${same.length} of ${diameters.length} trees have the same diameter (${millimetres(same[0])} to ${millimetres(same.at(-1))} mm; tree ${ids.slice(0, NAMED).join(", ")}${more}), as tree shelters, stakes, posts and copies of one model have: ${Math.round(100 * share)} % of the basal area. If it is that of things beside or around the stems, leave them out.`,
  ];
}
