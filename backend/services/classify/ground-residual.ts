import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/classify/ground.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Metres: where points are up to 2.5 m apart, the ground of real and generated scans of every kind has up to 0.10, parts of plants in its place 0.25 and more. */
const ROUGHEST = 0.15;
/** Of the mean distance of ground points: points far apart lie on land that is rough between them. With its ground up to 0.08 where it is 1 m and more, without it 0.14 and more. */
const ROUGHEST_OF_SPACING = 0.1;

/** How far ground points lie from the surface of their neighbours, metres; null = too few of them. */
export async function groundResidualOf(
  positions: NativeColumn,
  labels: NativeColumn,
  job: Job,
): Promise<number | null> {
  const found = await job.track(() => native.groundResidual(positions, labels));
  return Number.isFinite(found) ? found : null;
}

/** Warns of a ground that is none. */
export function groundResidualWarnings(
  residual_m: number | null,
  { num_ground, extent: [width, depth] }: { readonly num_ground: number; readonly extent: readonly [number, number] },
): string[] {
  const spacing_m = Math.sqrt((width * depth) / num_ground);
  if (residual_m === null || residual_m < Math.max(ROUGHEST, ROUGHEST_OF_SPACING * spacing_m)) return [];
  return [
    `The points labelled ground form no surface: half of them lie more than ${residual_m.toFixed(2)} m above or below the plane through the ten nearest others (ground_residual_m; 0.01 to 0.10 m where scans show the ground). They are low parts of plants or of things, as where the vegetation alone was kept in the cloud, or where plants hide the ground everywhere: terrain is then too high, and heights above it are too small. In four airborne scans without their lowest 2 m, the trees of the list were 4 to 10 m lower in the mean. Take the cloud with its ground.`,
  ];
}
