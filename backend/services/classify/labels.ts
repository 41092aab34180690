import type { CommitLabelsTail } from "../../../shared/contract/cloud-session/commit-labels.ts";
import type { LabelRegionRequest, LabelRegionResponse } from "../../../shared/contract/cloud-session/label-region.ts";
import type { LabelSummary } from "../../../shared/contract/cloud-session/label-summary.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_CLASS, MAX_INSTANCE, MAX_LABEL_HISTORY_BYTES, MAX_LABEL_STROKES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import {
  type CloudChange,
  type CloudSession,
  type CloudState,
  type Edit,
  stateAfter,
} from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { forgetOverflow, keptStrokes, lossWarnings } from "../../sessions/edits.ts";
import { applySteps, strokesOf, type UndoStep } from "../../sessions/undo.ts";
import { adoptRows, nativeRows } from "../cloud/edit.ts";
import { parseBox, parseRegion } from "../cloud/region.ts";
import { isPinnedRole } from "../files/roles.ts";
import { extraSlug } from "../files/slugs.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { rebuildOctree } from "../octree/rebuild.ts";
import { noiseWarnings, withoutNoise } from "./noise-rows.ts";

const CAPS = { strokes: MAX_LABEL_STROKES, bytes: MAX_LABEL_HISTORY_BYTES };

/** A stroke that passed the checks before painting. */
interface CheckedStroke {
  readonly stroke_id: string;
  readonly regions: readonly native.NativeRegion[];
  readonly to_class: number;
  readonly from_classes: readonly number[] | null;
  readonly exclude_classes: readonly number[];
}

/** Errors: invalid_argument naming the stroke and the field. */
export function checkStrokes({ strokes, slug }: LabelRegionRequest, state: CloudState): CheckedStroke[] {
  if (strokes.length === 0) throw new AppError("invalid_argument", "strokes is empty: give at least one");
  if (strokes.length > MAX_LABEL_STROKES) {
    throw new AppError(
      "invalid_argument",
      `strokes has ${strokes.length} entries; a request takes at most ${MAX_LABEL_STROKES}: send them in several requests`,
    );
  }
  if (isPinnedRole(slug)) {
    throw new AppError("invalid_argument", `slug "${slug}" is a column of the scan, not a label column`);
  }
  if (!state.columns.has(extraKey(slug)) && extraSlug(slug) !== slug) {
    throw new AppError(
      "invalid_argument",
      `slug "${slug}" cannot name a new column: use at most 32 of A-Z a-z 0-9 _ and no name of a LAS field, for example "${extraSlug(slug)}"`,
    );
  }
  const highest = /(^|_)instance$/.test(slug) ? MAX_INSTANCE : MAX_CLASS;
  return strokes.map((stroke, i) => {
    const { stroke_id, region, to_class, from_classes, exclude_classes, limit_box } = stroke;
    const name = `strokes[${i}]`;
    if (to_class < 0 || to_class > highest) {
      throw new AppError("invalid_argument", `${name}.to_class must be 0 to ${highest} for ${slug}, not ${to_class}`);
    }
    const regions = [parseRegion(region, `${name}.region`)];
    if (limit_box) regions.push(parseBox(limit_box, `${name}.limit_box`));
    return { stroke_id, regions, to_class, from_classes, exclude_classes: exclude_classes ?? [] };
  });
}

/**
 * Paints strokes into a label column, all or none. The octree shows them after commit_labels. Waits for memory inside
 * the session's lock, which no run waits for while it holds memory.
 */
export function labelRegion(
  session: CloudSession,
  request: LabelRegionRequest,
  { admission }: Pick<Deps, "admission">,
  job: Job,
): Promise<LabelRegionResponse> {
  return session.edit(job, async (edit) => {
    const { state } = edit;
    const strokes = checkStrokes(request, state);
    const bytes = paintBytes(state, request, strokes);
    return admission.run(job, "Labels", bytes, () => paint(session.id, edit, request, strokes, job));
  });
}

/**
 * Memory to paint strokes: the label column twice while it is widened, masks and rows of one stroke, those of noise, and
 * the history.
 */
function paintBytes(
  state: CloudState,
  { slug, skip_noise }: LabelRegionRequest,
  strokes: readonly CheckedStroke[],
): number {
  const rows = positionsColumn(state).length;
  const highest = Math.max(...strokes.map(({ to_class }) => to_class));
  const before = state.columns.get(extraKey(slug))?.native.bytes ?? rows;
  const after = Math.max(before, rows * (highest > 0xffff ? 4 : highest > 0xff ? 2 : 1));
  const history = strokes.length * (after + rows / 8);
  return before + after + (skip_noise ? 8 : 4) * rows + Math.min(Math.ceil(history), MAX_LABEL_HISTORY_BYTES);
}

