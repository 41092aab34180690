import type { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import {
  type CloudChange,
  type CloudSession,
  type CloudState,
  requireUnchanged,
  stateAfter,
} from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree, staleOctree } from "../../sessions/edits.ts";
import { strokesOf } from "../../sessions/undo.ts";
import { buildOctrees, keepOctrees, octreeBlock, overlayId, rebuilt, type Surviving } from "../octree/publish.ts";

/** A column of computed labels or measures, one per row. */
export interface LabelColumn {
  readonly slug: string;
  readonly label: string;
  readonly labels: ColumnRef;
}

interface Publishing {
  readonly defer_octree: boolean;
  readonly mask: Surviving;
  /** Progress of the run at which the octree build begins, 0..1. */
  readonly from?: number;
}

/** The fields of an answer that describe the octree with the labels. */
export type PublishedLabels = { readonly warnings: readonly string[] } & (
  | (OctreeBlock & { readonly miss_octree_cache_id: string | null })
  | { readonly octree_deferred: true }
);

/**
 * Commits labels computed on `base` together with the octree that shows them, or alone with `defer_octree`. They
 * replace the column's content. All or nothing. Errors: conflict if an edit landed meanwhile; canceled.
 */
export async function publishLabels(
  session: CloudSession,
  base: CloudState,
  column: LabelColumn,
  { defer_octree, mask, from = 0.5 }: Publishing,
  deps: Deps,
  job: Job,
): Promise<PublishedLabels> {
  const change = columnChange(base, column);
  if (defer_octree) {
    job.checkpoint(); // the last cancel point
    await session.commit(base, { ...change, meta: { ...change.meta, octree_lacks_labels: true } }, job);
    return { octree_deferred: true, warnings: [] };
  }
  const after = stateAfter(base, change);
  const overlay = base.meta.miss_octree_cache_id !== null;
  const built = await buildOctrees(after, mask, deps, { from, to: 1, overlay }, job);
  job.checkpoint(); // the last cancel point
  await session.edit(job, async (edit) => {
    requireUnchanged(base, edit.state);
    await edit.publish({ ...change, meta: { ...change.meta, ...currentOctree(rebuilt(built, after)) } });
  });
  await keepOctrees(deps);
  const miss_octree_cache_id = overlayId(built, base.meta.miss_octree_cache_id);
  return { ...octreeBlock(built), miss_octree_cache_id, warnings: built.overlay?.warnings ?? [] };
}

/** The change that replaces the column's content by labels and drops its strokes from the undo stack. */
function columnChange({ meta, undo }: CloudState, { slug, label, labels }: LabelColumn): CloudChange {
  const entry = { slug, label };
  const others = meta.extra_dims_meta;
  const extra_dims_meta = others.some((extra) => extra.slug === slug)
    ? others.map((extra) => (extra.slug === slug ? entry : extra))
    : [...others, entry];
  const strokes = strokesOf(undo, slug).length;
  return {
    columns: new Map([[extraKey(slug), labels]]),
    undo: strokes > 0 ? [{ op: "forget_labels", slug, count: strokes }] : [],
    meta: { ...staleOctree(meta), extra_dims_meta },
  };
}
