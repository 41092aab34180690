import type { DuplicateResponse } from "../../../shared/contract/cloud-session/duplicate.ts";
import type { ExtractResponse } from "../../../shared/contract/cloud-session/extract.ts";
import type { SplitResponse } from "../../../shared/contract/cloud-session/split.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { unionRows } from "../../native/cloud/edit.ts";
import { combineMasks, type MaskTerm } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import {
  type CloudChange,
  type CloudSession,
  type CloudState,
  requireUnchanged,
  stateAfter,
} from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree } from "../../sessions/edits.ts";
import type { Birth } from "../../sessions/journal-records.ts";
import { boundarySteps } from "../../sessions/undo.ts";
import { fixedColumn, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { type BuiltOctrees, buildOctrees, keepOctrees, octreeBlock, octreeCost, rebuilt } from "../octree/publish.ts";
import { childMeta, keptColumns, type MadeChild, makeChild, makeChildOf, stateBytes } from "./child.ts";
import { floorOf } from "./edit.ts";
import { permanentDeletion } from "./filter.ts";
import { type CheckedSelection, selectHits } from "./selection.ts";

const NOTHING_KEPT = { point_count: 0, cache_id: null, cache_dir: null } as const;

/** The two octree builds of one answer share its progress. */
const FIRST_HALF = { from: 0.05, to: 0.5 };
const SECOND_HALF = { from: 0.5, to: 1 };

const warningsOf = (...lists: readonly (readonly string[])[]) => {
  const warnings = [...new Set(lists.flat())];
  return warnings.length > 0 ? { warnings } : {};
};

/**
 * Keeps the hits of the selection and every miss; the other hits move to a new session. Both octrees are built before
 * anything is committed; child and parent change together or not at all. Errors: conflict, no_space.
 */
export function splitCloud(
  session: CloudSession,
  selection: CheckedSelection,
  deps: Deps,
  job: Job,
): Promise<SplitResponse> {
  return session.read(job, async (base) => {
    job.stage("Selecting points", 0, 0.05);
    const hits = await selectHits(base, selection, job);
    const bytes = octreeCost(base, { skip: null }) + stateBytes(base);
    return deps.admission.run(job, "Split", bytes, async () => {
      const moving = hits.outside_count > 0;
      const change = moving ? await permanentDeletion(base, hits.outside, job) : {};
      const after = moving ? stateAfter(base, change) : base;
      const kept = hits.inside_count > 0 ? await keptOctrees(after, deps, job) : undefined;
      if (!moving) return answerUnmoved(session, base, kept, deps, job);
      const birth = deps.sessions.birthOf(session);
      const taken = { take: hits.outside, count: hits.outside_count, birth };
      const leftover = await extractHits(base, taken, deps, job);
      await commitSplit({ session, base, change: withOctree(change, base, kept), birth, leftover }, deps, job);
      return {
        session_id: session.id,
        kept: kept ? octreeBlock(kept) : NOTHING_KEPT,
        leftover: leftover.block,
        ...warningsOf(kept?.overlay?.warnings ?? [], leftover.warnings),
      };
    });
  });
}

async function keptOctrees(after: CloudState, deps: Deps, job: Job): Promise<BuiltOctrees> {
  const mask = await surviving(after, job);
  const overlay = after.meta.miss_octree_cache_id !== null;
  return buildOctrees(after, mask, deps, { ...FIRST_HALF, overlay }, job);
}

const withOctree = (change: CloudChange, base: CloudState, built: BuiltOctrees | undefined): CloudChange =>
  built ? { ...change, meta: { ...change.meta, ...currentOctree(rebuilt(built, base)) } } : change;

/** All hits are selected: no point moves. Publishes the octree of the current points and sets an undo boundary. */
async function answerUnmoved(
  session: CloudSession,
  base: CloudState,
  kept: BuiltOctrees | undefined,
  deps: Deps,
  job: Job,
): Promise<SplitResponse> {
  const undo = boundarySteps(base.undo, await floorOf(fixedColumn(base, "deleted"), job));
  job.checkpoint(); // the last cancel point
  if (kept) await session.commit(base, withOctree({ undo }, base, kept), job);
  await keepOctrees(deps);
  return {
    session_id: session.id,
    kept: kept ? octreeBlock(kept) : NOTHING_KEPT,
    leftover: null,
    ...warningsOf(kept?.overlay?.warnings ?? []),
  };
}

interface Split {
  readonly session: CloudSession;
  readonly base: CloudState;
  readonly change: CloudChange;
  readonly birth: Birth;
  readonly leftover: MadeChild;
}

async function commitSplit({ session, base, change, birth, leftover }: Split, deps: Deps, job: Job): Promise<void> {
  await discardUnless(leftover, () => {
    job.checkpoint(); // the last cancel point
    return deps.sessions.registerChildren(birth, [leftover], (births) =>
      session.edit(job, async (edit) => {
        requireUnchanged(base, edit.state);
        await edit.publish({ ...change, births });
      }),
    );
  });
  await keepOctrees(deps);
}

/** Runs `register`; if it fails, removes the child. */
async function discardUnless<T>(child: MadeChild, register: () => Promise<T>): Promise<T> {
  try {
    return await register();
  } catch (error) {
    await child.staged.discard();
    throw error;
  }
}

/** Makes a child of some hits of a state, without its misses. */
async function extractHits(
  base: CloudState,
  { take, count, birth }: { readonly take: NativeColumn; readonly count: number; readonly birth: Birth },
  deps: Deps,
  job: Job,
): Promise<MadeChild> {
  const drop = await combined([{ mask: take, invert: true }], "and", job);
  const meta = childMeta(base, await hitCount(base, job), count); // before the columns, which the child takes over
  return makeChildOf(birth, await keptColumns(base, drop, job), meta, deps, SECOND_HALF, job);
}

const hitCount = async (state: CloudState, job: Job): Promise<number> => (await surviving(state, job)).hit_count;

async function combined(terms: readonly MaskTerm[], how: "and" | "or", job: Job): Promise<NativeColumn> {
  const { mask } = await job.track(() => combineMasks(terms, how));
  return job.adopt(new ColumnRef(mask)).native;
}

/** Copies the hits of the selection and every miss to a new session; the parent does not change. */
export function extractCloud(
  session: CloudSession,
  selection: CheckedSelection,
  deps: Deps,
  job: Job,
): Promise<ExtractResponse> {
  return session.read(job, async (base) => {
    job.stage("Selecting points", 0, 0.05);
    const hits = await selectHits(base, selection, job);
    if (hits.inside_count === 0) return { session_id: session.id, extracted: null };
    const deleted = fixedColumn(base, "deleted");
    const gone = deleted ? [{ mask: deleted, invert: false }] : [];
    const drop = await combined([{ mask: hits.outside, invert: false }, ...gone], "or", job);
    const meta = childMeta(base, hits.inside_count + hits.outside_count, hits.inside_count);
    const child = await copyOut(base, drop, meta, { label: "Extract", deps, job });
    return { session_id: session.id, extracted: child.block, ...warningsOf(child.warnings) };
  });
}

/** Copies the survivors, misses included, to a new session. Errors: invalid_argument without survivors. */
export function duplicateCloud(session: CloudSession, deps: Deps, job: Job): Promise<DuplicateResponse> {
  return session.read(job, async (base) => {
    const { hit_count, deleted_count } = await surviving(base, job);
    const rows = positionsColumn(base).length;
    if (deleted_count === rows) {
      const why = rows === 0 ? "the cloud has no points" : "every point of this cloud is deleted";
      throw new AppError("invalid_argument", `no surviving points: ${why}`);
    }
    const deleted = fixedColumn(base, "deleted");
    const drop = deleted ?? (await noRows(rows, job));
    const child = await copyOut(base, drop, childMeta(base, hit_count, hit_count), { label: "Duplicate", deps, job });
    const missing = base.misses.get("positions")?.length ?? 0;
    const told = missing > 0 ? [`${missing} recovered misses are not in the copy: run backfill-misses on it.`] : [];
    return { session_id: session.id, duplicate: child.block, ...warningsOf([...told, ...child.warnings]) };
  });
}

async function noRows(rows: number, job: Job): Promise<NativeColumn> {
  const mask = await job.track(() => unionRows(rows, null, []));
  return job.adopt(new ColumnRef(mask)).native;
}

/** Builds and registers one child of a state. */
async function copyOut(
  base: CloudState,
  drop: NativeColumn,
  meta: ReturnType<typeof childMeta>,
  { label, deps, job }: { readonly label: string; readonly deps: Deps; readonly job: Job },
): Promise<MadeChild> {
  const bytes = octreeCost(base, { skip: null }) + stateBytes(base);
  const child = await deps.admission.run(job, label, bytes, async () =>
    makeChild(await keptColumns(base, drop, job), meta, deps, { from: 0.05, to: 1 }, job),
  );
  await discardUnless(child, async () => {
    job.checkpoint(); // the last cancel point
    await deps.sessions.register(child.staged, child.meta);
  });
  await keepOctrees(deps);
  return child;
}