async function paint(
  session_id: string,
  edit: Edit,
  { slug, label, skip_noise }: LabelRegionRequest,
  strokes: readonly CheckedStroke[],
  job: Job,
): Promise<LabelRegionResponse> {
  const { state } = edit;
  const hits = await surviving(state, job);
  const { skip, hit_count } = skip_noise ? await withoutNoise(state, hits, job) : hits;
  const noise = noiseWarnings(hits.hit_count - hit_count, [`is given no ${slug}`, `are given no ${slug}`]);
  const before = state.columns.get(extraKey(slug));
  const painted = await job.track(() =>
    native.paintStrokes({
      column: before?.native ?? null,
      positions: positionsColumn(state),
      skip,
      strokes,
      max_history_bytes: MAX_LABEL_HISTORY_BYTES,
    }),
  );
  const column = job.adopt(new ColumnRef(painted.column));
  const undo: UndoStep[] = [];
  const applied = painted.changes.map((change, i) => {
    const { stroke_id, to_class } = strokes[i] as CheckedStroke;
    const rows = adoptRows(change.rows, job);
    const previous = job.adopt(new ColumnRef(change.previous));
    if (rows.count > 0) undo.push({ op: "paint", slug, stroke_id, to_class, rows, previous });
    return { stroke_id, selected_count: change.selected_count, changed_count: rows.count };
  });
  undo.push(...forgetOverflow(applySteps(state.undo, undo), slug, CAPS));
  const extra_dims_meta = [...state.meta.extra_dims_meta, { slug, label }];
  const change: CloudChange = {
    columns: new Map([[extraKey(slug), column]]),
    undo,
    meta: { octree_lacks_labels: true, ...(before ? {} : { extra_dims_meta }) },
  };
  const summary = await summarize(session_id, stateAfter(state, change), slug, job);
  job.checkpoint(); // the last cancel point
  if (undo.length > 0 || !before) await edit.publish(change);
  const warnings = [...noise, ...(summary.warnings ?? [])];
  return { ...summary, ...(warnings.length > 0 ? { warnings } : {}), created_column: !before, applied };
}

export interface LabelReset {
  readonly slug: string;
  /** Stroke ids that the client knows, newest first; null = keep the oldest `edit_count` strokes. */
  readonly undo_after_stroke_ids: readonly string[] | null;
  readonly edit_count: number | null;
}

/** Undoes strokes, newest first. */
export function resetLabelEdits(session: CloudSession, reset: LabelReset, job: Job): Promise<LabelSummary> {
  return session.edit(job, async (edit) => {
    const { state } = edit;
    const { slug, undo_after_stroke_ids: known, edit_count } = reset;
    const strokes = strokesOf(state.undo, slug);
    const count = known ? keptStrokes(state.undo, slug, known) : Math.min(strokes.length, Math.max(0, edit_count ?? 0));
    let column = state.columns.get(extraKey(slug));
    if (column && count < strokes.length) {
      for (const { rows, previous } of strokes.slice(count).reverse()) {
        const from: ColumnRef = column;
        const values = await job.track(() => native.setLabels(from.native, nativeRows(rows), previous.native));
        column = job.adopt(new ColumnRef(values));
      }
    }
    const change: CloudChange =
      column && count < strokes.length
        ? {
            columns: new Map([[extraKey(slug), column]]),
            undo: [{ op: "keep_labels", slug, count }],
            meta: { octree_lacks_labels: true },
          }
        : {};
    const summary = await summarize(session.id, stateAfter(state, change), slug, job);
    job.checkpoint(); // the last cancel point
    if (change.undo) await edit.publish(change);
    return summary;
  });
}

export function labelSummary(session: CloudSession, slug: string, job: Job): Promise<LabelSummary> {
  return session.read(job, (state) => summarize(session.id, state, slug, job));
}

async function summarize(session_id: string, state: CloudState, slug: string, job: Job): Promise<LabelSummary> {
  const { skip, hit_count } = await surviving(state, job);
  const column = optionalExtra(state, slug);
  const { values, counts } = column
    ? await job.track(() => native.classCounts(column, skip))
    : { values: hit_count > 0 ? [0] : [], counts: [hit_count] };
  return {
    session_id,
    slug,
    class_counts: Object.fromEntries(values.map((value, i) => [String(value), counts[i] ?? 0])),
    value_range: [values[0] ?? 0, values.at(-1) ?? 0],
    label_edit_count: strokesOf(state.undo, slug).length,
    ...lossWarnings(state),
  };
}

/** Errors: invalid_argument if the label column to commit does not exist. */
export function checkLabelColumn(state: CloudState, slug: string): void {
  if (state.columns.has(extraKey(slug))) return;
  const available = state.meta.extra_dims_meta.map((extra) => extra.slug).join(", ");
  throw new AppError("invalid_argument", `No label column "${slug}" to commit. Available: [${available}]`);
}

/**
 * Makes the strokes of a column permanent, even if the build fails, and builds the octree that shows them. The summary
 * is computed before the build: a failure after it would hide an octree that exists.
 */
export async function commitLabels(
  session: CloudSession,
  slug: string,
  deps: Deps,
  job: Job,
): Promise<CommitLabelsTail> {
  await session.edit(job, async (edit) => {
    const count = strokesOf(edit.state.undo, slug).length;
    if (count > 0) await edit.publish({ undo: [{ op: "forget_labels", slug, count }] });
  });
  const { label_edit_count: _, warnings: ____, ...summary } = await labelSummary(session, slug, job.quiet());
  const { total_count: __, octree_posed: ___, ...octree } = await rebuildOctree(session, deps, job);
  return { ...octree, ...summary };
}
