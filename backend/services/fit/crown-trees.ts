import type { CrownRequest } from "../../../shared/contract/fit-crown.ts";
import type { Job } from "../../jobs/job.ts";
import { categoricalSplit } from "../../native/cloud/edit.ts";
import * as native from "../../native/fit.ts";
import { flatTrees } from "../../native/flat-trees.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { unlabelledWood } from "../classify/wood-gaps.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { sourceStride, sourceTranslation } from "../run/points.ts";
import { cutTreesOf, cutWarnings } from "../trees/cut-trees.ts";
import { flatWarnings } from "../trees/no-trees.ts";

const CUT_EFFECT = "Its crown is that of the part within, and so are volume, extents and offset.";
const CUTS_EFFECT = "Their crowns are those of the parts within, and so are volumes, extents and offsets.";
const EFFECT = "the crowns leave them out. Run Segment Wood again, or use use_leaf_only false.";

/** Trees of a session, and the points of each. */
export interface CrownTrees {
  /** Part of the points of each tree, by its number; 0 = the whole cloud. */
  readonly parts: ReadonlyMap<number, { readonly first: number; readonly count: number }>;
  /** What the trees share. */
  readonly rows: Omit<native.TreeRows, "first" | "count">;
  /** From the stored frame to true world coordinates and the translation of the source, metres. */
  readonly offset: Triple;
  readonly warnings: readonly string[];
}

/** The surviving hits of a session, ordered by tree. The run owns the columns. */
export async function crownTrees(state: CloudState, request: CrownRequest, job: Job): Promise<CrownTrees> {
  const { source, use_leaf_only } = request;
  const positions = positionsColumn(state);
  const hits = await surviving(state, job);
  const { skip: misses, hit_count } = hits;
  const stride = sourceStride(hit_count, source.max_points);
  const thin = () => native.thinRows(positions.length, misses, stride);
  const skip = stride > 1 ? job.adopt(new ColumnRef(await job.track(thin))).native : misses;
  const instances = optionalExtra(state, "tree_instance");
  const ground_class = optionalExtra(state, "ground_class");
  const wood_class = optionalExtra(state, "wood_class");
  const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
  const [tx, ty, tz] = sourceTranslation(source);
  const rows = { positions, skip, order: null, ground_class, wood_class, leaf_only: use_leaf_only };
  const ids = [...new Set(request.tree_instance_ids ?? [])];
  const split = ids.length > 0 && instances ? await partsOf(instances, skip, ids, job) : null;
  const cut = await cutTreesOf(positions, misses, split && instances, job);
  const flat = new Set(split && instances ? (await job.track(() => flatTrees(positions, misses, instances))).flat : []);
  const parts = split ? ids.flatMap((id) => cut.get(id) ?? []) : [...cut.values()];
  const trees = split && instances ? [{ column: instances, min: 0, max: 0, values: ids }] : [];
  return {
    parts: split?.parts ?? new Map([[0, { first: 0, count: Math.ceil(hit_count / stride) }]]),
    rows: { ...rows, order: split?.order ?? null },
    offset: [sx + tx, sy + ty, sz + tz],
    warnings: [
      ...(split ? [] : await noiseTakesPart(state, hits, job)),
      ...cutWarnings(parts, split ? ids.length : 1, parts.length === 1 ? CUT_EFFECT : CUTS_EFFECT),
      ...flatWarnings(
        ids.filter((id) => flat.has(id)),
        ids.length,
        "Their crowns are none.",
      ),
      ...missingLabels(request, { instances, ground_class, wood_class }),
      ...(use_leaf_only && wood_class
        ? await unlabelledWood(state, { trees, wood: wood_class, skip }, EFFECT, job)
        : []),
    ],
  };
}

type Column = NonNullable<ReturnType<typeof optionalExtra>>;

async function partsOf(instances: Column, skip: Column | null, ids: readonly number[], job: Job) {
  const groups = await job.track(() => categoricalSplit(instances, skip, [0]));
  const order = job.adopt(new ColumnRef(groups.order)).native;
  const found = new Map<number, { first: number; count: number }>();
  let first = 0;
  for (const [i, value] of groups.values.entries()) {
    const count = groups.counts[i] ?? 0;
    found.set(value, { first, count });
    first += count;
  }
  return { order, parts: new Map(ids.map((id) => [id, found.get(id) ?? { first: 0, count: 0 }])) };
}

interface Labels {
  readonly instances: Column | null;
  readonly ground_class: Column | null;
  readonly wood_class: Column | null;
}

/** Options that need labels which the session does not have. */
function missingLabels(request: CrownRequest, { instances, ground_class, wood_class }: Labels): string[] {
  const { tree_instance_ids, use_leaf_only, ground_baseline } = request;
  const missing = [
    [(tree_instance_ids ?? []).length > 0 && !instances, "tree_instance", "the whole cloud is fitted as one tree"],
    [use_leaf_only && !wood_class, "wood_class", "wood is not told from leaves"],
    [
      ground_baseline === "ground_class" && !ground_class,
      "ground_class",
      "heights begin at the lowest point of a tree",
    ],
  ] as const;
  return missing.flatMap(([is, name, instead]) => (is ? [`The cloud has no column ${name}: ${instead}.`] : []));
}
