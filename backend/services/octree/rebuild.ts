import type { RebuildOctreeResponse } from "../../../shared/contract/cloud-session/rebuild-octree.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { lossWarnings } from "../../sessions/edits.ts";
import { positionsColumn } from "./columns.ts";
import { surviving } from "./misses.ts";
import { buildOctrees, octreeBlock, octreeCost, overlayId, publishOctrees } from "./publish.ts";

/**
 * Builds the octrees of a session from its current columns. Deletions stay pending. If an edit lands meanwhile, the
 * octree is published for drawing only and the answer marks it as stale.
 */
export function rebuildOctree(session: CloudSession, deps: Deps, job: Job): Promise<RebuildOctreeResponse> {
  return session.read(job, async (base) => {
    const mask = await surviving(base, job.quiet()); // progress begins with the octree
    const before = base.meta.miss_octree_cache_id;
    const window = { from: 0, to: 1, overlay: before !== null };
    const built = await deps.admission.run(job, "Octree", octreeCost(base, mask), () =>
      buildOctrees(base, mask, deps, window, job),
    );
    job.checkpoint(); // the last cancel point
    const stale = await publishOctrees(session, base, built, deps, job);
    const warnings = [...(lossWarnings(base).warnings ?? []), ...(built.overlay?.warnings ?? [])];
    return {
      session_id: session.id,
      total_count: positionsColumn(base).length,
      miss_octree_cache_id: overlayId(built, before),
      octree_posed: false as const,
      ...octreeBlock(built),
      ...(stale ? { octree_stale: true } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  });
}
