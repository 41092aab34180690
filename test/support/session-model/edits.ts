import { isLegal, type Matrix, moveCloud, multiply, storedMatrix } from "./affine.ts";
import {
  built,
  childOf,
  counts,
  deletedRows,
  editable,
  gather,
  hasNormals,
  hitCount,
  isHit,
  type LabelStep,
  MISS,
  type ModelCloud,
  NORMALS,
  rint,
  rowCount,
  stale,
  survivors,
  undoBoundary,
  type Vec3,
} from "./cloud.ts";
import { inRegion, type ModelRegion } from "./region.ts";
import { filterColumn, type ModelSelection, selected } from "./selection.ts";

/** What an edit of one session does: the answer's status, the session afterwards, the sessions that are made. */
export interface Outcome {
  readonly status: number;
  /** Keys of the answer with the values they must have. */
  readonly answer: Readonly<Record<string, unknown>>;
  readonly after: ModelCloud;
  readonly children: readonly ModelCloud[];
}

const same = (cloud: ModelCloud, answer: object = {}): Outcome => ({
  status: 200,
  answer: { ...answer },
  after: cloud,
  children: [],
});
export const refusal = (cloud: ModelCloud, status = 400): Outcome => ({
  status,
  answer: {},
  after: cloud,
  children: [],
});
const edited = (after: ModelCloud, answer: object = {}, children: readonly ModelCloud[] = []): Outcome => ({
  status: 200,
  answer: { ...answer },
  after,
  children,
});

const isBad = (region: ModelRegion): boolean =>
  region.kind === "box" && region.min.some((low, axis) => low > (region.max[axis] ?? 0));
const markNormals = (cloud: ModelCloud): ModelCloud => (hasNormals(cloud) ? { ...cloud, normalsStale: true } : cloud);

export function deleteRegion(cloud: ModelCloud, region: ModelRegion, maxSteps: number): Outcome {
  if (isBad(region)) return refusal(cloud);
  const newly = editable(cloud).filter((row) => inRegion(region, cloud.positions[row] as Vec3));
  const steps = [...cloud.steps, newly];
  const folded = steps.slice(0, Math.max(0, steps.length - maxSteps));
  const marked = newly.length > 0 ? markNormals(cloud) : cloud;
  const after = stale({
    ...marked,
    base: new Set([...cloud.base, ...folded.flat()]),
    steps: steps.slice(folded.length),
  });
  return edited(after, { ...counts(after), edit_count: after.steps.length, backfilled_misses_stale: false });
}

export function resetEdits(cloud: ModelCloud, keep: number | null): Outcome {
  const after = stale({ ...cloud, steps: cloud.steps.slice(0, Math.max(0, keep ?? 0)) });
  return edited(after, counts(after));
}

export interface ModelStroke {
  readonly stroke_id: string;
  readonly region: ModelRegion;
  readonly to_class: number;
  readonly from_classes: readonly number[] | null;
  readonly exclude_classes: readonly number[] | null;
  readonly limit_box: ModelRegion | null;
}

export function summary(cloud: ModelCloud, slug: string) {
  const column = cloud.extras.get(slug);
  const values = editable(cloud).map((row) => rint(column?.[row] ?? 0)); // classes: a fraction belongs to one
  const class_counts: Record<string, number> = {};
  for (const value of values) class_counts[`${value}`] = (class_counts[`${value}`] ?? 0) + 1;
  const value_range = values.length === 0 ? [0, 0] : [Math.min(...values), Math.max(...values)];
  return { slug, class_counts, value_range, label_edit_count: cloud.labels.get(slug)?.length ?? 0 };
}

