import { NO_TREE_FLAGS } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { namedTrees } from "./named-trees.ts";
import type { Table } from "./native-table.ts";
import { medianMotion } from "./repeated-trees.ts";
import { flagsOf } from "./row-fields.ts";

/** A stem of a list: its foot and its diameter, metres; NaN = unknown. */
export interface Foot {
  readonly tree_id: number;
  readonly x: number;
  readonly y: number;
  readonly dbh_m: number;
}

/** A tree that stands within the stem of another. */
export interface StemInStem {
  readonly tree_id: number;
  readonly of: number;
  /** From the other one to it, metres along x and y; the larger of the two is positive on average. */
  readonly by_m: readonly [number, number];
}

/** Nearer ones are two numbers of one stem. */
const LEAST_M = 0.02;
/** Wider trunks are looked at within this. */
const MOST_M = 2;
/** More feet in a cell as wide as a trunk are no trees. */
const CROWD = 64;
const AROUND = [-1, 0, 1].flatMap((du) => [-1, 0, 1].map((dv) => [du, dv] as const));
/** n R^2 of Rayleigh's test: by chance fewer than one in e^7 = 1,000 lists have it. */
const RAYLEIGH = 7;

export const feetOf = (trees: Table): Foot[] =>
  Array.from({ length: trees.length }, (_, i) => i)
    .filter((i) => !flagsOf(trees, i).some((flag) => NO_TREE_FLAGS.includes(flag)))
    .map((i) => ({
      tree_id: trees.get(i, "tree_id"),
      x: trees.get(i, "stem_base_x"),
      y: trees.get(i, "stem_base_y"),
      dbh_m: trees.get(i, "dbh_diameter_m"),
    }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));

/** The nearest foot of each within the widest diameter. */
function nearest(feet: readonly Foot[]): (readonly [number, number] | null)[] {
  const edge = Math.min(
    MOST_M,
    feet.reduce((widest, { dbh_m }) => (dbh_m > widest ? dbh_m : widest), LEAST_M),
  );
  const cells = new Map<string, number[]>();
  const cellOf = ({ x, y }: Foot) => [Math.floor(x / edge), Math.floor(y / edge)] as const;
  feet.forEach((foot, i) => {
    const key = cellOf(foot).join();
    const cell = cells.get(key);
    if (cell) cell.push(i);
    else cells.set(key, [i]);
  });
  return feet.map((a, i) => {
    const [u, v] = cellOf(a);
    let best: readonly [number, number] | null = null;
    for (const [du, dv] of AROUND) {
      const cell = cells.get([u + du, v + dv].join()) ?? [];
      if (cell.length > CROWD) continue;
      for (const j of cell) {
        const b = feet[j] as Foot;
        const away = Math.hypot(b.x - a.x, b.y - a.y);
        if (j !== i && away < (best?.[1] ?? edge)) best = [j, away];
      }
    }
    return best;
  });
}

/**
 * Pairs of trees of which one stands within the stem of the other, if all do so in one direction or its opposite: Rayleigh's test
 * of the doubled angles (Mardia & Jupp 2000, section 6.3). Forks and stems that a segmentation divides have any direction.
 */
export function stemsInStems(all: readonly Foot[]): StemInStem[] {
  const feet = all.toSorted((a, b) => a.x - b.x || a.y - b.y || a.tree_id - b.tree_id);
  const near = nearest(feet);
  const pairs = feet.flatMap((a, i) => {
    const [j, away] = near[i] ?? [-1, 0];
    const b = feet[j];
    if (!b || j < i || near[j]?.[0] !== i || away < LEAST_M) return [];
    const wide = Math.max(...[a, b].map(({ dbh_m }) => (dbh_m > 0 ? dbh_m : 0)));
    return away < wide ? [{ tree_id: b.tree_id, of: a.tree_id, x: b.x - a.x, y: b.y - a.y }] : [];
  });
  const angles = pairs.map(({ x, y }) => 2 * Math.atan2(y, x));
  const [cos, sin] = [Math.cos, Math.sin].map((f) => angles.reduce((sum, angle) => sum + f(angle), 0)) as [
    number,
    number,
  ];
  if (!(cos ** 2 + sin ** 2 > RAYLEIGH * pairs.length)) return [];
  const axis = Math.atan2(sin, cos) / 2;
  const forward = Math.abs(Math.cos(axis)) >= Math.abs(Math.sin(axis)) ? Math.cos(axis) : Math.sin(axis);
  return pairs
    .toSorted((a, b) => a.tree_id - b.tree_id)
    .map(({ tree_id, of, x, y }) => {
      const sign = Math.sign(forward * (x * Math.cos(axis) + y * Math.sin(axis))) || 1;
      return { tree_id, of, by_m: [sign * x, sign * y] };
    });
}

/** Warns of stems that the scans of a cloud show beside themselves. */
export function doubledStemWarnings(found: readonly StemInStem[]): string[] {
  if (found.length === 0) return [];
  const named = namedTrees(found.map(({ tree_id, of }) => `${tree_id} of ${of}`));
  return [
    `${found.length} trees stand within the stem of another, all in one direction or its opposite (${medianMotion(found)} in the median; ${named}): as in clouds of scans that were put together and lie beside each other along it. Each of these trees is in the list twice, diameters are circles through the points of both scans, heights and crowns are parts of those of one tree, and the terrain and models of this cloud are wrong, too. Move the scans onto each other (POST align_scans of a session with scan numbers, or POST c2c/icp-register of single scans), then segment and measure again.`,
  ];
}
