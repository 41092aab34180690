import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { MIN_DENOISE_POINTS } from "../../../shared/limits.ts";
import type { FolderRun } from "../run/folder-run.ts";

/** Largest share of points that a scanner's noise explains: denoise warns above it. */
const MOST_NOISE = 0.03;

/** Labels noise; whether trees may leave it out: not where more is labelled than a scanner makes. */
export async function labelNoise(
  { session_id, point_count }: CreateSessionTail,
  { client, progress, signal }: FolderRun,
  warnings: string[],
): Promise<boolean> {
  if (point_count < MIN_DENOISE_POINTS) return true;
  progress.stage("1/6 Looking for noise");
  const noise = await client.denoiseSession(session_id, { method: "auto", defer_octree: true }, { signal });
  const { fraction } = noise;
  if (fraction <= MOST_NOISE) return true;
  warnings.push(
    `${(100 * fraction).toFixed(1)} % of the points look like noise, more than a scanner makes: they stay in the trees.`,
  );
  return false;
}
