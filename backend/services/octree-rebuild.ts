import type { RebuildOctreeResponse } from "../../shared/contract/cloud-session/rebuild-octree.ts";
import type { Deps } from "../deps.ts";
import type { Job } from "../jobs/job.ts";
import type { CloudSession } from "../sessions/cloud-session.ts";
import { buildMissOctree, surviving } from "./cloud-misses.ts";
import { cloudSummary } from "./cloud-summary.ts";
import { buildOctree, hitsOctreeSource, octreeScratchBytes } from "./octree.ts";
import { positionsColumn } from "./session-columns.ts";

/**
 * Builds the octrees of a session from its current arrays. Deletions stay pending. An edit that lands meanwhile wins:
 * the octree is then handed out as the drawn one and the answer says that it is stale.
 */
export function rebuildOctree(
  session: CloudSession,
  { admission, octreeCache }: Deps,
  job: Job,
): Promise<RebuildOctreeResponse> {
  return session.read(async (base) => {
    const { skip, deleted_count, miss_count } = await surviving(base, job);
    const source = hitsOctreeSource(base, skip);
    const rebuilt = await admission.run(job, "Octree", octreeScratchBytes(source), async () => {
      const { cached: _, ...octree } = await buildOctree(octreeCache, source, { from: 0, to: 0.9 }, job);
      const hadMisses = base.meta.miss_octree_cache_id !== null;
      const overlay = hadMisses
        ? await buildMissOctree(base, miss_count, octreeCache, { from: 0.9, to: 1 }, job)
        : null;
      return { octree, miss_octree_cache_id: overlay?.cache_id ?? null, warnings: overlay?.warnings ?? [] };
    });
    const summary = await cloudSummary(base, skip, job);
    job.checkpoint(); // the last cancel point
    const current = session.state;
    const stale = current.meta.octree_stale_gen !== base.meta.octree_stale_gen;
    const { octree, warnings } = rebuilt;
    // An overlay that could not be built leaves the one there is: it shows the same sky.
    const miss_octree_cache_id =
      rebuilt.miss_octree_cache_id ?? (warnings.length > 0 ? base.meta.miss_octree_cache_id : null);
    const published = stale
      ? { rendered_octree_cache_id: octree.cache_id, miss_octree_cache_id }
      : {
          octree_cache_id: octree.cache_id,
          rendered_octree_cache_id: null,
          octree_pose: null,
          octree_point_count: positionsColumn(base).length - deleted_count,
          miss_octree_cache_id,
        };
    session.commit(current, { meta: published });
    await session.durable();
    await octreeCache.writePins();
    void octreeCache.evict(); // never rejects; nobody waits for a clean-up
    return {
      session_id: session.id,
      total_count: positionsColumn(base).length,
      miss_octree_cache_id,
      octree_posed: false as const,
      ...octree,
      observed_classes: summary.observed_classes,
      robust_bounds: summary.robust_bounds,
      robust_attribute_ranges: summary.robust_attribute_ranges,
      ...(stale ? { octree_stale: true } : {}),
      ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
    };
  });
}
