// How far two labellings of the same points agree. Label 0 is no tree.

export interface Match {
  /** F1 of one-to-one pairs with an intersection over union of at least one half: each label is in at most one. */
  readonly f1: number;
  /** Mean intersection over union of these pairs. */
  readonly iou: number;
  /** Share of the points that belong to the label of `truth` that most points of their own label have. */
  readonly purity: number;
}

type Labels = Uint32Array;

interface Pair {
  readonly a: number;
  readonly b: number;
  count: number;
}

const sizesOf = (labels: Labels): Float64Array => {
  const sizes = new Float64Array(labels.reduce((most, label) => Math.max(most, label), 0) + 1);
  for (const label of labels) sizes[label] = (sizes[label] ?? 0) + 1;
  return sizes;
};

function pairsOf(a: Labels, b: Labels): readonly Pair[] {
  const pairs = new Map<number, Pair>();
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    const key = x * 2 ** 26 + y;
    const pair = pairs.get(key);
    if (pair) pair.count += 1;
    else pairs.set(key, { a: x, b: y, count: 1 });
  }
  return [...pairs.values()];
}

const choose2 = (n: number) => (n * (n - 1)) / 2;
const total = (values: Iterable<number>) => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};

/** Adjusted Rand index (Hubert & Arabie 1985); label 0 is a class of its own. */
export function adjustedRand(a: Labels, b: Labels): number {
  const both = total(pairsOf(a, b).map(({ count }) => choose2(count)));
  const inA = total(sizesOf(a).map(choose2));
  const inB = total(sizesOf(b).map(choose2));
  const chance = (inA * inB) / choose2(a.length);
  const most = (inA + inB) / 2;
  return most === chance ? 1 : (both - chance) / (most - chance);
}

/** Trees of `found` against those of `truth`. */
export function matchTrees(found: Labels, truth: Labels): Match {
  const sizes = [sizesOf(found), sizesOf(truth)] as const;
  const trees = total(sizes.map((one) => one.subarray(1).filter((size) => size > 0).length));
  const overlap = ({ a, b, count }: Pair) => count / ((sizes[0][a] ?? 0) + (sizes[1][b] ?? 0) - count);
  const pairs = pairsOf(found, truth);
  const matched = pairs.filter((pair) => pair.a > 0 && pair.b > 0 && overlap(pair) >= 0.5);
  const majority = new Map<number, number>();
  for (const { a, count } of pairs) majority.set(a, Math.max(majority.get(a) ?? 0, count));
  return {
    f1: trees === 0 ? 0 : (2 * matched.length) / trees,
    iou: matched.length === 0 ? 0 : total(matched.map(overlap)) / matched.length,
    purity: total(majority.values()) / found.length,
  };
}