export function labelRegion(cloud: ModelCloud, slug: string, strokes: readonly ModelStroke[]): Outcome {
  const top = slug.endsWith("_instance") ? 2 ** 24 : 255;
  const wrong = strokes.some(
    ({ region, limit_box, to_class }) =>
      isBad(region) || (limit_box && (limit_box.kind !== "box" || isBad(limit_box))) || to_class < 0 || to_class > top,
  );
  if (wrong || strokes.length === 0) return refusal(cloud);
  const column = [...(cloud.extras.get(slug) ?? cloud.positions.map(() => 0))];
  const history: LabelStep[] = [...(cloud.labels.get(slug) ?? [])];
  const applied = strokes.map((stroke) => {
    const inside = editable(cloud).filter((row) => {
      const point = cloud.positions[row] as Vec3;
      return inRegion(stroke.region, point) && (!stroke.limit_box || inRegion(stroke.limit_box, point));
    });
    const painted = inside.filter((row) => {
      const now = rint(column[row] ?? 0);
      const gated = stroke.from_classes && !stroke.from_classes.includes(now);
      return !gated && !stroke.exclude_classes?.includes(now) && column[row] !== stroke.to_class;
    });
    const before = painted.map((row) => [row, column[row] ?? 0] as const);
    for (const row of painted) column[row] = stroke.to_class;
    if (before.length > 0) history.push({ stroke_id: stroke.stroke_id, before });
    return { stroke_id: stroke.stroke_id, selected_count: inside.length, changed_count: before.length };
  });
  const after: ModelCloud = {
    ...cloud,
    extras: new Map([...cloud.extras, [slug, column]]),
    labels: new Map([...cloud.labels, [slug, history]]),
  };
  return edited(after, { created_column: !cloud.extras.has(slug), applied, ...summary(after, slug) });
}

export interface LabelReset {
  readonly ids: readonly string[] | null;
  readonly count: number | null;
}

export function resetLabels(cloud: ModelCloud, slug: string, { ids, count }: LabelReset): Outcome {
  const history = cloud.labels.get(slug) ?? [];
  let keep = Math.min(history.length, Math.max(0, count ?? 0));
  if (ids) {
    const known = ids.find((id) => history.some(({ stroke_id }) => stroke_id === id));
    keep = history.findIndex(({ stroke_id }) => stroke_id === known) + 1;
  }
  const column = [...(cloud.extras.get(slug) ?? [])];
  for (const { before } of history.slice(keep).reverse()) for (const [row, value] of before) column[row] = value;
  const after: ModelCloud = {
    ...cloud,
    extras: cloud.extras.has(slug) ? new Map([...cloud.extras, [slug, column]]) : cloud.extras,
    labels: new Map([...cloud.labels, [slug, history.slice(0, keep)]]),
  };
  return edited(after, summary(after, slug));
}

export function commitLabels(cloud: ModelCloud, slug: string): Outcome {
  if (!cloud.extras.has(slug)) return refusal(cloud);
  const labels = new Map(cloud.labels);
  labels.delete(slug);
  const after = built({ ...cloud, labels });
  const { label_edit_count: _, ...rest } = summary(after, slug);
  return edited(after, rest);
}

export function bake(cloud: ModelCloud, compact: boolean): Outcome {
  if (editable(cloud).length === 0) return same(cloud, { point_count: 0, baked: false });
  const pending = deletedRows(cloud).size > 0;
  if (cloud.current && !cloud.pose && (!pending || !compact)) {
    const { pending_deleted_count } = counts(cloud);
    return same(cloud, { baked: false, deleted_history_len: cloud.steps.length, pending_deleted_count });
  }
  const lostHits = cloud.lostHits + hitCount(cloud) - editable(cloud).length;
  const after = compact ? built({ ...gather(cloud, survivors(cloud)), lostHits }) : built(undoBoundary(cloud));
  return edited(after, { baked: true, deleted_history_len: 0, pending_deleted_count: 0 });
}

/** Whether a selection is refused: nothing asked for, a bad region, an unknown column. */
function badSelection(cloud: ModelCloud, { region, scalar_filters }: ModelSelection): boolean {
  if (!region && !(scalar_filters && scalar_filters.length > 0)) return true;
  if (region && isBad(region)) return true;
  return (scalar_filters ?? []).some(({ slug }) => filterColumn(cloud, slug) === undefined);
}

