import { namedTrees } from "./named-trees.ts";
import type { Table } from "./native-table.ts";

/** Of the cells around a stem: those with a diameter in real and generated plots with their ground have 0.94 and more, those in plots without it up to 0.16. */
const LEAST_SHARE = 0.2;

/** From this share of such trees on the cloud has no ground: elsewhere it is hidden, or cut off, under some. */
const MOST = 0.8;

/** Trees with a diameter around which no ground was seen. */
export interface GroundAtStems {
  readonly unseen: readonly number[];
  /** Trees with a diameter in a cloud that has ground points. */
  readonly of: number;
}

/** `standing`: rows of the table that are trees. */
export function groundAtStems(trees: Table, standing: readonly number[]): GroundAtStems {
  const known = standing.filter(
    (i) => trees.known(i, "dbh_diameter_m") !== null && trees.known(i, "ground_share") !== null,
  );
  const unseen = known.filter((i) => trees.get(i, "ground_share") < LEAST_SHARE);
  return { unseen: unseen.map((i) => trees.get(i, "tree_id")), of: known.length };
}

/** Whether the ground was taken out of the cloud, or lies beneath plants everywhere. */
export const isGroundMissing = ({ unseen, of }: GroundAtStems): boolean =>
  unseen.length > 0 && unseen.length >= MOST * of;

export function groundAtStemWarnings(ground: GroundAtStems): string[] {
  const { unseen, of } = ground;
  if (unseen.length === 0) return [];
  const around = `Around the ${unseen.length === 1 ? "stem" : "stems"} of ${unseen.length} of ${of} trees with a diameter no ground was seen (ground_share below ${LEAST_SHARE}; ${namedTrees(unseen)})`;
  const effect =
    "their heights and breast height begin at the lowest points that are left, so that heights are too small by what is missing below, and diameters are taken that much too high up the stem";
  if (!isGroundMissing(ground))
    return [
      `${around}: it lies under plants, or was cut off there; ${effect}. Look at the feet of these trees in a profile.`,
    ];
  return [
    `${around}: it is not in this cloud, as where the vegetation alone was kept, or plants hide it; ${effect}. In generated plots without their lowest 0.3, 0.6 and 1 m heights were 0.30, 0.60 and 1.00 m too small, diameters of 30 cm in the mean 8, 14 and 24 mm, and the plot was known by its stems alone. Take the cloud with its ground.`,
  ];
}
