import { createHash } from "node:crypto";
import type { TransformResponse } from "../../../shared/contract/cloud-session/transform.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import {
  type CloudChange,
  type CloudMeta,
  type CloudSession,
  type CloudState,
  type MissBuffer,
  stateAfter,
} from "../../sessions/cloud-session.ts";
import { extraKey, type Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree, hasNormals, NORMAL_SLUGS } from "../../sessions/edits.ts";
import { boundarySteps } from "../../sessions/undo.ts";
import { readOctreeBlock } from "../octree/build.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import {
  type BuiltOctrees,
  buildOctrees,
  keepOctrees,
  octreeBlock,
  octreeCost,
  rebuilt,
  type Surviving,
} from "../octree/publish.ts";
import { cloudSummary } from "../octree/summary.ts";
import { apply, composed, linearPart, type Motion } from "./affine.ts";
import { distanceWarnings } from "./distance-warnings.ts";
import { floorOf } from "./edit.ts";
import { motionWarnings } from "./motion-warnings.ts";

/** Column of the DEM (services/terrain). */
const HEIGHT_SLUG = "height_above_ground";
/** Steps of float32: below, heights do not change. */
const UPRIGHT_TOLERANCE = 2 ** -24;

/** The columns and the description that a motion changes, not yet published. */
interface Moved {
  readonly columns: ReadonlyMap<string, ColumnRef>;
  readonly misses: MissBuffer;
  readonly meta: Partial<CloudMeta>;
}

/**
 * Moves every point for good, an undo boundary. With `pose` the octree stays and the client draws it moved; otherwise
 * the octree is translated (pure translation) or rebuilt. Errors: conflict if the cloud changed meanwhile.
 */
export function transformCloud(
  session: CloudSession,
  { motion, pose }: { readonly motion: Motion; readonly pose: boolean },
  deps: Deps,
  job: Job,
): Promise<TransformResponse> {
  return session.read(job, async (base) => {
    const mask = await surviving(base, job);
    return deps.admission.run(job, "Transform", transformBytes(base, mask), async () => {
      job.stage("Moving points", 0, 0.1);
      const doubts = await motionWarnings(motion, base, mask.skip, job);
      const translating = pose || !motion.is_translation ? undefined : translatedFolders(base, motion.delta, deps, job);
      const [moved, folders] = await both(moveColumns(base, motion, job), translating);
      const after = stateAfter(base, moved);
      const shown = pose ? await shownOctree(base, { after, mask }, deps, job) : undefined;
      const built = shown ?? (await movedOctrees(base, { after, mask, folders }, deps, job));
      const floor = await floorOf(fixedColumn(base, "deleted"), job);
      job.checkpoint(); // the last cancel point
      const octrees = rebuilt(built, after);
      const change: CloudChange = {
        columns: moved.columns,
        ...(moved.misses.size > 0 ? { misses: moved.misses } : {}),
        move: motion.stored,
        undo: boundarySteps(base.undo, floor),
        meta: {
          ...moved.meta,
          ...(shown ? {} : currentOctree(octrees)),
          octree_pose: shown ? composed(motion.stored, base.meta.octree_pose) : null,
          octree_stale_gen: base.meta.octree_stale_gen + 1,
        },
      };
      await session.commit(base, change, job);
      await keepOctrees(deps);
      const warnings = [...doubts, ...heightWarnings(base, motion), ...distanceWarnings(base)];
      warnings.push(...(built.overlay?.warnings ?? []));
      return {
        session_id: session.id,
        total_count: positionsColumn(base).length,
        miss_octree_cache_id: session.state.meta.miss_octree_cache_id,
        octree_posed: shown !== undefined,
        ...octreeBlock(built),
        ...(warnings.length > 0 ? { warnings } : {}),
      };
    });
  });
}

/** Warns of heights that a tilt leaves as they were. */
const heightWarnings = (base: CloudState, { vertical_scale }: Motion): string[] =>
  vertical_scale === null && optionalExtra(base, HEIGHT_SLUG)
    ? [
        `The motion tilts the cloud: the column ${HEIGHT_SLUG} still has the heights along the former vertical. Compute the terrain and the heights again (POST dem with add_height_column true).`,
      ]
    : [];

/** Both results, after both have settled, so that neither is still running when the other's failure is thrown. */
async function both<A, B>(first: Promise<A>, second: Promise<B> | undefined): Promise<[A, B | undefined]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
}

const transformBytes = (base: CloudState, mask: Surviving): number =>
  octreeCost(base, mask) + 2 * positionsColumn(base).bytes;

