// How well a segmentation finds the trees of a cloud.
//
// Protocol: every point that is no ground takes part. A tree counts from 200 points; points of smaller ones are left out,
// and so are found trees most of whose points they are. A tree and a found tree may be a pair if the intersection of their
// points over their union (IoU) is at least 0.5; pairs are one to one, as many as possible (maximum matching). Precision: pairs
// over found trees, recall: pairs over trees, F1: twice the pairs over both; mean IoU is that of the pairs.

/** Points from which a tree counts. */
export const LEAST_HITS = 200;
export const IOU = 0.5;
/** Pieces of a tree with a smaller share of it do not make it over-segmented. */
const PIECE_SHARE = 0.05;

export interface TreeScore {
  readonly tree_count: number;
  readonly found_count: number;
  readonly matched_count: number;
  /** NaN where there is nothing to divide by. */
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  /** Of the pairs; NaN without. */
  readonly mean_iou: number;
  /** Trees in which two or more found trees have most of their points, each at least 5 % of the tree. */
  readonly over_segmented: number;
  /** Found trees that have most of the points of two or more trees. */
  readonly under_segmented: number;
  readonly left_out_trees: number;
  readonly left_out_found: number;
}

/** Ids 1, 2, .. for the ids that occur, 0 stays. */
function dense(ids: ArrayLike<number>): { readonly of: Uint32Array; readonly count: number } {
  const known = new Map<number, number>([[0, 0]]);
  const of = new Uint32Array(ids.length);
  let [last, same] = [0, 0];
  for (let i = 0; i < ids.length; i += 1) {
    const id = ids[i] ?? 0;
    if (id !== last) {
      last = id;
      same = known.get(id) ?? known.size;
      known.set(id, same);
    }
    of[i] = same;
  }
  return { of, count: known.size };
}

/** Points that a tree and a found tree share; 0 = none of either. */
interface Shared {
  readonly tree: number;
  readonly found: number;
  points: number;
}

function sharedPoints(trees: Uint32Array, found: Uint32Array, foundCount: number, skip: Uint8Array | null): Shared[] {
  const all = new Map<number, Shared>();
  let last: Shared = { tree: -1, found: -1, points: 0 };
  for (let i = 0; i < trees.length; i += 1) {
    if (skip && skip[i] !== 0) continue;
    const [t, f] = [trees[i] ?? 0, found[i] ?? 0];
    if (t !== last.tree || f !== last.found) {
      const key = t * foundCount + f;
      last = all.get(key) ?? { tree: t, found: f, points: 0 };
      all.set(key, last);
    }
    last.points += 1;
  }
  return [...all.values()];
}

function sums(shared: readonly Shared[], of: "tree" | "found", count: number): Float64Array {
  const sizes = new Float64Array(count);
  for (const one of shared) sizes[one[of]] = (sizes[one[of]] ?? 0) + one.points;
  return sizes;
}

export interface Edge {
  readonly tree: number;
  readonly found: number;
  readonly iou: number;
}

/** As many pairs of the edges as there can be, one to one, better ones tried first. Source: Kuhn 1955, augmenting paths. */
export function matching(edges: readonly Edge[]): Edge[] {
  const of = new Map<number, Edge[]>();
  for (const edge of [...edges].sort((a, b) => b.iou - a.iou)) {
    const list = of.get(edge.tree);
    if (list) list.push(edge);
    else of.set(edge.tree, [edge]);
  }
  const taken = new Map<number, Edge>();
  const place = (tree: number, seen: Set<number>): boolean => {
    for (const edge of of.get(tree) ?? []) {
      if (seen.has(edge.found)) continue;
      seen.add(edge.found);
      const before = taken.get(edge.found);
      if (before && !place(before.tree, seen)) continue;
      taken.set(edge.found, edge);
      return true;
    }
    return false;
  };
  for (const tree of of.keys()) place(tree, new Set());
  return [...taken.values()];
}

const ratio = (part: number, whole: number): number => (whole === 0 ? Number.NaN : part / whole);

/** How many different `group`s hold most of one `piece`'s points, by group. */
function holders(shared: readonly Shared[], piece: "tree" | "found", sizes: Float64Array): Map<number, Shared[]> {
  const group = piece === "tree" ? "found" : "tree";
  const out = new Map<number, Shared[]>();
  for (const one of shared) {
    if (2 * one.points <= (sizes[one[piece]] ?? 0)) continue;
    const list = out.get(one[group]);
    if (list) list.push(one);
    else out.set(one[group], [one]);
  }
  return out;
}

/**
 * Scores labels against true ones.
 *
 * `truth`, `labels`: (n) ids, 0 = no tree; `skip`: (n) not 0 = left out, such as ground.
 */
export function scoreTrees(
  truth: ArrayLike<number>,
  labels: ArrayLike<number>,
  skip: Uint8Array | null,
  { least_hits = LEAST_HITS, iou = IOU } = {},
): TreeScore {
  if (labels.length !== truth.length) throw new Error(`${labels.length} labels for ${truth.length} points`);
  const [trees, found] = [dense(truth), dense(labels)];
  const all = sharedPoints(trees.of, found.of, found.count, skip);
  const whole = sums(all, "tree", trees.count);
  const small = (tree: number) => tree > 0 && (whole[tree] ?? 0) < least_hits;
  const before = sums(all, "found", found.count);
  const onSmall = sums(
    all.filter(({ tree }) => small(tree)),
    "found",
    found.count,
  );
  const leftOut = (id: number) => 2 * (onSmall[id] ?? 0) > (before[id] ?? 0);
  const kept = all.filter(({ tree, found: id }) => !small(tree) && !(id > 0 && leftOut(id)));
  // Points of found trees that are left out are still points of their trees.
  const size = sums(kept, "found", found.count);
  const pairs = kept.filter(({ tree, found: id }) => tree > 0 && id > 0);
  const edges = pairs
    .map((one) => ({
      tree: one.tree,
      found: one.found,
      iou: one.points / ((whole[one.tree] ?? 0) + (size[one.found] ?? 0) - one.points),
    }))
    .filter((edge) => edge.iou >= iou);
  const matched = matching(edges);
  const there = (sizes: Float64Array) => sizes.subarray(1).reduce((count, points) => count + (points > 0 ? 1 : 0), 0);
  const tree_count = whole
    .subarray(1)
    .reduce((count, points) => count + (points >= Math.max(1, least_hits) ? 1 : 0), 0);
  const found_count = there(size);
  const large = pairs.filter(({ tree, points }) => points >= PIECE_SHARE * (whole[tree] ?? 0));
  const several = (lists: Map<number, Shared[]>) => [...lists.values()].filter((list) => list.length > 1).length;
  return {
    tree_count,
    found_count,
    matched_count: matched.length,
    precision: ratio(matched.length, found_count),
    recall: ratio(matched.length, tree_count),
    f1: ratio(2 * matched.length, found_count + tree_count),
    mean_iou: ratio(
      matched.reduce((sum, edge) => sum + edge.iou, 0),
      matched.length,
    ),
    over_segmented: several(holders(large, "found", size)),
    under_segmented: several(holders(pairs, "tree", whole)),
    left_out_trees: there(whole) - tree_count,
    left_out_found: there(before) - found_count,
  };
}
