/** A tree whose circle at breast height is in the place of that of another, which is better known. */
export interface SameStem {
  readonly tree_id: number;
  readonly as: number;
}

const NAMED = 3;

/** Warns of trees that were measured at the stem of another: both diameters would count it twice. */
export function sameStemWarnings(found: readonly SameStem[]): string[] {
  if (found.length === 0) return [];
  const named = found.slice(0, NAMED).map(({ tree_id, as }) => `${tree_id} and ${as}`);
  const more = found.length > NAMED ? ", .." : "";
  const are = found.length === 1 ? "tree is" : "trees are";
  return [
    `${found.length} ${are} measured at the stem of another, whose circle is better known (${named.join(", ")}${more}), and ${found.length === 1 ? "has" : "have"} no diameter (flags: same_stem): the points of one stem have two numbers, or limbs and leaves stand around it. Look at them; segment the trees again or merge the two numbers.`,
  ];
}
