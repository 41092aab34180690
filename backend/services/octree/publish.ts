import type { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { together } from "../../jobs/together.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import { currentOctree, overtakenOctree, type RebuiltOctree } from "../../sessions/edits.ts";
import { type BuiltOctree, buildOctree, hitsOctreeSource, type OctreeWindow, octreeScratchBytes } from "./build.ts";
import { buildMissOctree, type MissOverlay } from "./misses.ts";
import { type CloudSummary, cloudSummary } from "./summary.ts";

/** The rows of a state that its octree shows. */
export interface Surviving {
  /** u8 per row, non-zero = miss or deleted; null = all rows are surviving hits. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  readonly miss_count: number;
  readonly deleted_count: number;
}

export interface BuiltOctrees {
  readonly octree: Omit<BuiltOctree, "cached">;
  /** Null if it was not requested. */
  readonly overlay: MissOverlay | null;
  readonly summary: CloudSummary;
  readonly survivor_count: number;
  /** The state that the octrees were built from. */
  readonly of: CloudState;
}

/** Builds the octrees of a state, committed or not, and computes its statistics. */
export async function buildOctrees(
  state: CloudState,
  mask: Surviving,
  { octreeCache }: Pick<Deps, "octreeCache">,
  window: OctreeWindow & { readonly overlay: boolean },
  job: Job,
): Promise<BuiltOctrees> {
  const seam = window.overlay ? window.from + 0.9 * (window.to - window.from) : window.to;
  const source = hitsOctreeSource(state, mask.skip);
  const build = async () => {
    const { cached: _, ...octree } = await buildOctree(octreeCache, source, { from: window.from, to: seam }, job);
    const overlay = window.overlay
      ? await buildMissOctree(state, mask.miss_count, octreeCache, { from: seam, to: window.to }, job)
      : null;
    return { octree, overlay };
  };
  // The statistics run beside the octree build and use the cores that wait in it.
  const quiet = job.quiet();
  const [octrees, summary] = await together(build(), cloudSummary(state, mask.skip, quiet), quiet);
  const rows = state.columns.get("positions")?.length ?? 0;
  return { ...octrees, summary, survivor_count: rows - mask.deleted_count, of: state };
}

/** Memory that an octree build needs besides the state, bytes. */
export const octreeCost = (state: CloudState, mask: Pick<Surviving, "skip">): number =>
  octreeScratchBytes(hitsOctreeSource(state, mask.skip));

/** The overlay's id after a build. If the build failed, the previous overlay stays: it shows the same sky. */
export function overlayId({ overlay }: BuiltOctrees, before: string | null): string | null {
  return overlay === null || (overlay.cache_id === null && overlay.warnings.length > 0) ? before : overlay.cache_id;
}

/** The description of built octrees for a session whose state is `now`. */
export const rebuilt = (built: BuiltOctrees, now: CloudState): RebuiltOctree => ({
  cache_id: built.octree.cache_id,
  miss_cache_id: overlayId(built, now.meta.miss_octree_cache_id),
  survivor_count: built.survivor_count,
  lacks_labels: now.meta.extra_dims_meta.some(({ slug }) => {
    const shown = built.of.columns.get(extraKey(slug));
    return shown?.content !== now.columns.get(extraKey(slug))?.content;
  }),
});

/**
 * Publishes octrees built from `base`. If an edit landed meanwhile, they are marked stale, for drawing only, and the
 * result is true.
 */
export async function publishOctrees(
  session: CloudSession,
  base: CloudState,
  built: BuiltOctrees,
  deps: Pick<Deps, "octreeCache">,
  job: Job,
): Promise<boolean> {
  const overtaken = await session.edit(job, async (edit) => {
    const { meta } = edit.state;
    const stale = meta.octree_stale_gen !== base.meta.octree_stale_gen;
    const octrees = rebuilt(built, edit.state);
    await edit.publish({ meta: stale ? overtakenOctree(meta, octrees) : currentOctree(octrees) });
    return stale;
  });
  await keepOctrees(deps);
  return overtaken;
}

/** Pins the octrees that the sessions show and lets the cache evict the others. */
export async function keepOctrees({ octreeCache }: Pick<Deps, "octreeCache">): Promise<void> {
  await octreeCache.writePins();
  void octreeCache.evict(); // never rejects; no request waits for the clean-up
}

/** The octree block of an answer. */
export const octreeBlock = ({ octree, summary }: Pick<BuiltOctrees, "octree" | "summary">): OctreeBlock => ({
  ...octree,
  observed_classes: summary.observed_classes,
  robust_bounds: summary.robust_bounds,
  robust_attribute_ranges: summary.robust_attribute_ranges,
});
