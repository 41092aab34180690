// Trees of a list beside the true ones.
import type { TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";

interface Standing {
  readonly x: number;
  readonly y: number;
}

/** Each true tree with the row that stands next to it, if that is nearer than `reach_m`. */
export function standingBeside<Tree extends Standing>(
  trees: readonly Tree[],
  rows: readonly TreeRow[],
  reach_m: number,
): { readonly tree: Tree; readonly row: TreeRow }[] {
  const away = ({ stem_base: [x = 1e9, y = 0] = [] as never }: TreeRow, tree: Standing) =>
    Math.hypot(x - tree.x, y - tree.y);
  return trees.flatMap((tree) => {
    const row = rows.toSorted((a, b) => away(a, tree) - away(b, tree))[0];
    return row && away(row, tree) < reach_m ? [{ tree, row }] : [];
  });
}

/** `height_m` less the true height of each pair, metres, and its diameter less the true one where it has one, millimetres. */
export function sizeErrors(
  pairs: readonly { readonly tree: { readonly height_m: number; readonly dbh_m: number }; readonly row: TreeRow }[],
): { readonly height_m: number[]; readonly diameter_mm: number[] } {
  return {
    height_m: pairs.map(({ row, tree }) => (row.height_m ?? Number.NaN) - tree.height_m),
    diameter_mm: pairs.flatMap(({ row, tree }) => (row.dbh_m ? [1000 * (row.dbh_m - tree.dbh_m)] : [])),
  };
}

export const mean = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length;

/** The value of the largest size. */
export const largest = (list: readonly number[]): number =>
  list.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0] ?? Number.NaN;

export const figure = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : "-");
