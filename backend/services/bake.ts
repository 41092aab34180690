import type { BakeTail } from "../../shared/contract/cloud-session/bake.ts";
import type { Deps } from "../deps.ts";
import type { Job } from "../jobs/job.ts";
import * as native from "../native/cloud-edit.ts";
import type { CloudSession, CloudState, Edit } from "../sessions/cloud-session.ts";
import { ColumnRef } from "../sessions/column-ref.ts";
import { countsOf, currentOctree, overtakenOctree } from "../sessions/edits.ts";
import { boundarySteps } from "../sessions/undo.ts";
import { floorOf } from "./cloud-edit.ts";
import { surviving } from "./cloud-misses.ts";
import { cloudSummary } from "./cloud-summary.ts";
import { readOctreeBlock } from "./octree.ts";
import {
  type BuiltOctrees,
  buildOctrees,
  keepOctrees,
  octreeBlock,
  octreeCost,
  overlayId,
  rebuilt,
  type Surviving,
} from "./octree-publish.ts";
import { fixedColumn } from "./session-columns.ts";

/**
 * Builds the octree of the survivors and, with `compact`, drops the deleted rows for good. A deletion that lands
 * meanwhile wins: the octree is then only drawn and every row stays.
 */
export function bake(session: CloudSession, compact: boolean, deps: Deps, job: Job): Promise<BakeTail> {
  return session.read(async (base) => {
    const mask = await surviving(base, job.quiet()); // the bar begins with the octree
    if (mask.hit_count === 0) return { session_id: session.id, point_count: 0, baked: false };
    const shown = compact && mask.deleted_count > 0 ? undefined : await currentBlock(base, mask, deps, job.quiet());
    if (shown) return { session_id: session.id, baked: false, ...pending(session), ...shown };
    const dropping = compact && mask.deleted_count > 0;
    const bytes = dropping ? columnBytes(base) : 0;
    return deps.admission.run(job, "Bake", octreeCost(base, mask) + bytes, async () => {
      const built = await buildOctrees(base, mask, deps, { from: 0, to: dropping ? 0.85 : 1, overlay: true }, job);
      const stale = dropping
        ? await publishCompacted(session, base, built, deps, job)
        : await publishMasked(session, base, built, job);
      await keepOctrees(deps);
      const warnings = built.overlay?.warnings ?? [];
      return {
        session_id: session.id,
        baked: true,
        miss_octree_cache_id: overlayId(built, base.meta.miss_octree_cache_id),
        ...pending(session),
        ...octreeBlock(built),
        ...(stale ? { octree_stale: true } : {}),
        ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
      };
    });
  });
}

const pending = ({ state }: CloudSession) => ({
  deleted_history_len: state.undo.deletes.length,
  pending_deleted_count: countsOf(state).pending_deleted_count,
});

/** The block of the octree a session shows already; undefined when it shows none of its points as they are. */
async function currentBlock(state: CloudState, mask: Surviving, { octreeCache }: Deps, job: Job) {
  const { octree_cache_id, octree_pose } = state.meta;
  if (octree_cache_id === null || octree_pose !== null) return undefined;
  const folder = await octreeCache.path(octree_cache_id);
  if (!folder) return undefined; // left the cache
  return octreeBlock({ octree: await readOctreeBlock(folder), summary: await cloudSummary(state, mask.skip, job) });
}

const columnBytes = ({ columns }: CloudState): number =>
  [...columns.values()].reduce((sum, { native: { bytes } }) => sum + bytes, 0);

/** The mask changed since `base`. Every edit of it counts the octree's generation up. */
const overtaken = (base: CloudState, { state }: Edit): boolean =>
  state.meta.octree_stale_gen !== base.meta.octree_stale_gen;

/** Rows stay under the mask, which becomes the floor of the undo stack. True when a deletion landed meanwhile. */
async function publishMasked(session: CloudSession, base: CloudState, built: BuiltOctrees, job: Job): Promise<boolean> {
  const floor = await floorOf(fixedColumn(base, "deleted"), job);
  job.checkpoint(); // the last cancel point
  return session.edit(async (edit) => {
    const octrees = rebuilt(built, edit.state);
    const stale = overtaken(base, edit);
    await edit.publish(
      stale
        ? { meta: overtakenOctree(edit.state.meta, octrees) }
        : { undo: boundarySteps(edit.state.undo, floor), meta: currentOctree(octrees) },
    );
    return stale;
  });
}

/** The deleted rows go. True when a deletion landed meanwhile: then nothing goes. */
async function publishCompacted(
  session: CloudSession,
  base: CloudState,
  built: BuiltOctrees,
  { sessions }: Deps,
  job: Job,
): Promise<boolean> {
  job.stage("Dropping deleted points", 0.85, 1);
  const compacted = new Map<string, ColumnRef>();
  let published = false;
  try {
    for (const key of alignedKeys(base)) await compactColumn(session, base, key, compacted, sessions, job);
    job.checkpoint(); // the last cancel point
    return await session.edit(async (edit) => {
      const { state } = edit;
      const octrees = rebuilt(built, state);
      if (overtaken(base, edit)) {
        await edit.publish({ meta: overtakenOctree(state.meta, octrees) });
        return true;
      }
      for (const key of alignedKeys(state)) {
        if (state.columns.get(key) !== base.columns.get(key)) {
          await compactColumn(session, state, key, compacted, sessions, job); // labels painted meanwhile
        }
      }
      const dropped = countsOf(state).deleted_count;
      await edit.publish({
        columns: new Map<string, ColumnRef | null>([...compacted, ["deleted", null]]),
        undo: boundarySteps(state.undo, null),
        meta: {
          ...currentOctree(octrees),
          octree_stale_gen: state.meta.octree_stale_gen + 1, // the rows are others: what was built of the old ones is overtaken
          unrestorable_hit_count: state.meta.unrestorable_hit_count + dropped,
        },
      });
      published = true;
      return false;
    });
  } finally {
    if (!published) await sessions.discard(session, compacted.values());
    for (const column of compacted.values()) column.release(); // the session has its own references
  }
}

/** Columns with a value per row, all but the mask itself. */
const alignedKeys = ({ columns }: CloudState): string[] => [...columns.keys()].filter((key) => key !== "deleted");

/** One column without the deleted rows, in a file of the session; one at a time, so that memory holds one of them. */
async function compactColumn(
  session: CloudSession,
  { columns }: CloudState,
  key: string,
  into: Map<string, ColumnRef>,
  sessions: Deps["sessions"],
  job: Job,
): Promise<void> {
  const column = columns.get(key);
  const deleted = columns.get("deleted");
  if (!column || !deleted) return;
  const [kept] = await job.track(() => native.compactColumns([column.native], deleted.native));
  if (!kept) return;
  const inMemory = new ColumnRef(kept);
  try {
    const stashed = await sessions.stash(session, new Map([[key, inMemory]]), (start) => job.track(start));
    const before = into.get(key);
    if (before) {
      await sessions.discard(session, [before]);
      before.release();
    }
    for (const [name, ref] of stashed) into.set(name, ref);
  } finally {
    inMemory.release();
  }
}
