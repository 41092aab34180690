/** Number of letters to insert, delete or replace (Levenshtein distance), without regard to case. */
export function editDistance(a: string, b: string): number {
  const [from, to] = [a.toLowerCase(), b.toLowerCase()];
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** The name that was probably meant; undefined if none is near. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const [nearest = ""] = names.toSorted((a, b) => editDistance(word, a) - editDistance(word, b));
  return editDistance(word, nearest) <= Math.max(2, Math.floor(nearest.length / 2)) ? nearest : undefined;
}
