import type { CloudMeta, CloudState } from "./cloud-session.ts";
import { extraKey } from "./column-names.ts";
import { type RowSet, strokeBytes, strokesOf, type UndoState, type UndoStep } from "./undo.ts";

/**
 * States of a session's octree in its meta (contract sessions 0):
 *
 * | state | octree_cache_id | rendered_octree_cache_id | octree_pose |
 * |---|---|---|---|
 * | current | its id | null | null |
 * | posed: the points moved since | its id | null | the motion |
 * | stale: points were deleted or restored since | null | id of the octree still drawn | null |
 */

/** The meta after an edit that the octree does not show. */
export function staleOctree(meta: CloudMeta): Partial<CloudMeta> {
  return {
    octree_cache_id: null,
    rendered_octree_cache_id: meta.octree_cache_id ?? meta.rendered_octree_cache_id,
    octree_pose: null,
    octree_stale_gen: meta.octree_stale_gen + 1,
  };
}

/** Result of a rebuild. `survivor_count`: rows that were not deleted at its beginning, misses included. */
export interface RebuiltOctree {
  readonly cache_id: string;
  readonly miss_cache_id: string | null;
  readonly survivor_count: number;
  /** A column was painted since the rebuild began. */
  readonly lacks_labels: boolean;
}

/** The meta with an octree of the current points. */
export const currentOctree = (built: RebuiltOctree): Partial<CloudMeta> => ({
  octree_cache_id: built.cache_id,
  rendered_octree_cache_id: null,
  octree_pose: null,
  octree_point_count: built.survivor_count,
  miss_octree_cache_id: built.miss_cache_id,
  octree_lacks_labels: built.lacks_labels,
});

/** The meta with an octree that an edit made stale: it is drawn for the time being, unless a current one exists. */
export const overtakenOctree = (meta: CloudMeta, built: RebuiltOctree): Partial<CloudMeta> =>
  meta.octree_cache_id === null
    ? {
        rendered_octree_cache_id: built.cache_id,
        octree_point_count: built.survivor_count,
        miss_octree_cache_id: built.miss_cache_id,
      }
    : {};

/** Number of deleted rows. No row is in two steps. */
export const deletedCount = ({ base, deletes }: UndoState): number =>
  deletes.reduce((sum, { count }) => sum + count, base?.count ?? 0);

export interface Counts {
  readonly deleted_count: number;
  readonly remaining_count: number;
  readonly total_count: number;
  readonly pending_deleted_count: number;
}

export function countsOf({ columns, undo, meta }: CloudState): Counts {
  const total_count = columns.get("positions")?.length ?? 0;
  const deleted_count = deletedCount(undo);
  const remaining_count = total_count - deleted_count;
  const pending_deleted_count = Math.max(0, (meta.octree_point_count ?? total_count) - remaining_count);
  return { deleted_count, remaining_count, total_count, pending_deleted_count };
}

/** What damage on the disk has lost of a session, for its answers. */
export const lossWarnings = ({ meta }: CloudState): { warnings?: string[] } =>
  meta.recovery_losses ? { warnings: [...meta.recovery_losses] } : {};

/** After hits were deleted, recovered misses no longer match the cloud. `hit_count`: hits that the edit selected. */
export const staleMisses = ({ meta, misses }: CloudState, hit_count: number): Partial<CloudMeta> => ({
  backfilled_misses_stale: meta.backfilled_misses_stale || (misses.size > 0 && hit_count > 0),
});

export const NORMAL_SLUGS = ["nx", "ny", "nz"] as const;
export const hasNormals = ({ columns }: CloudState): boolean =>
  NORMAL_SLUGS.every((slug) => columns.has(extraKey(slug)));

/** The oldest delete steps, those beyond the cap. */
export const overflowing = (deletes: readonly RowSet[], cap: number): readonly RowSet[] =>
  deletes.slice(0, Math.max(0, deletes.length - cap));

/** The step that forgets the oldest strokes of a column, so that the others fit the caps. */
export function forgetOverflow(undo: UndoState, slug: string, caps: { strokes: number; bytes: number }): UndoStep[] {
  const strokes = strokesOf(undo, slug);
  let bytes = strokes.reduce((sum, stroke) => sum + strokeBytes(stroke), 0);
  let count = 0;
  for (const stroke of strokes) {
    if (strokes.length - count <= caps.strokes && bytes <= caps.bytes) break;
    bytes -= strokeBytes(stroke);
    count += 1;
  }
  return count > 0 ? [{ op: "forget_labels", slug, count }] : [];
}

/**
 * Number of strokes to keep: up to the newest one that the client still knows, inclusive. `known`: stroke ids of the
 * client, newest first. 0 if none is found.
 */
export function keptStrokes(undo: UndoState, slug: string, known: readonly string[]): number {
  const ids = strokesOf(undo, slug).map(({ stroke_id }) => stroke_id);
  for (const id of known) {
    const at = ids.lastIndexOf(id);
    if (at >= 0) return at + 1;
  }
  return 0;
}
