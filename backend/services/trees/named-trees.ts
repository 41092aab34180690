const NAMED = 5;

/** "tree 3, 4, 8, .." */
export function namedTrees(trees: readonly (number | string)[]): string {
  return `tree ${trees.slice(0, NAMED).join(", ")}${trees.length > NAMED ? ", .." : ""}`;
}