export function filter(cloud: ModelCloud, selection: ModelSelection, rebuild: boolean): Outcome {
  if (badSelection(cloud, selection)) return refusal(cloud);
  const kept = new Set(selected(cloud, selection));
  const { remaining_count, total_count } = counts(cloud);
  if (kept.size === 0) return same(cloud, { point_count: 0, rebuilt: false, remaining_count, total_count });
  const excluded = editable(cloud).filter((row) => !kept.has(row));
  const committed = stale(undoBoundary(excluded.length > 0 ? markNormals(cloud) : cloud, excluded));
  if (rebuild) return edited(built(committed), { rebuilt: true });
  return edited(committed, { rebuilt: false, ...counts(committed) });
}

export function split(cloud: ModelCloud, selection: ModelSelection): Outcome {
  if (badSelection(cloud, selection)) return refusal(cloud);
  const kept = new Set(selected(cloud, selection));
  const moved = editable(cloud).filter((row) => !kept.has(row));
  if (moved.length === 0) {
    if (kept.size === 0)
      return same(cloud, { leftover: null, kept: { point_count: 0, cache_id: null, cache_dir: null } });
    return edited(built(undoBoundary(cloud)), { leftover: null });
  }
  const rest = stale(undoBoundary(markNormals(cloud), moved));
  const child = childOf(cloud, moved);
  if (kept.size === 0) return edited(rest, { kept: { point_count: 0, cache_id: null, cache_dir: null } }, [child]);
  return edited(built(rest), {}, [child]);
}

export function extract(cloud: ModelCloud, selection: ModelSelection): Outcome {
  if (badSelection(cloud, selection)) return refusal(cloud);
  const taken = new Set(selected(cloud, selection));
  if (taken.size === 0) return same(cloud, { extracted: null });
  const rows = survivors(cloud).filter((row) => taken.has(row) || !isHit(cloud, row));
  return edited(cloud, {}, [childOf(cloud, rows)]);
}

export interface ColumnExtract {
  readonly slug: string;
  readonly exclude_values: readonly number[] | null;
  readonly rebuild_parent: boolean;
  readonly include_misses: boolean;
}

export function extractByColumn(cloud: ModelCloud, wish: ColumnExtract): Outcome {
  const column = cloud.extras.get(wish.slug);
  if (!column) return refusal(cloud);
  const excluded = wish.exclude_values ?? [0];
  const hits = editable(cloud);
  const misses = wish.include_misses ? survivors(cloud).filter((row) => !isHit(cloud, row)) : [];
  const values = new Set(hits.map((row) => rint(column[row] ?? 0)).filter(Number.isFinite));
  const groups = [...values].filter((value) => !excluded.includes(value)).sort((a, b) => a - b);
  const children = groups.map((value) => {
    const taken = hits.filter((row) => rint(column[row] ?? 0) === value);
    return childOf(cloud, [...taken, ...misses]); // misses behind the points
  });
  const after = wish.rebuild_parent ? built(cloud) : cloud;
  return edited(after, { children: groups.map((value) => ({ value })) }, children);
}

export function duplicate(cloud: ModelCloud): Outcome {
  const rows = survivors(cloud);
  if (rows.length === 0) return refusal(cloud);
  return edited(cloud, {}, [childOf(cloud, rows)]);
}

export function rebuildOctree(cloud: ModelCloud): Outcome {
  return edited(built(cloud), { total_count: rowCount(cloud), octree_posed: false });
}

export function transform(cloud: ModelCloud, matrix: Matrix, mode: "rebuild" | "pose"): Outcome {
  if (!isLegal(matrix)) return refusal(cloud);
  const moved = undoBoundary(moveCloud(cloud, matrix));
  const { current } = cloud;
  if (mode === "pose" && current) {
    const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    const pose = multiply(storedMatrix(matrix, cloud.shift), cloud.pose ?? identity);
    return edited({ ...moved, pose }, { octree_posed: true, total_count: rowCount(cloud) });
  }
  const answer = { octree_posed: false, total_count: rowCount(cloud) };
  return edited(built(moved), answer); // an octree that is moved along loses nothing
}

