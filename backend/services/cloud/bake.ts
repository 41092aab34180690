import type { BakeTail } from "../../../shared/contract/cloud-session/bake.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession, CloudState, Edit } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { countsOf, currentOctree, overtakenOctree } from "../../sessions/edits.ts";
import { boundarySteps } from "../../sessions/undo.ts";
import { readOctreeBlock } from "../octree/build.ts";
import { fixedColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import {
  type BuiltOctrees,
  buildOctrees,
  keepOctrees,
  octreeBlock,
  octreeCost,
  overlayId,
  rebuilt,
  type Surviving,
} from "../octree/publish.ts";
import { cloudSummary } from "../octree/summary.ts";
import { floorOf } from "./edit.ts";

/**
 * Builds the octree of the survivors and, with `compact`, drops the deleted rows for good. If a deletion lands
 * meanwhile, the octree is published for drawing only and no row is dropped.
 */
export function bake(session: CloudSession, compact: boolean, deps: Deps, job: Job): Promise<BakeTail> {
  return session.read(job, async (base) => {
    const mask = await surviving(base, job.quiet()); // progress begins with the octree
    if (mask.hit_count === 0) return { session_id: session.id, point_count: 0, baked: false };
    const shown = compact && mask.deleted_count > 0 ? undefined : await currentBlock(base, mask, deps, job.quiet());
    if (shown) return { session_id: session.id, baked: false, ...pending(session), ...shown };
    const dropping = compact && mask.deleted_count > 0;
    const bytes = dropping ? columnBytes(base) : 0;
    return deps.admission.run(job, "Bake", octreeCost(base, mask) + bytes, async () => {
      const built = await buildOctrees(base, mask, deps, { from: 0, to: dropping ? 0.85 : 1, overlay: true }, job);
      const stale = dropping
        ? await publishCompacted(session, base, built, job)
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

/** The block of a session's current octree; undefined if it has none or the octree is posed. */
async function currentBlock(state: CloudState, mask: Surviving, { octreeCache }: Deps, job: Job) {
  const { octree_cache_id, octree_pose } = state.meta;
  if (octree_cache_id === null || octree_pose !== null) return undefined;
  const folder = await octreeCache.path(octree_cache_id);
  if (!folder) return undefined; // evicted from the cache
  return octreeBlock({ octree: await readOctreeBlock(folder), summary: await cloudSummary(state, mask.skip, job) });
}

const columnBytes = ({ columns }: CloudState): number =>
  [...columns.values()].reduce((sum, { native: { bytes } }) => sum + bytes, 0);

/** True if the mask changed since `base`: every edit of it increments the octree's generation. */
const overtaken = (base: CloudState, { state }: Edit): boolean =>
  state.meta.octree_stale_gen !== base.meta.octree_stale_gen;

/** Keeps the rows and makes the mask the floor of the undo stack. True if a deletion landed meanwhile. */
async function publishMasked(session: CloudSession, base: CloudState, built: BuiltOctrees, job: Job): Promise<boolean> {
  const floor = await floorOf(fixedColumn(base, "deleted"), job);
  job.checkpoint(); // the last cancel point
  return session.edit(job, async (edit) => {
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

/** Drops the deleted rows. True if a deletion landed meanwhile: then no row is dropped. */
async function publishCompacted(
  session: CloudSession,
  base: CloudState,
  built: BuiltOctrees,
  job: Job,
): Promise<boolean> {
  job.stage("Dropping deleted points", 0.85, 1);
  const compacted = await keptColumns(base, alignedKeys(base), job);
  job.checkpoint(); // the last cancel point
  return session.edit(job, async (edit) => {
    const { state } = edit;
    const octrees = rebuilt(built, state);
    if (overtaken(base, edit)) {
      await edit.publish({ meta: overtakenOctree(state.meta, octrees) });
      return true;
    }
    const painted = alignedKeys(state).filter(
      (key) => state.columns.get(key)?.content !== base.columns.get(key)?.content,
    );
    const again = await keptColumns(state, painted, job); // labels painted meanwhile
    const dropped = countsOf(state).deleted_count;
    await edit.publish({
      columns: new Map<string, ColumnRef | null>([...compacted, ...again, ["deleted", null]]),
      compact: true,
      undo: boundarySteps(state.undo, null),
      meta: {
        ...currentOctree(octrees),
        octree_stale_gen: state.meta.octree_stale_gen + 1, // rows changed: octrees built from the previous rows are stale
        unrestorable_hit_count: state.meta.unrestorable_hit_count + dropped,
      },
    });
    return false;
  });
}

/** Columns with one value per row, except the mask itself. */
const alignedKeys = ({ columns }: CloudState): string[] => [...columns.keys()].filter((key) => key !== "deleted");

/** Columns without the deleted rows; the run owns them. */
async function keptColumns(
  { columns }: CloudState,
  keys: readonly string[],
  job: Job,
): Promise<Map<string, ColumnRef>> {
  const deleted = columns.get("deleted");
  if (!deleted || keys.length === 0) return new Map();
  const natives = keys.map((key) => (columns.get(key) as ColumnRef).native);
  const kept = await job.track(() => native.compactColumns(natives, deleted.native));
  return new Map(keys.map((key, i) => [key, job.adopt(new ColumnRef(kept[i] as NativeColumn))]));
}
