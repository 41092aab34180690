// Which found stems are which trees.
import type { FoundStem } from "../../backend/native/stems.ts";

/** The layer of the contract's defaults. */
export const BAND = { band_min_m: 1, band_max_m: 2, max_diameter_m: 3 };

export interface KnownStem {
  /** Near breast height, metres. */
  readonly x: number;
  readonly y: number;
  readonly dbh_m: number;
}

/** Indices of a tree and of a found stem. */
export interface StemPair {
  readonly tree: number;
  readonly stem: number;
}

/** Pairs nearer than `most_m` in plan, one to one, the nearest ones first. */
export function stemPairs(trees: readonly KnownStem[], stems: readonly FoundStem[], most_m: number): StemPair[] {
  const near = trees.flatMap((tree, t) =>
    stems.map(({ position: [x, y] }, s) => ({ tree: t, stem: s, distance: Math.hypot(x - tree.x, y - tree.y) })),
  );
  const [takenTrees, takenStems] = [new Set<number>(), new Set<number>()];
  return near
    .filter(({ distance }) => distance < most_m)
    .sort((a, b) => a.distance - b.distance)
    .filter(({ tree, stem }) => {
      if (takenTrees.has(tree) || takenStems.has(stem)) return false;
      takenTrees.add(tree);
      takenStems.add(stem);
      return true;
    });
}
