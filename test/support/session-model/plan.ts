import type { Matrix } from "./affine.ts";
import { type ModelCloud, rowCount, type Vec3 } from "./cloud.ts";
import type { Command, FilterWish, RegionWish, SelectionWish, StrokeWish } from "./commands.ts";
import * as edits from "./edits.ts";
import { camera, isClear, type ModelRegion, type ScreenRegion } from "./region.ts";
import { filterColumn, type ModelFilter, type ModelSelection } from "./selection.ts";

/** The sessions that are open, by id, oldest first. */
export type World = ReadonlyMap<string, ModelCloud>;

/** One request, and what the model says of it. */
export interface Plan {
  readonly op: Command["op"];
  readonly method: "POST" | "GET" | "DELETE";
  readonly url: string;
  readonly payload: object | undefined;
  readonly status: number;
  /** Key of the answer -> value it must have. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** Session the request is about, and what becomes of it; null = closed. */
  readonly id: string;
  readonly after: ModelCloud | null;
  readonly children: readonly ModelCloud[];
}

export interface PlanLimits {
  readonly maxSteps: number;
  /** Rows of a merge at most; more is left out. */
  readonly maxRows: number;
  /** Only motions that round nothing on coordinates of the lattice. */
  readonly exactMotions?: boolean;
}

export const LABEL_SLUGS = ["manual_class", "cls", "tree_instance", "frac", "ghost_instance"];
const FILTER_SLUGS = [
  ...["cls", "frac", "spread", "manual_class", "is_miss", "tree_instance", "distance", "nx", "timestamp", "gps-time"],
  "intensity",
];
const EXTRACT_SLUGS = ["cls", "manual_class", "is_miss", "frac"];

const modulo = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

function corner(cloud: ModelCloud): Vec3 {
  const low = (axis: 0 | 1 | 2) => {
    const least = cloud.positions.reduce((min, point) => Math.min(min, point[axis]), Number.POSITIVE_INFINITY);
    return Number.isFinite(least) ? Math.floor(least * 2) / 2 : 0;
  };
  return [low(0), low(1), low(2)];
}

function regionOf(cloud: ModelCloud, wish: RegionWish): ModelRegion {
  const everything: ModelRegion = { kind: "box", min: [-1e9, -1e9, -1e9], max: [1e9, 1e9, 1e9] };
  if (wish.kind === "all" || rowCount(cloud) === 0) return everything;
  if (wish.kind === "crossed") return { kind: "box", min: [0, 0, 1], max: [1, 1, 0.5] };
  const from = corner(cloud);
  if (wish.kind === "lattice") {
    const min = from.map((low, axis) => low + (wish.min[axis] ?? 0) / 2);
    return { kind: "box", min, max: min.map((low, axis) => low + (wish.size[axis] ?? 0) / 2), invert: wish.invert };
  }
  if (wish.kind === "rows") {
    const [a, b] = [modulo(cloud.positions, wish.a), modulo(cloud.positions, wish.b)];
    const ends = (choose: (...values: number[]) => number) => a.map((value, axis) => choose(value, b[axis] ?? 0));
    return { kind: "box", min: ends(Math.min), max: ends(Math.max), invert: wish.invert };
  }
  const points = (nudge: number) => wish.points.map(([x, y]) => [8 * x + nudge, 8 * y - nudge] as const);
  const shape = (nudge: number): ScreenRegion => ({
    ...camera(wish.camera, from),
    ...(wish.kind === "polygon"
      ? { kind: "polygon", points: points(nudge) }
      : { kind: "squares_union", centers: points(nudge), half_sizes: wish.points.map(([x]) => 4 * (1 + (x % 4))) }),
    invert: wish.invert,
  });
  return [0, 0.37, 1.1, 2.3].map(shape).find((region) => isClear(region, cloud.positions)) ?? everything;
}

