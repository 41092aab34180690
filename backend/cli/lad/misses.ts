import { ApiError } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { CloudPart } from "../run/inputs.ts";

/** A session whose misses have directions, as far as its file tells. */
export interface LadSession {
  readonly session_id: string;
  /** Of the scanner, metres, true world. */
  readonly origin: Triple;
  readonly label: string;
  /** True world = stored + this; null = none. */
  readonly world_shift: Triple | null;
}

/**
 * The sessions of a scan. Misses without a direction, as empty cells of PTX files, are recovered from their rows and columns,
 * as without them the leaf area is several times too large; several scans of a file become a session each for that. `tell`
 * takes what the service says. Errors: invalid_argument if the misses cannot be recovered.
 *
 * origin  of the scanner, metres, true world; that of a file with several scans is not used
 */
export async function ladSessions(
  { tail, file }: CloudPart,
  origin: Triple,
  run: FolderRun,
  tell: (warning: string) => void,
): Promise<LadSession[]> {
  const world_shift = tail.world_shift ?? null;
  const whole = { session_id: tail.session_id, origin, label: file.name, world_shift };
  if ((tail.unplaceable_miss_count ?? 0) === 0) return [whole];
  const recover = async ({ session_id, origin: at, label }: LadSession) => {
    const [x, y, z] = tail.world_shift ?? [0, 0, 0];
    const stored: [number, number, number] = [at[0] - x, at[1] - y, at[2] - z];
    const found = await run.client
      .backfillMisses(session_id, { origin: stored }, shown(run))
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        throw new ApiError(error.status, error.code, `${label}: ${error.message}`, error.detail);
      });
    for (const warning of found.warnings ?? []) tell(`${label}: ${warning}`);
  };
  const scans = tail.scans ?? [];
  if (scans.length < 2) {
    await recover(whole);
    return [whole];
  }
  const wanted = { slug: "scan_index", exclude_values: [], include_misses: true, acknowledge_cost: true };
  const { children } = await run.client.extractByColumn(tail.session_id, wanted, shown(run));
  await run.client.closeSession(tail.session_id);
  const parts: LadSession[] = [];
  for (const { session_id, value } of children) {
    const scan = scans.find(({ scan_index }) => scan_index === value);
    const label = `${file.name}, scan ${value}`;
    if (!scan?.origin)
      throw new AppError("invalid_argument", `${label}: the file does not tell where the scanner stood`);
    const part = { session_id, origin: scan.origin, label, world_shift };
    if (scan.unplaceable_miss_count > 0) await recover(part);
    parts.push(part);
  }
  return parts;
}
