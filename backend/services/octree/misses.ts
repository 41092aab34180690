import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/cloud.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey, type Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { OctreeCache } from "../../sessions/octree-cache.ts";
import type { AssignedColumns } from "../files/assigned-columns.ts";
import { CANONICAL_LABELS } from "../files/roles.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { buildOctree, type OctreeWindow, positionsOctreeSource } from "./build.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "./columns.ts";

/**
 * Marks sky points that the file does not mark: by echo number 99, else by the distance from a known scanner. Leaves an
 * `is_miss` column that marks any point unchanged. Adds the column and a warning that names the signal.
 */
export async function detectMisses(
  assigned: AssignedColumns,
  origin: Triple | null,
  thresholdM: number,
  job: Job,
): Promise<{ autodetected: number }> {
  const given = assigned.columns.get(extraKey(MISS_SLUG));
  const positions = assigned.columns.get("positions");
  if (!positions) return { autodetected: 0 };
  const found = await job.track(() =>
    native.detectMisses(
      {
        positions: positions.native,
        is_miss: given?.native ?? null,
        target_index: assigned.columns.get(extraKey("target_index"))?.native ?? null,
        beam_origins: assigned.columns.get("beam_origins")?.native ?? null,
        origin,
      },
      thresholdM,
    ),
  );
  if (!found.is_miss) return { autodetected: 0 };
  if (!given) assigned.extra_dims_meta.push({ slug: MISS_SLUG, label: CANONICAL_LABELS[MISS_SLUG] ?? "Miss" });
  assigned.columns.set(extraKey(MISS_SLUG), job.adopt(new ColumnRef(found.is_miss)));
  const signals = [
    found.by_target_index > 0 ? `${found.by_target_index} by echo number 99` : "",
    found.by_distance > 0
      ? `${found.by_distance} by a distance of at least ${(0.98 * thresholdM).toFixed(2)} m from the scanner`
      : "",
  ].filter((text) => text !== "");
  assigned.warnings.push(`Sky points were recognised: ${signals.join(", ")}. They are kept out of measurements.`);
  return { autodetected: found.by_target_index + found.by_distance };
}

/** Counts and the skip mask of the surviving hits. The run owns the mask. */
export async function surviving(state: CloudState, job: Job) {
  const mask = await job.track(() =>
    native.hitMask(optionalExtra(state, MISS_SLUG), fixedColumn(state, "deleted"), positionsColumn(state).length),
  );
  const skip = mask.skip ? job.adopt(new ColumnRef(mask.skip)).native : null;
  return { ...mask, skip };
}

export interface MissOverlay {
  /** Null if there is nothing to show or the build failed. */
  readonly cache_id: string | null;
  readonly warnings: readonly string[];
}

/**
 * Builds the overlay of sky points, rows and recovered ones, on a sphere around the scanner if that is known. `missCount`:
 * rows that are misses. The cloud is usable without it, so
 * a failed build is only a warning. A cancel is thrown.
 */
export async function buildMissOctree(
  state: CloudState,
  missCount: number,
  cache: OctreeCache,
  window: OctreeWindow,
  job: Job,
): Promise<MissOverlay> {
  if (missCount === 0 && state.misses.size === 0) return { cache_id: null, warnings: [] };
  try {
    const deleted = fixedColumn(state, "deleted");
    const isMiss = optionalExtra(state, MISS_SLUG);
    const recovered = state.misses.get("positions")?.native ?? null;
    const scanner = { origin: state.meta.miss_octree_origin, recovered };
    const placed = await job.track(() => native.projectMisses(positionsColumn(state), isMiss, deleted, scanner));
    const projected = new ColumnRef(placed); // not owned by the run, which may build hundreds of them
    try {
      if (projected.length === 0) return { cache_id: null, warnings: [] };
      const built = await buildOctree(cache, positionsOctreeSource(projected.native), window, job);
      return { cache_id: built.cache_id, warnings: [] };
    } finally {
      projected.release();
    }
  } catch (error) {
    job.checkpoint();
    return { cache_id: null, warnings: [`The overlay of sky points could not be built: ${(error as Error).message}`] };
  }
}