function filterOf(cloud: ModelCloud, { slug: which, kind, a, b }: FilterWish): ModelFilter {
  const known = FILTER_SLUGS.filter((slug) => filterColumn(cloud, slug));
  const slug = which % 12 === 0 || known.length === 0 ? modulo(FILTER_SLUGS, which) : modulo(known, which);
  const column = filterColumn(cloud, slug)?.filter(Number.isFinite) ?? [];
  const [low, high] = column.length === 0 ? [0, 1] : [modulo(column, a), modulo(column, b)].sort((p, q) => p - q);
  if (kind === "from") return { slug, min: low ?? 0 };
  if (kind === "to") return { slug, max: high ?? 0 };
  if (kind === "values") return { slug, values: [Math.round(low ?? 0), Math.round(high ?? 0) + 0, 0.5] };
  return { slug, min: low ?? 0, max: high ?? 0 };
}

const selectionOf = (cloud: ModelCloud, { region, filters }: SelectionWish): ModelSelection => ({
  region: region && regionOf(cloud, region),
  scalar_filters: filters?.map((wish) => filterOf(cloud, wish)) ?? null,
});

function strokeOf(cloud: ModelCloud, { region, to, from, exclude, limit }: StrokeWish, stroke_id: string) {
  return {
    stroke_id,
    region: regionOf(cloud, region),
    to_class: to,
    from_classes: from,
    exclude_classes: exclude,
    limit_box: limit && regionOf(cloud, limit),
  };
}

