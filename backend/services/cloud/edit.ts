import type { DeleteRegionResponse } from "../../../shared/contract/cloud-session/delete-region.ts";
import type { ResetEditsResponse } from "../../../shared/contract/cloud-session/reset-edits.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { countsOf, hasNormals, lossWarnings, overflowing, staleMisses, staleOctree } from "../../sessions/edits.ts";
import type { RowSet, UndoStep } from "../../sessions/undo.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { selectRows } from "./selection.ts";

/** A native row set, owned by the run. */
export function adoptRows(rows: native.NativeRowSet, job: Job): RowSet {
  return { encoding: rows.encoding, count: rows.count, data: job.adopt(new ColumnRef(rows.data)) };
}

/** A row set in the form that native ops accept. */
export const nativeRows = ({ encoding, count, data }: RowSet): native.NativeRowSet => ({
  encoding,
  count,
  data: data.native,
});

export interface Deletion {
  readonly region: native.NativeRegion;
  /** A deletion with the name of one that can be undone is not made again. */
  readonly edit_id: string | null;
  /** Deletions that can be undone. */
  readonly maxSteps: number;
}

/** Marks the hits inside a region as deleted. Adds one undo step, even if nothing changes. */
export function deleteRegion(
  session: CloudSession,
  { region, edit_id, maxSteps }: Deletion,
  job: Job,
): Promise<DeleteRegionResponse> {
  return session.edit(job, async (edit) => {
    const { state } = edit;
    const isMade = edit_id !== null && state.undo.deletes.some((made) => made.edit_id === edit_id);
    if (isMade) return deletionAnswer(session.id, edit.state);
    const selected = await selectRows(state, { region, filters: [] }, job);
    const deletion = await job.track(() =>
      native.deleteRows(selected, optionalExtra(state, MISS_SLUG), fixedColumn(state, "deleted")),
    );
    const deleted = job.adopt(new ColumnRef(deletion.deleted));
    const rows = { ...adoptRows(deletion.rows, job), ...(edit_id === null ? {} : { edit_id }) };
    const undo: UndoStep[] = [{ op: "delete", rows }, ...(await foldOverflow(state, rows, maxSteps, job))];
    job.checkpoint(); // the last cancel point
    await edit.publish({
      columns: new Map([["deleted", deleted]]),
      undo,
      meta: {
        ...staleOctree(state.meta),
        ...staleMisses(state, deletion.selected_hit_count),
        normals_stale: state.meta.normals_stale || (rows.count > 0 && hasNormals(state)),
      },
    });
    return deletionAnswer(session.id, edit.state);
  });
}

const deletionAnswer = (session_id: string, state: CloudState): DeleteRegionResponse => ({
  session_id,
  ...countsOf(state),
  edit_count: state.undo.deletes.length,
  backfilled_misses_stale: state.meta.backfilled_misses_stale,
  ...lossWarnings(state),
});

/** Moves the oldest steps beyond the cap into the floor. */
async function foldOverflow(state: CloudState, added: RowSet, maxSteps: number, job: Job): Promise<UndoStep[]> {
  const oldest = overflowing([...state.undo.deletes, added], maxSteps);
  if (oldest.length === 0) return [];
  const floor = [...(state.undo.base ? [state.undo.base] : []), ...oldest];
  const base = await rowsOf(await union(state, floor, job), job);
  return [{ op: "fold_deletes", count: oldest.length, base }];
}

/** Undoes delete steps, newest first, until `edit_count` are left. */
export function resetEdits(session: CloudSession, edit_count: number, job: Job): Promise<ResetEditsResponse> {
  return session.edit(job, async (edit) => {
    const { state } = edit;
    const kept = state.undo.deletes.slice(0, Math.max(0, edit_count));
    const sets = [...(state.undo.base ? [state.undo.base] : []), ...kept];
    const mask = sets.length > 0 ? await union(state, sets, job) : null;
    job.checkpoint(); // the last cancel point
    await edit.publish({
      columns: new Map([["deleted", mask]]),
      undo: [{ op: "keep_deletes", count: kept.length }],
      meta: { ...staleOctree(state.meta), normals_stale: state.meta.normals_stale || hasNormals(state) },
    });
    return { session_id: session.id, ...countsOf(edit.state), ...lossWarnings(edit.state) };
  });
}

/** The mask of the union of row sets; owned by the run. */
async function union(state: CloudState, sets: readonly RowSet[], job: Job): Promise<ColumnRef> {
  const rows = positionsColumn(state).length;
  const mask = await job.track(() => native.unionRows(rows, null, sets.map(nativeRows)));
  return job.adopt(new ColumnRef(mask));
}

/** The rows of a mask as a set; owned by the run. */
export async function rowsOf(mask: ColumnRef, job: Job): Promise<RowSet> {
  return adoptRows(await job.track(() => native.encodeRows(mask.native)), job);
}

/** The rows of a mask as the floor of the undo stack after an undo boundary; null if none. */
export async function floorOf(mask: NativeColumn | null, job: Job): Promise<RowSet | null> {
  if (!mask) return null;
  const rows = adoptRows(await job.track(() => native.encodeRows(mask)), job);
  return rows.count > 0 ? rows : null;
}
