import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { MIN_DENOISE_POINTS } from "../../../shared/limits.ts";
import type { Covered } from "../analyze/cell-size.ts";
import { MOST_NOISE } from "../analyze/terrain.ts";
import type { FolderRun } from "../run/folder-run.ts";

/** Whether trees, ground and rasters leave noise out, and what the points then cover. */
export interface NoisePart {
  readonly skip_noise: boolean;
  readonly covered: Covered;
}

/** Labels noise, which is left out but where more is labelled than a scanner makes. */
export async function labelNoise(
  tail: CreateSessionTail,
  { client, progress, signal }: FolderRun,
  warnings: string[],
): Promise<NoisePart> {
  if (tail.point_count < MIN_DENOISE_POINTS) return { skip_noise: true, covered: tail };
  progress.stage("1/6 Looking for noise");
  const noise = await client.denoiseSession(tail.session_id, { method: "auto", defer_octree: true }, { signal });
  const { fraction, kept_bounds } = noise;
  if (fraction <= MOST_NOISE)
    return { skip_noise: true, covered: { ...tail, tight_bounds: kept_bounds ?? tail.tight_bounds } };
  warnings.push(
    `${(100 * fraction).toFixed(1)} % of the points look like noise, more than a scanner makes: they stay in the trees.`,
  );
  return { skip_noise: false, covered: tail };
}
