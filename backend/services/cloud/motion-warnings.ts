import type { Job } from "../../jobs/job.ts";
import { cloudStats } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { positionsColumn } from "../octree/columns.ts";
import { apply, type Motion } from "./affine.ts";

/** Columns of a rotation that was written with few digits differ from unit length and right angles by less. */
const FEW_DIGITS = 0.02;
/** Points that few digits move by less are not told, metres. */
const LEAST_MOVED_M = 0.001;
/** Scales within this part of 1 are hardly those of units. */
const NO_UNIT = 0.1;
/** Diagonals of a cloud: farther from the origin of the coordinates, and moved farther, by a rotation about it. */
const FAR_DIAGONALS = 10;

const rounded = (value: number) => Number(value.toPrecision(3));
const percent = (factor: number) => `${rounded(100 * (factor - 1))} %`;

/** Warns of a matrix that is no rigid motion, or none of coordinates as large as those of the cloud. */
export async function motionWarnings(
  motion: Motion,
  base: CloudState,
  skip: NativeColumn | null,
  job: Job,
): Promise<string[]> {
  if (motion.is_translation) return [];
  const { bounds } = await job.quiet().track(() => cloudStats(positionsColumn(base), skip));
  if (!bounds) return [];
  const shift = base.meta.world_shift ?? [0, 0, 0];
  const middle = bounds.min.map((low, k) => (low + (bounds.max[k] ?? low)) / 2) as unknown as Triple;
  const size = Math.hypot(...bounds.max.map((high, k) => high - (bounds.min[k] ?? high)));
  const away = Math.hypot(...middle.map((value, k) => value + (shift[k] ?? 0)));
  return [...shapeWarnings(motion, away + size / 2), ...placeWarnings(motion, middle, size, away)];
}

function shapeWarnings({ is_similarity, deviation, scale }: Motion, farthest: number): string[] {
  if (is_similarity) {
    if (scale === 1 || Math.abs(scale - 1) > NO_UNIT) return [];
    return [
      `The matrix scales the cloud by ${Number(scale.toPrecision(7))}: lengths change by ${percent(scale)}, volumes by ${percent(scale ** 3)}. Registrations of scans have a scale of 1.`,
    ];
  }
  if (deviation > FEW_DIGITS)
    return [
      `The matrix stretches or shears the cloud: the columns of its 3 x 3 part differ from equal lengths and right angles by ${rounded(deviation)}. Diameters, angles and volumes change.`,
    ];
  const moved = (deviation / 2) * farthest; // what lengths tell; the angle of the turn may be off by more
  if (moved < LEAST_MOVED_M) return [];
  return [
    `The matrix is not quite a rotation: the columns of its 3 x 3 part differ from equal lengths and right angles by ${rounded(deviation)}, as those of one with few digits. Points ${rounded(farthest)} m from the origin of the coordinates are moved wrong by ${rounded(moved)} m and more. Send all digits of the matrix.`,
  ];
}

function placeWarnings({ stored }: Motion, middle: Triple, size: number, away: number): string[] {
  const moved = Math.hypot(...apply(stored, middle).map((value, k) => value - (middle[k] ?? 0)));
  if (!(Math.min(moved, away) > FAR_DIAGONALS * size)) return [];
  return [
    `The matrix turns the cloud about the origin of the coordinates, ${rounded(away)} m away, and moves its middle by ${rounded(moved)} m. Is it one for coordinates less a global shift, as other programs show them?`,
  ];
}
