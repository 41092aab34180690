import { uprightMatrix } from "../../../shared/up-axes.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/classify/ground.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** In the order of native.upAxis. */
const AXES = ["x", "y", "z", "-x", "-y", "-z"] as const;
const Z = 2;
/** Scanned land has 0.48 to 0.99 along z and up to 0.20 along x and y. */
const MOST_OF_NO_GROUND = 0.35;
const LEAST_OF_GROUND = 0.45;
const LEAST_RATIO = 2;

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

/** That another axis than z points upwards. `even`: of native.upAxis. */
export function upAxisWarnings(even: ArrayLike<number>): string[] {
  const z = even[Z] ?? Number.NaN;
  if (!(z <= MOST_OF_NO_GROUND)) return [];
  const best = AXES.reduce((most, _, k) => ((even[k] ?? 0) > (even[most] ?? 0) ? k : most), Z);
  const share = even[best] ?? 0;
  const name = AXES[best] ?? AXES[Z];
  if (!(share >= LEAST_OF_GROUND && share >= LEAST_RATIO * z)) return [];
  return [
    `z does not seem to point upwards, but ${name}: the lower side of the cloud is even, as ground is, in ${percent(share)} of its area along ${name}, and in ${percent(z)} along z. Ground, heights and trees are wrong if so, as in files of programs whose y points upwards. Turn the cloud (POST transform with matrix [${uprightMatrix(name).join(", ")}]) and segment the ground again.`,
  ];
}

export async function upAxisOf(
  { positions, skip }: { readonly positions: NativeColumn; readonly skip: NativeColumn | null },
  job: Job,
): Promise<string[]> {
  return upAxisWarnings(await job.track(() => native.upAxis(positions, skip)));
}
