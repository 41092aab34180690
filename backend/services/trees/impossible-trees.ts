import { TALLEST_TREE_M } from "../run/unstated-units.ts";

/** The thickest tree known has 11.6 m (Taxodium mucronatum). */
const THICKEST_M = 12;
/** Empty strip from which the points of a tree stand in two places: no gap within a crown is as wide. */
const APART_M = 5;

/** Rows of the native list of trees; NaN where a value is not known. */
interface Rows {
  readonly length: number;
  get(row: number, field: string): number;
}

/** Ids of trees that cannot be: too high, too thick, in two places. */
export interface ImpossibleTrees {
  readonly higher: readonly number[];
  readonly thicker: readonly number[];
  readonly apart: readonly number[];
}

export function impossibleTrees(trees: Rows): ImpossibleTrees {
  const above = (field: string, most: number) =>
    Array.from({ length: trees.length }, (_, i) => i)
      .filter((i) => trees.get(i, field) > most)
      .map((i) => trees.get(i, "tree_id"));
  return {
    higher: above("height_m", TALLEST_TREE_M),
    thicker: above("dbh_diameter_m", THICKEST_M),
    apart: above("strip_m", APART_M),
  };
}

/** Warns of trees that cannot be: strays, a unit that is not the metre, two trees of one number. */
export function impossibleWarnings({ higher, thicker, apart }: ImpossibleTrees): string[] {
  const rules = [
    ["higher", higher, TALLEST_TREE_M],
    ["thicker", thicker, THICKEST_M],
  ] as const;
  const sizes = rules.flatMap(([how, ids, most]) => {
    if (ids.length === 0) return [];
    const who = ids.length === 1 ? `Tree ${ids[0]} is` : `${ids.length} trees are`;
    return [
      `${who} ${how} than ${most} m, as no tree on Earth is: there are stray points (label noise first), or the coordinates are not metres. Import with source_units to convert them.`,
    ];
  });
  if (apart.length === 0) return sizes;
  const which = apart.length === 1 ? `Points of tree ${apart[0]} stand` : `Points of ${apart.length} trees stand`;
  return [
    ...sizes,
    `${which} in two places more than ${APART_M} m apart: clouds with the same tree numbers may have been merged. Segment the trees again.`,
  ];
}
