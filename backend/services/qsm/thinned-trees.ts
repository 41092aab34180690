import type { TreeQsmRequest, TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";

type Thinned = Pick<TreeQsmResult, "tree_id" | "points_in_tree" | "points_used" | "voxel_m">;

/** Narrower voxels than this leave out points of one place alone, as rounded coordinates have them. */
const SAME_PLACE_M = 0.001;

/** What a person must know about trees of which not all points were used: wood that is thinner than a voxel changes its size. */
export function thinnedTreeWarnings(
  results: readonly Thinned[],
  { max_points_per_tree: most }: Pick<TreeQsmRequest, "max_points_per_tree">,
): string[] {
  const thinned = results.flatMap(({ tree_id, voxel_m }) => (voxel_m === null ? [] : [{ tree_id, voxel_m }]));
  if (thinned.length === 0) return [];
  const coarsest = thinned.reduce((a, b) => (b.voxel_m > a.voxel_m ? b : a));
  const who = thinned.length === 1 ? "1 tree was" : `${thinned.length} trees were`;
  if (coarsest.voxel_m < SAME_PLACE_M)
    return [
      `${who} thinned to at most ${most} points by leaving out points at the place of another: no place is lost.`,
    ];
  const tree = `tree ${coarsest.tree_id}`;
  return [
    `${who} thinned to at most ${most} points, one per voxel; the widest voxels, of ${tree}, are ${(100 * coarsest.voxel_m).toFixed(1)} cm. Branches thinner than that become too thick or get lost; a larger max_points_per_tree keeps more points.`,
  ];
}
