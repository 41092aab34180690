/** The tallest tree known is 116 m high (Sequoia sempervirens), the thickest has 11.6 m (Taxodium mucronatum). */
const TALLEST_M = 120;
const THICKEST_M = 12;

/** Rows of the native list of trees; NaN where a value is not known. */
interface Rows {
  readonly length: number;
  get(row: number, field: string): number;
}

/** Ids of trees that cannot be: too high, too thick. */
export interface ImpossibleTrees {
  readonly higher: readonly number[];
  readonly thicker: readonly number[];
}

export function impossibleTrees(trees: Rows): ImpossibleTrees {
  const above = (field: string, most: number) =>
    Array.from({ length: trees.length }, (_, i) => i)
      .filter((i) => trees.get(i, field) > most)
      .map((i) => trees.get(i, "tree_id"));
  return { higher: above("height_m", TALLEST_M), thicker: above("dbh_diameter_m", THICKEST_M) };
}

/** Warns of trees that cannot be: their points hold strays, or their unit is not the metre. */
export function impossibleWarnings({ higher, thicker }: ImpossibleTrees): string[] {
  const rules = [
    ["higher", higher, TALLEST_M],
    ["thicker", thicker, THICKEST_M],
  ] as const;
  return rules.flatMap(([how, ids, most]) => {
    if (ids.length === 0) return [];
    const who = ids.length === 1 ? `Tree ${ids[0]} is` : `${ids.length} trees are`;
    return [
      `${who} ${how} than ${most} m, as no tree on Earth is: there are stray points (label noise first), or the coordinates are not metres. Import with source_units to convert them.`,
    ];
  });
}