/** Of the legal motions: steps of half metres, a quarter turn, halving, doubling, none. */
const EXACT = [0, 2, 5, 6, 8];
/** Motions in the world frame, about the origin of the stored frame. */
function motionOf(motion: number, amount: number, [x, y, z]: Vec3, exact = false): Matrix {
  const about = (m: readonly number[]): Matrix => {
    const [a, b, c] = [0, 1, 2].map((r) => {
      const at = (k: number) => m[4 * r + k] ?? 0;
      return [x, y, z].map((value, k) => at(k) * value).reduce((sum, value) => sum + value, 0);
    }) as [number, number, number];
    const out = [...m];
    out[3] = (out[3] ?? 0) + x - a;
    out[7] = (out[7] ?? 0) + y - b;
    out[11] = (out[11] ?? 0) + z - c;
    return out;
  };
  const angle = (amount % 360) * (Math.PI / 180);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const step = ((amount % 17) - 8) / 2;
  const legal: Matrix[] = [
    [1, 0, 0, step, 0, 1, 0, -step, 0, 0, 1, step / 2, 0, 0, 0, 1],
    [1, 0, 0, amount / 1000, 0, 1, 0, 0.1, 0, 0, 1, -amount / 3333, 0, 0, 0, 1],
    [0, -1, 0, step, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    about([cos, -sin, 0, 0.5, sin, cos, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
    about([1, 0, 0, 0, 0, cos, -sin, 0, 0, sin, cos, 1, 0, 0, 0, 1]),
    about([0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1]),
    about([2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1]),
    about([1, 0.25, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
  ];
  const illegal: Matrix[] = [
    [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0.01, 1],
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    [1, 0, 0, 0],
  ];
  if (motion % 8 === 0) return modulo(illegal, Math.floor(motion / 8));
  return modulo(exact ? EXACT.map((i) => legal[i] as Matrix) : legal, Math.floor(motion / 8));
}

/** The request of a command over the sessions of `world`; undefined where it makes no sense. `turn` names strokes. */
export function planOf(world: World, command: Command, turn: number, limits: PlanLimits): Plan | undefined {
  const ids = [...world.keys()];
  if (ids.length === 0) return undefined;
  const id = modulo(ids, command.on);
  const cloud = world.get(id) as ModelCloud;
  const plan = (
    path: string,
    payload: object | undefined,
    { status, answer, after, children }: edits.Outcome,
  ): Plan => ({
    op: command.op,
    method: "POST",
    url: `/api/cloud/session/${id}/${path}`,
    payload,
    status,
    answer: status === 200 && command.op !== "merge" ? { session_id: id, ...answer } : answer,
    id,
    after,
    children,
  });
  switch (command.op) {
    case "delete": {
      const region = regionOf(cloud, command.region);
      return plan("delete_region", { region }, edits.deleteRegion(cloud, region, limits.maxSteps));
    }
    case "reset":
      return plan("reset_edits", { edit_count: command.keep }, edits.resetEdits(cloud, command.keep));
    case "label": {
      const slug = modulo(LABEL_SLUGS, command.slug);
      const strokes = command.strokes.map((wish, i) => strokeOf(cloud, wish, `stroke ${turn}.${i}`));
      return plan("label_region", { slug, strokes, label: slug }, edits.labelRegion(cloud, slug, strokes));
    }
    case "resetLabels": {
      const slug = modulo(LABEL_SLUGS, command.slug);
      const history = (cloud.labels.get(slug) ?? []).map(({ stroke_id }) => stroke_id);
      const held = ["never recorded", ...history.slice(0, command.keep).reverse()];
      const reset = {
        ids: command.by === "ids" ? held : null,
        count: command.by === "count" ? command.keep - 1 : null,
      };
      const payload = { slug, undo_after_stroke_ids: reset.ids, edit_count: reset.count };
      return plan("reset_label_edits", payload, edits.resetLabels(cloud, slug, reset));
    }
    case "commitLabels": {
      const slug = modulo(LABEL_SLUGS, command.slug);
      return plan("commit_labels", { slug }, edits.commitLabels(cloud, slug));
    }
    case "summary": {
      const slug = modulo(LABEL_SLUGS, command.slug);
      const outcome = { status: 200, answer: edits.summary(cloud, slug), after: cloud, children: [] };
      return { ...plan(`label_summary?slug=${slug}`, undefined, outcome), method: "GET" };
    }
    case "bake":
      return plan(`bake?compact=${command.compact}`, {}, edits.bake(cloud, command.compact));
    case "filter": {
      const selection = selectionOf(cloud, command.selection);
      const { rebuild } = command;
      return plan("filter", { ...selection, rebuild }, edits.filter(cloud, selection, rebuild));
    }
    case "split": {
      const selection = selectionOf(cloud, command.selection);
      return plan("split", selection, edits.split(cloud, selection));
    }
    case "extract": {
      const selection = selectionOf(cloud, command.selection);
      return plan("extract", selection, edits.extract(cloud, selection));
    }
    case "extractByColumn": {
      const wish = {
        slug: modulo(EXTRACT_SLUGS, command.slug),
        exclude_values: command.exclude,
        rebuild_parent: command.parent,
        include_misses: command.misses,
      };
      return plan("extract_by_column", wish, edits.extractByColumn(cloud, wish));
    }
    case "duplicate":
      return plan("duplicate", undefined, edits.duplicate(cloud));
    case "rebuild":
      return plan("rebuild_octree", undefined, edits.rebuildOctree(cloud));
    case "transform": {
      const matrix = motionOf(command.motion, command.amount, cloud.shift ?? [0, 0, 0], limits.exactMotions);
      const octree_mode = command.pose ? "pose" : "rebuild";
      return plan("transform", { matrix, octree_mode }, edits.transform(cloud, matrix, octree_mode));
    }
    case "merge": {
      const session_ids = [id, ...command.others.map((other) => modulo(ids, other))];
      const clouds = [...new Set(session_ids)].map((key) => world.get(key) as ModelCloud);
      if (clouds.reduce((sum, part) => sum + rowCount(part), 0) > limits.maxRows) return undefined;
      const { status, merged } = edits.merge(clouds);
      const children = merged ? [merged] : [];
      const outcome = { status, answer: {}, after: cloud, children };
      return { ...plan("merge", { session_ids }, outcome), url: "/api/cloud/session/merge" };
    }
    case "close":
      return {
        ...plan("", undefined, { status: 200, answer: { deleted: true }, after: cloud, children: [] }),
        method: "DELETE",
        url: `/api/cloud/session/${id}`,
        after: null,
      };
    case "unknown": {
      const region = { kind: "box", min: [0, 0, 0], max: [1, 1, 1] };
      const url = "/api/cloud/session/ffffffff/delete_region";
      return { ...plan("", { region }, edits.refusal(cloud, 404)), url };
    }
    case "spill":
    case "restart":
      return undefined; // no requests
  }
}
