import type { FilterResponse } from "../../../shared/contract/cloud-session/filter.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import {
  type CloudChange,
  type CloudSession,
  type CloudState,
  requireUnchanged,
  stateAfter,
} from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { countsOf, currentOctree, hasNormals, staleMisses, staleOctree } from "../../sessions/edits.ts";
import { boundarySteps } from "../../sessions/undo.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { fixedColumn, optionalExtra } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { buildOctrees, keepOctrees, octreeBlock, octreeCost, overlayId, rebuilt } from "../octree/publish.ts";
import { floorOf } from "./edit.ts";
import { type CheckedSelection, selectHits } from "./selection.ts";

/**
 * Deletes every surviving hit outside the selection for good. All or nothing: the octree is built before anything is
 * committed. Errors: conflict if the cloud changed meanwhile.
 */
export function filterCloud(
  session: CloudSession,
  { selection, rebuild }: { readonly selection: CheckedSelection; readonly rebuild: boolean },
  deps: Deps,
  job: Job,
): Promise<FilterResponse> {
  return session.read(job, async (base) => {
    job.stage("Selecting points", 0, 0.05);
    const hits = await selectHits(base, selection, job);
    const { remaining_count, total_count } = countsOf(base);
    if (hits.inside_count === 0) {
      return { session_id: session.id, point_count: 0, rebuilt: false, remaining_count, total_count };
    }
    const change = await permanentDeletion(base, hits.outside, job);
    if (!rebuild) {
      job.checkpoint(); // the last cancel point
      await session.commit(base, change, job);
      return { session_id: session.id, rebuilt: false, ...countsOf(session.state) };
    }
    const after = stateAfter(base, change);
    const mask = await surviving(after, job);
    return deps.admission.run(job, "Filter", octreeCost(after, mask), async () => {
      const overlay = base.meta.miss_octree_cache_id !== null;
      const built = await buildOctrees(after, mask, deps, { from: 0.05, to: 1, overlay }, job);
      job.checkpoint(); // the last cancel point
      await session.edit(job, async (edit) => {
        requireUnchanged(base, edit.state);
        const octrees = rebuilt(built, base);
        await edit.publish({ ...change, meta: { ...change.meta, ...currentOctree(octrees) } });
      });
      await keepOctrees(deps);
      const warnings = built.overlay?.warnings ?? [];
      return {
        session_id: session.id,
        rebuilt: true,
        miss_octree_cache_id: overlayId(built, base.meta.miss_octree_cache_id),
        ...octreeBlock(built),
        ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
      };
    });
  });
}

/** The change that deletes the hits of a mask beyond any undo. The run owns the columns. */
export async function permanentDeletion(
  state: CloudState,
  rows: Parameters<typeof native.deleteRows>[0],
  job: Job,
): Promise<CloudChange> {
  const deletion = await job.track(() =>
    native.deleteRows(rows, optionalExtra(state, MISS_SLUG), fixedColumn(state, "deleted")),
  );
  const deleted = job.adopt(new ColumnRef(deletion.deleted));
  job.adopt(new ColumnRef(deletion.rows.data));
  const changed = deletion.rows.count > 0;
  return {
    columns: new Map([["deleted", deleted]]),
    undo: boundarySteps(state.undo, await floorOf(deleted.native, job)),
    meta: {
      ...staleOctree(state.meta),
      ...staleMisses(state, deletion.rows.count),
      normals_stale: state.meta.normals_stale || (changed && hasNormals(state)),
    },
  };
}
