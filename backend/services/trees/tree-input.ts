import type { SessionTreesRequest } from "../../../shared/contract/cloud-session/segment-trees.ts";
import type { BulkNumbers, PointList } from "../../../shared/contract/geometry.ts";
import type { TreesRequest } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { compactColumns, transformPositions } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { treePoints } from "../../native/trees.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type Hits, withoutNoise } from "../classify/noise-rows.ts";
import { withoutStructures } from "../classify/structure-rows.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { numbersColumn, pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";

const GROUND_SLUG = "ground_class";

/** Points to look for trees in. The run owns the columns. */
export interface TreeInput {
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = no hit; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  /** Class per row, 1 = ground; null = unknown. */
  readonly ground: NativeColumn | null;
  /** Frame of the positions; null = none. */
  readonly seeds: NativeColumn | null;
}

/** The same with the rows sorted into vegetation and ground. */
export interface SortedTreeInput extends TreeInput {
  /** u8 per row, 0 = vegetation. */
  readonly not_vegetation: NativeColumn;
  /** u8 per row, 0 = ground; null without ground labels. */
  readonly not_ground: NativeColumn | null;
  readonly vegetation_count: number;
  readonly ground_count: number;
  readonly non_finite_count: number;
  /** Along x and y, metres. */
  readonly extent: readonly [number, number];
  /** Typical distance of hits seen from above, ground or not, metres; 0 = unknown. */
  readonly spacing_m: number;
}

export async function sorted(input: TreeInput, job: Job): Promise<SortedTreeInput> {
  const found = await job.track(() => treePoints(input.positions, input.skip, input.ground));
  const not_vegetation = job.adopt(new ColumnRef(found.skip)).native;
  const not_ground = found.not_ground && job.adopt(new ColumnRef(found.not_ground)).native;
  const { vegetation_count, ground_count, non_finite_count, extent, spacing_m } = found;
  return { ...input, not_vegetation, not_ground, vegetation_count, ground_count, non_finite_count, extent, spacing_m };
}

/** The seeds of a request as a column; null for none. */
const seedColumn = (seeds: PointList | null | undefined, job: Job) =>
  seeds && seeds.length > 0 ? job.adopt(pointsColumn(seeds)).native : null;

/** The surviving hits of a session with their ground labels, and how many of them are left out; seeds in its stored frame. */
export async function sessionInput(
  state: CloudState,
  { seed_points, skip_noise, skip_structures }: SessionTreesRequest,
  job: Job,
) {
  const mask = await surviving(state, job);
  const clean = skip_noise ? await withoutNoise(state, mask, job) : mask;
  const { skip, hit_count } = skip_structures ? await withoutStructures(state, clean, job) : clean;
  const input: TreeInput = {
    positions: positionsColumn(state),
    skip,
    hit_count,
    ground: optionalExtra(state, GROUND_SLUG),
    seeds: seedColumn(seed_points, job),
  };
  return {
    mask,
    input,
    noise_count: mask.hit_count - clean.hit_count,
    structure_count: clean.hit_count - hit_count,
  };
}

/** Checks a flat request before it runs. Errors: invalid_argument, not_found. */
export async function checkTreesSource(request: TreesRequest, deps: Deps): Promise<CloudSession | null> {
  if (request.source) {
    sourceTranslation(request.source);
    return sourceSession(request.source, deps);
  }
  if (!request.points) throw new AppError("invalid_argument", "Send `points` or a `source` descriptor.");
  requireOnePerPoint(request.ground_class, request.points.length);
  return null;
}

function requireOnePerPoint(classes: BulkNumbers | null | undefined, points: number): void {
  if (classes && classes.length !== points)
    throw new AppError("invalid_argument", `ground_class has ${classes.length} values for ${points} points`);
}

export function inlineInput(request: TreesRequest, job: Job): TreeInput {
  const positions = job.adopt(pointsColumn(request.points ?? [])).native;
  const ground = request.ground_class ? job.adopt(numbersColumn(request.ground_class)).native : null;
  return { positions, skip: null, hit_count: positions.length, ground, seeds: seedColumn(request.seed_points, job) };
}

/**
 * The hits of a session as source of a flat request, stored frame, with the ground labels of the request or else its own; its
 * seeds are moved there from the frame of the source. Errors: invalid_argument for ground classes of another number.
 */
export async function sourceInput(
  state: CloudState,
  { skip, hit_count }: Hits,
  request: TreesRequest,
  job: Job,
): Promise<TreeInput> {
  const { ground_class, source } = request;
  requireOnePerPoint(ground_class, hit_count);
  const seeds = seedColumn(request.seed_points, job);
  const [tx, ty, tz] = source ? sourceTranslation(source) : [0, 0, 0];
  const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
  const back = [1, 0, 0, -(sx + tx), 0, 1, 0, -(sy + ty), 0, 0, 1, -(sz + tz)];
  const moved = seeds && (await job.track(() => transformPositions(seeds, back)));
  const base = { hit_count, seeds: moved && job.adopt(new ColumnRef(moved)).native };
  const whole = { ...base, positions: positionsColumn(state), skip };
  if (!ground_class) return { ...whole, ground: optionalExtra(state, GROUND_SLUG) };
  if (!skip) return { ...whole, ground: job.adopt(numbersColumn(ground_class)).native };
  // One row per hit, as the classes have.
  const [hits] = await job.track(() => compactColumns([positionsColumn(state)], skip));
  if (!hits) throw new AppError("internal", "compacting lost the positions");
  const positions = job.adopt(new ColumnRef(hits)).native;
  return { ...base, positions, skip: null, ground: job.adopt(numbersColumn(ground_class)).native };
}
