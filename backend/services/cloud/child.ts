import type { ChildSession } from "../../../shared/contract/cloud-session/child.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { type CloudMeta, type CloudState, freshState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree, deletedCount } from "../../sessions/edits.ts";
import type { Birth } from "../../sessions/journal-records.ts";
import type { Child } from "../../sessions/session-births.ts";
import type { OctreeWindow } from "../octree/build.ts";
import { surviving } from "../octree/misses.ts";
import { buildOctrees, octreeBlock, rebuilt } from "../octree/publish.ts";

/** A session that is written and built but not yet visible: `register` or `discard` it. */
export interface MadeChild extends Child {
  readonly block: ChildSession;
  readonly miss_count: number;
  readonly warnings: readonly string[];
}

/** Like makeChild, for `registerChildren`: begins the journal too. */
export async function makeChildOf(birth: Birth, ...[columns, meta, deps, window, job]: Parameters<typeof makeChild>) {
  const child = await makeChild(columns, meta, deps, window, job);
  try {
    await deps.sessions.describe(child, birth);
    return child;
  } catch (error) {
    await child.staged.discard();
    throw error;
  }
}

/**
 * Writes the columns of a new session and builds its octrees; the caller is admitted. Takes over the references in
 * `columns`. A failure, such as a full disk, leaves nothing behind.
 */
export async function makeChild(
  columns: ReadonlyMap<string, ColumnRef>,
  meta: CloudMeta,
  deps: Deps,
  window: OctreeWindow,
  job: Job,
): Promise<MadeChild> {
  const staged = await deps.sessions.stage(columns, (start) => job.track(start), { mustBeSaved: true });
  try {
    const state = freshState(staged.columns, meta);
    const { built, miss_count } = await job.scoped(async (part) => {
      const mask = await surviving(state, part);
      const overlay = mask.miss_count > 0;
      return { built: await buildOctrees(state, mask, deps, { ...window, overlay }, job), miss_count: mask.miss_count };
    });
    const shown = currentOctree(rebuilt(built, state));
    staged.shed(); // frees memory for the next child
    return {
      staged,
      meta: { ...meta, ...shown },
      block: { ...octreeBlock(built), session_id: staged.id },
      miss_count,
      warnings: built.overlay?.warnings ?? [],
    };
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

/** The description that a child inherits from its parent. `taken_count`: number of the parent's hits in the child. */
export function childMeta(parent: CloudState, hit_count: number, taken_count: number): CloudMeta {
  // The child has lost nothing since it exists, and has no recovered misses.
  const { recovery_losses: _, misses_of_lost_hits: __, ...meta } = parent.meta;
  return {
    ...meta,
    octree_cache_id: null,
    rendered_octree_cache_id: null,
    octree_pose: null,
    octree_point_count: null,
    octree_stale_gen: 0,
    miss_octree_cache_id: null,
    backfilled_misses_stale: false,
    backfilled_misses_moved: false,
    unrestorable_hit_count: lostHits(parent.meta) + hit_count + deletedCount(parent.undo) - taken_count,
  };
}

/** Hits of the original scan that a cloud has neither as rows nor, without its recovered misses, as anything else. */
export const lostHits = ({ unrestorable_hit_count, misses_of_lost_hits = 0 }: CloudMeta): number =>
  unrestorable_hit_count + misses_of_lost_hits;

/** All columns of a state except the mask, without the rows marked in `drop`. The caller owns them. */
export async function keptColumns(
  { columns }: CloudState,
  drop: NativeColumn,
  job: Job,
): Promise<Map<string, ColumnRef>> {
  const keys = [...columns.keys()].filter((key) => key !== "deleted");
  const kept = await job.track(() =>
    native.compactColumns(
      keys.map((key) => (columns.get(key) as ColumnRef).native),
      drop,
    ),
  );
  return new Map(keys.map((key, i) => [key, new ColumnRef(kept[i] as NativeColumn)]));
}

/** Bytes of every column of a state. */
export const stateBytes = ({ columns }: CloudState): number =>
  [...columns.values()].reduce((sum, { native: { bytes } }) => sum + bytes, 0);
