import type { IcpCheck, IcpPose, NativeGlobalAlignment } from "../../native/registration.ts";

/** Share of the target's size above which an RMSE is suspicious; contract terrain section 3.2. */
const SUSPICIOUS = 0.02;
/** Conditioning below which a motion counts as free; test/accuracy/registration.ts lists that of real pairs. */
const FREE = 1e-3;
/** Flat places below which the surfaces tell nothing; agreement of wrong and of right poses: docs/accuracy.md, Registration. */
const LEAST_PLACES = 100;
const WRONG = 0.4;
const RIGHT = 0.6;
/** Agreement that proves a pose right. A corner of planes whose axes are exchanged has 0.66, a real tree at its right pose 0.7. */
const PROVEN = 0.8;
/** Flat places that face no surface although points overlap: share of the overlap. Right poses have 0.4 and more. */
const MEETING = 0.15;

const metres = (value: number) => `${Number(value.toPrecision(4))} m`;
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const direction = (v: readonly number[]) => {
  const length = Math.hypot(...v);
  return `(${v.map((value) => (value / length).toFixed(2).replace("-0.00", "0.00")).join(", ")})`;
};

type Surface = Pick<IcpPose, "surface_agreement" | "surface_places">;

/** Whether enough flat surface was compared to tell right from wrong. */
const isJudged = ({ surface_places }: Surface) => surface_places >= LEAST_PLACES;

/** Partial overlap: found among all poses without a rival, and right where both sides have a surface. */
const isSound = (pose: IcpPose) =>
  pose.start === "global" &&
  pose.global_alignment?.outcome === "found" &&
  !pose.kept_start &&
  isJudged(pose) &&
  pose.surface_agreement >= RIGHT;

/**
 * Whether the surfaces alone do not prove the pose right, so that a search among all poses must decide: few of them are
 * flat, as in forests, few face each other, some are not the same ones, or the pose has not settled.
 */
export const needsSearch = (pose: IcpPose): boolean =>
  qualityWarning(pose, rmseRatio(pose)) !== null ||
  !isJudged(pose) ||
  pose.surface_agreement < PROVEN ||
  !pose.converged ||
  pose.surface_covered < MEETING * pose.final_fitness;

/** RMSE over the size of the target; null if that is 0. */
export const rmseRatio = ({ rmse, robust_diagonal }: IcpPose): number | null =>
  robust_diagonal > 0 ? rmse / robust_diagonal : null;

/**
 * A sentence if the pose is probably wrong: the contract's warning, what the surfaces tell, and what a search among all
 * poses found (null = none was needed).
 */
export function qualityWarning(pose: IcpPose, rmse_ratio: number | null, check: IcpCheck | null = null): string | null {
  if (!(pose.fitness > 0)) {
    return `No source point lies within ${metres(pose.max_correspondence_distance)} of the target: they do not overlap, and the pose is only where the iterations began. Align them roughly first, or allow a larger max_correspondence_distance.`;
  }
  if (check?.verdict === "contradicted") {
    return `The pose is probably wrong: a search among all turns and shifts found another one at which the sides fit better, turned by ${degrees(check.turn_rad)} and shifted by ${metres(check.shift_m)} from it. Register with initial: auto to begin there.`;
  }
  // Few surfaces face each other between an airborne and a terrestrial scan, or in a forest whose trees have grown.
  const confirmed = check?.verdict === "confirmed";
  if (!confirmed && pose.surface_flats >= LEAST_PLACES && pose.surface_covered < MEETING * pose.final_fitness) {
    return `The points of ${percent(pose.final_fitness)} of the source have neighbours in the target, but only ${percent(pose.surface_covered)} of its surfaces face one of the target: the pose is probably wrong. Align the two roughly first, or let initial: auto search for the pose.`;
  }
  if (isJudged(pose) && pose.surface_agreement < WRONG) {
    return `Where both sides have a surface, only ${percent(pose.surface_agreement)} of it is the same one: the pose is probably wrong. Align the two roughly first, or let initial: auto search for the pose.`;
  }
  if (!confirmed && rmse_ratio !== null && rmse_ratio > SUSPICIOUS && !isSound(pose)) {
    return `The RMSE of ${metres(pose.rmse)} is ${percent(rmse_ratio)} of the target's size: the pose is probably wrong. Align the two roughly first and register again.`;
  }
  return null;
}

