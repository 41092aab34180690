import type { ExtractByColumnTail } from "../../../shared/contract/cloud-session/extract-by-column.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import { addon } from "../../native/core/addon.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree, overtakenOctree } from "../../sessions/edits.ts";
import type { Birth } from "../../sessions/journal-records.ts";
import { pointsScratchBytes } from "../octree/build.ts";
import { extraColumn, fixedColumn, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { type BuiltOctrees, buildOctrees, keepOctrees, octreeBlock, octreeCost, rebuilt } from "../octree/publish.ts";
import { Builds, buildThreads, type Maker, POOL, rowsAtATime } from "./builds.ts";
import { childMeta, type MadeChild, makeChildOf, stateBytes } from "./child.ts";
import { SCAN_SLUG } from "./merge-scans.ts";

/** Limit of the memory that builds reuse from each other. */
const MAX_REUSED_BYTES = POOL * (32 << 20);

export interface ByColumn {
  readonly slug: string;
  readonly exclude_values: readonly number[];
  readonly rebuild_parent: boolean;
  readonly include_misses: boolean;
}

/**
 * Creates one session per distinct value of a column, all or none; the parent keeps its points. If an edit of the
 * parent lands meanwhile, the octree of `rebuild_parent` is for drawing only and the answer marks it as stale.
 * Errors: invalid_argument, no_space.
 */
export function extractByColumn(
  session: CloudSession,
  request: ByColumn,
  deps: Deps,
  job: Job,
): Promise<ExtractByColumnTail> {
  return session.read(job, async (base) => {
    const column = extraColumn(base, request.slug);
    const { mask, groups } = await job.whileWaiting("Slicing clouds", async () => {
      const mask = await surviving(base, job);
      const split = () => native.categoricalSplit(column, mask.skip, request.exclude_values);
      return { mask, groups: await job.track(split) };
    });
    const order = job.adopt(new ColumnRef(groups.order)).native;
    const slices = slicesOf(groups);
    const misses = request.include_misses ? await missColumns(base, mask.skip, job) : null;
    const birth = deps.sessions.birthOf(session);
    const bytes = octreeCost(base, mask) + childBytes(base, slices, misses, deps);
    const reused = Math.min(MAX_REUSED_BYTES, Math.ceil(bytes)); // a small cloud reuses no more than it can free
    return deps.admission.run(job, "Extract", bytes + reused, async () => {
      job.adopt({ release: addon.reusePages(reused) });
      const builds = new Builds(slices.length + (request.rebuild_parent ? 1 : 0), job);
      const total = slices.reduce((sum, { count }) => sum + count, 0);
      const makers = slices.map((slice): Maker => {
        const make = async (whole: Job) => {
          const quiet = whole.quiet(buildThreads(slice.count, total));
          const columns = await childColumns(base, { order, slice, misses }, request.slug, quiet);
          const meta = childMeta(base, hitsToTake(base, request.slug, mask.hit_count, slice), slice.count);
          return makeChildOf(birth, columns, meta, deps, WHOLE, quiet);
        };
        return { count: slice.count, make };
      });
      let parent: BuiltOctrees | undefined;
      const parentMaker = async (quiet: Job) => {
        const overlay = base.meta.miss_octree_cache_id !== null;
        parent = await buildOctrees(base, mask, deps, { ...WHOLE, overlay }, quiet);
      };
      try {
        const children = await builds.run(makers, request.rebuild_parent ? parentMaker : undefined);
        job.checkpoint(); // the last cancel point
        const stale = await publish({ session, base, birth, children, parent }, deps, job);
        return answer({ session, slices, children, parent, stale });
      } catch (error) {
        deps.sessions.discardAll(builds.made().map(({ staged }) => staged));
        throw error;
      }
    });
  });
}

const WHOLE = { from: 0, to: 1 };

interface Extraction {
  readonly session: CloudSession;
  readonly children: readonly MadeChild[];
  readonly parent: BuiltOctrees | undefined;
}

interface Extracted extends Extraction {
  readonly slices: readonly Slice[];
  readonly stale: boolean;
}

function answer({ session, slices, children, parent, stale }: Extracted) {
  const warnings = [...new Set([...children.flatMap((child) => child.warnings), ...(parent?.overlay?.warnings ?? [])])];
  const staleness = stale ? { octree_stale: true } : {};
  return {
    session_id: session.id,
    children: children.map(({ block }, i) => ({ value: slices[i]?.value ?? 0, ...block })),
    ...(parent ? { parent: { session_id: session.id, ...octreeBlock(parent), ...staleness } } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/** Upper bound of the memory of children during their builds. Reused pages are up to half as large again. */
function childBytes(base: CloudState, slices: readonly Slice[], misses: Misses | null, { sessions }: Deps): number {
  const rows = Math.max(1, positionsColumn(base).length);
  const counts = slices.map(({ count }) => count);
  const miss_count = misses?.get("positions")?.length ?? 0;
  const overlays = Math.min(POOL, slices.length) * pointsScratchBytes(miss_count);
  return 1.5 * (stateBytes(base) / rows) * rowsAtATime(counts, miss_count, sessions.saved) + overlays;
}

interface Slice {
  readonly value: number;
  readonly first: number;
  readonly count: number;
}

function slicesOf({ values, counts }: native.Groups): Slice[] {
  let first = 0;
  return values.map((value, i) => {
    const count = counts[i] ?? 0;
    const slice = { value, first, count };
    first += count;
    return slice;
  });
}

/** Hits of what a child is taken from: of one scan of a file of several, its own are all. */
const hitsToTake = ({ meta }: CloudState, slug: string, hit_count: number, { count }: Slice): number =>
  slug === SCAN_SLUG && meta.scan_origins ? count : hit_count;

type Misses = ReadonlyMap<string, NativeColumn>;

/** The columns of the surviving misses; null without any. */
async function missColumns(base: CloudState, skip: NativeColumn | null, job: Job): Promise<Misses | null> {
  if (!skip) return null;
  const deleted = fixedColumn(base, "deleted");
  // Surviving misses: skipped but not deleted.
  const terms = [{ mask: skip, invert: false }, ...(deleted ? [{ mask: deleted, invert: true }] : [])];
  const found = await job.track(() => combineMasks(terms, "and"));
  const misses = job.adopt(new ColumnRef(found.mask)).native;
  if (found.count === 0) return null;
  const drop = job.adopt(
    new ColumnRef((await job.track(() => combineMasks([{ mask: misses, invert: true }], "and"))).mask),
  );
  const keys = alignedKeys(base);
  const kept = await job.track(() => native.compactColumns(nativesOf(base, keys), drop.native));
  return new Map(keys.map((key, i) => [key, job.adopt(new ColumnRef(kept[i] as NativeColumn)).native]));
}

/** The columns of a child; a scan has its own misses. The caller owns them. */
async function childColumns(base: CloudState, group: Omit<Group, "others">, slug: string, job: Job) {
  const others = group.misses && (await missesOfOtherScans(group.misses, slug, group.slice, job));
  try {
    return await groupColumns(base, { ...group, others: others?.native ?? null }, job);
  } finally {
    others?.release(); // at once: there can be many scans
  }
}

/** u8 per miss, 1 = of another scan; null if the column does not tell scans apart. The caller owns it. */
async function missesOfOtherScans(misses: Misses, slug: string, { value }: Slice, job: Job): Promise<ColumnRef | null> {
  const column = slug === SCAN_SLUG ? misses.get(extraKey(SCAN_SLUG)) : undefined;
  if (!column) return null;
  const filters = [{ column, min: -Infinity, max: Infinity, values: [value] }];
  const positions = misses.get("positions") as NativeColumn;
  const own = await job.track(() => native.selectRows({ positions, regions: [], filters }));
  try {
    return new ColumnRef((await job.track(() => combineMasks([{ mask: own, invert: true }], "and"))).mask);
  } finally {
    own.release();
  }
}

const alignedKeys = ({ columns }: CloudState): string[] => [...columns.keys()].filter((key) => key !== "deleted");
const nativesOf = ({ columns }: CloudState, keys: readonly string[]): NativeColumn[] =>
  keys.map((key) => (columns.get(key) as ColumnRef).native);

interface Group {
  readonly order: NativeColumn;
  readonly slice: Slice;
  readonly misses: Misses | null;
  /** u8 per miss, 1 = not of this group; null = all are. */
  readonly others: NativeColumn | null;
}

/** Columns of one group: its hits, then the misses. The caller owns them. */
async function groupColumns(
  base: CloudState,
  { order, slice, misses, others }: Group,
  job: Job,
): Promise<Map<string, ColumnRef>> {
  const { first, count } = slice;
  const keys = alignedKeys(base);
  const taken = await job.track(() => native.takeRows(nativesOf(base, keys), order, first, count));
  const columns = new Map(keys.map((key, i) => [key, new ColumnRef(taken[i] as NativeColumn)]));
  if (!misses) return columns;
  try {
    for (const [key, hits] of columns)
      columns.set(key, await appended(hits, misses.get(key) as NativeColumn, others, job));
    return columns;
  } catch (error) {
    for (const column of columns.values()) column.release();
    throw error;
  }
}

async function appended(
  hits: ColumnRef,
  misses: NativeColumn,
  others: NativeColumn | null,
  job: Job,
): Promise<ColumnRef> {
  const part = (column: NativeColumn, drop: NativeColumn | null): native.ConcatPart => ({
    column,
    rows: column.length,
    drop,
    offset: [0, 0, 0],
    fill: null,
  });
  const parts = [part(hits.native, null), part(misses, others)];
  const both = await job.track(() => native.concatColumns(parts, { dtype: misses.dtype, fill: 0 }));
  hits.release();
  return new ColumnRef(both);
}

/** Publishes the children and the parent's octree. True if an edit of the parent made that octree stale. */
async function publish(
  { session, base, birth, children, parent }: Extraction & { readonly base: CloudState; readonly birth: Birth },
  deps: Deps,
  job: Job,
): Promise<boolean> {
  if (children.length === 0 && !parent) return false;
  let stale = false;
  await deps.sessions.registerChildren(birth, children, (births) =>
    session.edit(job, async (edit) => {
      const { meta } = edit.state;
      stale = parent !== undefined && meta.octree_stale_gen !== base.meta.octree_stale_gen;
      const octrees = parent && rebuilt(parent, edit.state);
      const shown = octrees && (stale ? overtakenOctree(meta, octrees) : currentOctree(octrees));
      await edit.publish({ births, ...(shown ? { meta: shown } : {}) });
    }),
  );
  await keepOctrees(deps);
  return stale;
}
