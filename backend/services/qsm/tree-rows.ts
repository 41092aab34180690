import type { TreeQsmRequest } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { type ClassCounts, categoricalSplit, classCounts, selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { flatTrees } from "../../native/flat-trees.ts";
import type { ModelRows } from "../../native/qsm.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseWarnings } from "../classify/noise-rows.ts";
import { unlabelledWood } from "../classify/wood-gaps.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { scanNumbers } from "../octree/scan-column.ts";
import { unitIsStated } from "../run/unstated-units.ts";
import { coarseWarnings } from "../trees/coarse-coordinates.ts";
import { type CutTrees, cutTreesOf } from "../trees/cut-trees.ts";
import { treeHits } from "../trees/tree-noise.ts";

const WOOD = 1;
const NOISE_EFFECT = ["belongs to no model", "belong to no model"] as const;
const EFFECT = "the models leave them out. Run Segment Wood again, or use wood_only false.";

/** The trees of a session and the rows of each. The run owns the columns. */
export interface BatchTrees {
  readonly trees: readonly { readonly id: number; readonly first: number; readonly count: number }[];
  /** What the trees share. */
  readonly rows: Omit<ModelRows, "first" | "count">;
  /** The wood filter was applied. */
  readonly wood_only: boolean;
  /** False if nothing says that the coordinates are metres. */
  readonly unit_is_stated: boolean;
  /** By the border of the cloud, leaves and all. */
  readonly cut: CutTrees;
  /** Those on flat surfaces, as walls are. */
  readonly flat: ReadonlySet<number>;
  readonly warnings: readonly string[];
}

/** Errors: invalid_argument without trees, or without one of those asked for. */
export async function batchTrees(state: CloudState, request: TreeQsmRequest, job: Job): Promise<BatchTrees> {
  const instances = optionalExtra(state, "tree_instance");
  if (!instances)
    throw new AppError("invalid_argument", "The cloud has no column tree_instance: run Segment Trees first.");
  const positions = positionsColumn(state);
  const { skip, deleted, noise_count } = await treeHits(state, request.skip_noise, job);
  const sizes = await job.track(() => classCounts(instances, deleted));
  const present = sizes.values.filter((id) => id > 0);
  const asked = request.tree_ids && new Set(request.tree_ids);
  const ids = asked ? present.filter((id) => asked.has(id)) : present;
  if (ids.length === 0)
    throw new AppError(
      "invalid_argument",
      asked ? "None of tree_ids is a tree of this cloud." : "No point has a tree: all values of tree_instance are 0.",
    );
  const cut = await cutTreesOf(positions, skip, instances, job);
  const flat = new Set((await job.track(() => flatTrees(positions, skip, instances))).flat);
  const clean = noise_count > 0 ? await job.track(() => classCounts(instances, skip)) : sizes;
  const noise = pointsOf(ids, sizes) - pointsOf(ids, clean);
  const wood = request.wood_only ? optionalExtra(state, "wood_class") : null;
  const left = wood ? await notWood(positions, wood, skip, job) : skip;
  const groups = await job.track(() => categoricalSplit(instances, left, [0]));
  const parts = new Map<number, { first: number; count: number }>();
  let first = 0;
  for (const [i, id] of groups.values.entries()) {
    const count = groups.counts[i] ?? 0;
    parts.set(id, { first, count });
    first += count;
  }
  const order = job.adopt(new ColumnRef(groups.order)).native;
  const trees = [{ column: instances, min: 0.5, max: Infinity, values: [] }];
  const lost = asked ? asked.size - ids.length : 0;
  return {
    trees: ids.map((id) => ({ id, ...(parts.get(id) ?? { first: 0, count: 0 }) })),
    rows: {
      positions,
      skip: null,
      order,
      offset: state.meta.world_shift ?? [0, 0, 0],
      max_points: request.max_points_per_tree,
      scan_index: scanNumbers(state)?.values ?? null,
      time_s: fixedColumn(state, "timestamps"),
      align_scans: request.align_scans,
      leafless: wood !== null,
      height_above_ground: optionalExtra(state, "height_above_ground"),
    },
    wood_only: wood !== null,
    unit_is_stated: unitIsStated(state.meta),
    cut,
    flat,
    warnings: [
      ...(request.wood_only && !wood
        ? ["No wood labels: the cloud has no column wood_class, all points are used."]
        : []),
      ...noiseWarnings(noise, NOISE_EFFECT),
      ...(await coarseWarnings(positions, left, job)),
      ...(wood ? await unlabelledWood(state, { trees, wood, skip }, EFFECT, job) : []),
      ...(lost > 0 ? [`${lost} of tree_ids ${lost === 1 ? "is no tree" : "are no trees"} of this cloud.`] : []),
    ],
  };
}

function pointsOf(ids: readonly number[], { values, counts }: ClassCounts): number {
  const wanted = new Set(ids);
  return counts.reduce((sum, count, i) => (wanted.has(values[i] ?? 0) ? sum + count : sum), 0);
}

/** Rows that are left out: those of `skip`, and all that are not wood. */
async function notWood(positions: NativeColumn, wood: NativeColumn, skip: NativeColumn | null, job: Job) {
  const filter = { column: wood, min: 0, max: 0, values: [WOOD] };
  const is_wood = job.adopt(
    new ColumnRef(await job.track(() => selectRows({ positions, regions: [], filters: [filter] }))),
  ).native;
  const terms = [{ mask: is_wood, invert: true }, ...(skip ? [{ mask: skip, invert: false }] : [])];
  return job.adopt(new ColumnRef((await job.track(() => combineMasks(terms, "or"))).mask)).native;
}