/** What the user should know of a pose. */
export function icpWarnings(pose: IcpPose, check: IcpCheck | null = null): string[] {
  const warnings: string[] = [];
  for (const [side, count] of [
    ["target", pose.fixed_unusable],
    ["source", pose.moving_unusable],
  ] as const) {
    if (count > 0) warnings.push(`${count} points of the ${side} have no finite coordinates and were left out.`);
  }
  for (const [side, all, kept] of [
    ["target", pose.fixed_count, pose.fixed_finest_count],
    ["source", pose.moving_count, pose.moving_finest_count],
  ] as const) {
    if (kept < all) warnings.push(`The ${side} has ${all} points; ${kept} voxel means of them were matched.`);
  }
  if (pose.global_alignment) warnings.push(...searchWarnings(pose.global_alignment));
  if (pose.kept_start) {
    warnings.push(
      "The iterations ended in a pose that fits worse than the start, so the start was kept: it is the wrong part of the target, or the two do not match.",
    );
  } else if (!pose.converged && pose.fitness > 0) {
    warnings.push("The iterations ended before the pose settled: allow more max_iterations.");
  }
  if (isJudged(pose) && pose.surface_agreement >= WRONG && pose.surface_agreement < RIGHT) {
    warnings.push(
      `Where both sides have a surface, ${percent(pose.surface_agreement)} of it is the same one, fewer than of most right poses: look at the pose before you use it.`,
    );
  }
  if (pose.fitness > 0 && pose.conditioning < FREE) warnings.push(freeMotion(pose));
  if (check?.verdict === "undecided" && !isJudged(pose) && pose.fitness > 0) {
    warnings.push(
      `Nothing tells whether the pose is right: only ${pose.surface_places} flat places face each other, and in a search among all turns and shifts no pose stands out. Look at it before you use it.`,
    );
  }
  return warnings;
}

function degrees(radians: number): string {
  const value = (radians * 180) / Math.PI;
  return `${value < 10 ? Number(value.toPrecision(2)) : Math.round(value)} degrees`;
}

/** That the pose comes from the search that checked the one reached at first. */
export const startedAnew = ({ turn_rad, shift_m }: IcpCheck): string =>
  `The iterations began where the sides lay or middle on middle, and ended in a pose that is probably wrong. A search among all turns and shifts found one at which the sides fit better, turned by ${degrees(turn_rad)} and shifted by ${metres(shift_m)} from it, and the iterations began anew there. initial: auto searches at once; initial: centroid keeps to the near pose.`;

/** What the user should know of a start that was searched. */
function searchWarnings(found: NativeGlobalAlignment): string[] {
  const { outcome, agreement, rival_agreement, rival_turn_rad, rival_shift_m } = found;
  if (outcome === "none") {
    return [
      "initial: auto found no pose that fits clearly better than chance, so the iterations began as with initial: centroid: the sides have too little in common, or too little shape. Align them roughly first and register again.",
    ];
  }
  if (outcome === "found") return [];
  return [
    `initial: auto found no pose that stands out: another one, turned by ${degrees(rival_turn_rad)} and shifted by ${metres(rival_shift_m)}, fits almost as well (${percent(rival_agreement)} of the surface, against ${percent(agreement)}), as for symmetric shapes. Check the pose before using it.`,
  ];
}

function freeMotion({ free_turn, free_shift, conditioning }: IcpPose): string {
  const shifts = Math.hypot(...free_shift) > Math.hypot(...free_turn);
  const motion = shifts ? `shift along ${direction(free_shift)}` : `turn about the axis ${direction(free_turn)}`;
  return `The surfaces do not fix the pose: a ${motion} changes almost nothing (conditioning ${conditioning.toExponential(1)}), so that part of it is arbitrary.`;
}