/** Stored intensities that were stretched to 16 bits from different ranges, in one range if that is at most 16 times the narrowest. */
function inOneRange(parts: readonly ModelCloud[]): ModelCloud[] {
  const own = parts.flatMap(({ intensity, units }) => (intensity ? [units] : []));
  const [first = null] = own;
  if (own.every((units) => units?.divisor === first?.divisor && units?.offset === first?.offset))
    return parts.map((part) => ({ ...part, units: first }));
  const known = own.flatMap((units) => (units ? [units] : []));
  const low = Math.min(...known.map(({ offset }) => offset));
  const high = Math.max(...known.map(({ divisor, offset }) => offset + 65_535 / divisor));
  const narrowest = Math.min(...known.map(({ divisor, offset }) => offset + 65_535 / divisor - offset));
  if (known.length < own.length || high - low > 16 * narrowest) return parts.map((part) => ({ ...part, units: null }));
  const divisor = 65_535 / (high - low);
  return parts.map((part) => {
    const { intensity, units } = part;
    if (!intensity || !units) return { ...part, units: { divisor, offset: low } };
    const [factor, added] = [divisor / units.divisor, (units.offset - low) * divisor];
    const scaled = intensity.map((value) => Math.min(65_535, Math.max(0, rint(value * factor + added))));
    return { ...part, intensity: scaled, units: { divisor, offset: low } };
  });
}

/** Several sessions into a new one, in the frame of the first. */
export function merge(clouds: readonly ModelCloud[]): { status: number; merged: ModelCloud | null } {
  const parts = inOneRange(clouds.map((cloud) => gather(cloud, survivors(cloud))));
  const [first] = parts;
  if (!first || parts.length < 2 || parts.every((part) => rowCount(part) === 0)) return { status: 400, merged: null };
  const anyExact = parts.every(({ shift }) => sameShift(shift, first.shift));
  const move = (point: Vec3, shift: Vec3 | null): Vec3 => {
    if (sameShift(shift, first.shift)) return point;
    const [a, b] = [shift ?? [0, 0, 0], first.shift ?? [0, 0, 0]];
    return [point[0] + a[0] - b[0], point[1] + a[1] - b[1], point[2] + a[2] - b[2]];
  };
  const filled = <T>(read: (part: ModelCloud) => readonly T[] | null | undefined, missing: T): T[] | null =>
    parts.some((part) => read(part)) ? parts.flatMap((part) => read(part) ?? part.positions.map(() => missing)) : null;
  const slugs = [...new Set(parts.flatMap((part) => [...part.extras.keys()]))].filter(
    (slug) => !(NORMALS as readonly string[]).includes(slug) || parts.every(hasNormals),
  );
  const merged: ModelCloud = {
    ...first,
    positions: parts.flatMap((part) => part.positions.map((point) => move(point, part.shift))),
    colors: filled((part) => part.colors, [65_535, 65_535, 65_535] as const),
    intensity: filled((part) => part.intensity, 0),
    timestamps: filled((part) => part.timestamps, 0),
    origins: filled((part) => part.origins?.map((point) => move(point, part.shift)), [0, 0, 0] as const),
    extras: new Map(slugs.map((slug) => [slug, filled((part) => part.extras.get(slug), 0) ?? []])),
    lostHits: clouds.reduce((sum, cloud) => sum + cloud.lostHits + hitCount(cloud) - editable(cloud).length, 0),
    normalsStale: undefined,
    inexact: new Set([...parts.flatMap((part) => [...part.inexact]), ...(anyExact ? [] : ["positions", "origins"])]),
  };
  return { status: 200, merged: built(merged) };
}
export const hasMisses = (cloud: ModelCloud): boolean => (cloud.extras.get(MISS) ?? []).some((flag) => flag !== 0);
const sameShift = (a: Vec3 | null, b: Vec3 | null): boolean =>
  [0, 1, 2].every((axis) => (a?.[axis] ?? 0) === (b?.[axis] ?? 0));