/** The columns that a motion changes (contract sessions 12). The run owns them. */
async function moveColumns(base: CloudState, motion: Motion, job: Job): Promise<Moved> {
  const columns = new Map<string, ColumnRef>();
  const put = (key: string, column: NativeColumn) => columns.set(key, job.adopt(new ColumnRef(column)));
  const move = (column: NativeColumn) => job.track(() => native.transformPositions(column, motion.stored));
  put("positions", await move(positionsColumn(base)));
  const origins = fixedColumn(base, "beam_origins");
  if (origins) put("beam_origins", await move(origins));
  const [nx, ny, nz] = NORMAL_SLUGS.map((slug) => optionalExtra(base, slug));
  if (nx && ny && nz && !motion.is_translation) {
    const turned = await job.track(() => native.transformNormals([nx, ny, nz], linearPart(motion.stored)));
    for (const [i, slug] of NORMAL_SLUGS.entries()) put(extraKey(slug), turned[i] as NativeColumn);
    const up = turned[2];
    if (optionalExtra(base, "verticality")) put(extraKey("verticality"), await job.track(() => native.verticality(up)));
  }
  const distance = optionalExtra(base, "distance");
  if (distance && motion.is_similarity && motion.scale !== 1) {
    put(extraKey("distance"), await job.track(() => native.scaleColumn(distance, motion.scale)));
  }
  const heights = optionalExtra(base, HEIGHT_SLUG);
  const { vertical_scale } = motion;
  if (heights && vertical_scale !== null && Math.abs(vertical_scale - 1) > UPRIGHT_TOLERANCE)
    put(extraKey(HEIGHT_SLUG), await job.track(() => native.scaleColumn(heights, vertical_scale)));
  const { miss_octree_origin, normals_stale, scan_origins, source_offset_m, source_scale_m } = base.meta;
  const misses = new Map(base.misses);
  for (const key of ["positions", "origins"] as const) {
    const column = misses.get(key);
    if (column) misses.set(key, job.adopt(new ColumnRef(await move(column.native))));
  }
  return {
    columns,
    misses,
    meta: {
      ...(misses.size > 0 ? { backfilled_misses_stale: true, backfilled_misses_moved: true } : {}),
      miss_octree_origin: miss_octree_origin && apply(motion.stored, miss_octree_origin),
      ...(scan_origins
        ? { scan_origins: scan_origins.map((scan) => ({ ...scan, origin: apply(motion.stored, scan.origin) })) }
        : {}),
      ...(source_offset_m ? { source_offset_m: movedOffset(source_offset_m, motion) } : {}),
      ...(source_scale_m ? { source_scale_m: scaledStep(source_scale_m, motion) } : {}),
      normals_stale: normals_stale || (!motion.is_similarity && hasNormals(base)),
    },
  };
}

/** Step of the source's coordinate grid, which files of the cloud are written with. */
const scaledStep = ([x, y, z]: Triple, { is_similarity, scale }: Motion): Triple =>
  is_similarity ? [x * scale, y * scale, z * scale] : [x, y, z];

interface After {
  readonly after: CloudState;
  readonly mask: Surviving;
}

/** Offset of the source's coordinate grid: it moves with a translation; any other motion takes points off the grid. */
const movedOffset = ([x, y, z]: Triple, { is_translation, delta: [dx, dy, dz] }: Motion): Triple | null =>
  is_translation ? [x + dx, y + dy, z + dz] : null;

/** The session's octree, unchanged; undefined if there is none in the cache. */
async function shownOctree(
  base: CloudState,
  { after, mask }: After,
  { octreeCache }: Deps,
  job: Job,
): Promise<BuiltOctrees | undefined> {
  const { octree_cache_id } = base.meta;
  const folder = octree_cache_id === null ? undefined : await octreeCache.path(octree_cache_id);
  if (!folder) return undefined;
  const summary = await cloudSummary(after, mask.skip, job);
  return {
    octree: await readOctreeBlock(folder),
    overlay: null,
    summary,
    survivor_count: survivors(base, mask),
    of: after,
  };
}

const survivors = (base: CloudState, { deleted_count }: Surviving): number =>
  positionsColumn(base).length - deleted_count;

/** Folders of translated octrees. */
interface Folders {
  readonly octree: string;
  readonly misses: string | null;
}

/** Octrees of the moved points: the translated ones if there are any, else rebuilt. */
async function movedOctrees(
  base: CloudState,
  { after, mask, folders }: After & { readonly folders: Folders | undefined },
  deps: Deps,
  job: Job,
): Promise<BuiltOctrees> {
  if (!folders) {
    const overlay = base.meta.miss_octree_cache_id !== null;
    return buildOctrees(after, mask, deps, { from: 0.1, to: 1, overlay }, job);
  }
  const octree = await readOctreeBlock(folders.octree);
  const overlay =
    folders.misses === null ? null : { cache_id: (await readOctreeBlock(folders.misses)).cache_id, warnings: [] };
  const summary = await cloudSummary(after, mask.skip, job);
  return { octree, overlay, summary, survivor_count: survivors(base, mask), of: after };
}

/** The session's current octrees, translated by `delta`; undefined if they must be rebuilt. */
async function translatedFolders(base: CloudState, delta: Triple, deps: Deps, job: Job): Promise<Folders | undefined> {
  const { octree_cache_id, octree_pose, octree_lacks_labels, miss_octree_cache_id } = base.meta;
  if (octree_cache_id === null || octree_pose !== null || octree_lacks_labels) return undefined;
  const octree = await translatedOctree(octree_cache_id, delta, deps, job);
  if (octree === undefined) return undefined;
  if (miss_octree_cache_id === null) return { octree, misses: null };
  const misses = await translatedOctree(miss_octree_cache_id, delta, deps, job);
  return misses === undefined ? undefined : { octree, misses };
}

/** Folder of an octree translated by `delta`; undefined if it was evicted or its layout is not supported. */
async function translatedOctree(
  id: string,
  delta: Triple,
  { octreeCache }: Deps,
  job: Job,
): Promise<string | undefined> {
  const folder = await octreeCache.path(id);
  if (!folder) return undefined;
  const moved = createHash("sha1")
    .update(`${id}|translate|${delta.map((value) => value.toFixed(9)).join(",")}`)
    .digest("hex");
  job.adopt(octreeCache.hold(id));
  job.adopt(octreeCache.hold(moved)); // until the session that shows it is saved
  try {
    const build = async (staging: string) => {
      await job.track(() => native.octreeTranslate(folder, staging, delta));
    };
    return (await octreeCache.getOrBuild(moved, build, job.signal)).folder;
  } catch (error) {
    if ((error as { code?: string }).code === "unsupported") return undefined;
    throw error;
  }
}
