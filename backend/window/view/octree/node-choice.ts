import type { Point } from "../../../../shared/contract/geometry.ts";
import type { IndexedNode } from "./octree-file.ts";

/** What decides which nodes are drawn; coordinates of one cloud's stored frame. */
export interface Eye {
  readonly position: Point;
  /** Pixels that a length of 1 m at a distance of 1 m has on the screen. */
  readonly pixels_per_radian: number;
  /** Planes (a, b, c, d) of the view; a point is on the inner side if a x + b y + c z + d >= 0. */
  readonly planes: readonly (readonly [number, number, number, number])[];
  /** Only nodes that touch this box, stored frame; null: all. */
  readonly clip: { readonly min: Point; readonly max: Point } | null;
}

/** A cloud to choose nodes from. `key` comes back with each node. */
export interface Choosable<K> {
  readonly key: K;
  readonly root: IndexedNode | undefined;
  /** Distance of the points of the root, metres; it halves with each level. */
  readonly spacing: number;
  readonly eye: Eye;
}

export interface Chosen<K> {
  readonly key: K;
  readonly node: IndexedNode;
}

interface Candidate<K> extends Chosen<K> {
  readonly cloud: Choosable<K>;
  readonly weight: number;
}

/** Points closer together than this on the screen need no finer level, pixels. */
const FINE_PIXELS = 1.2;

/**
 * The nodes to draw, the most important first: those that are in the view, largest on the screen before smaller ones,
 * parents before their children, at most `budget` points. A node whose points are closer than FINE_PIXELS has no
 * children here.
 */
export function chooseNodes<K>(clouds: readonly Choosable<K>[], budget: number): Chosen<K>[] {
  const heap = new Heap<K>();
  for (const cloud of clouds) if (cloud.root) heap.push(candidate(cloud, cloud.root));
  const chosen: Chosen<K>[] = [];
  let points = 0;
  for (let next = heap.pop(); next; next = heap.pop()) {
    const { cloud, key, node } = next;
    if (!isSeen(node, cloud.eye)) continue;
    if (points + node.point_count > budget && chosen.length > 0) break;
    points += node.point_count;
    chosen.push({ key, node });
    const spacing = cloud.spacing / 2 ** node.level;
    if (pixelsOf(spacing, node, cloud.eye) < FINE_PIXELS) continue;
    for (const child of node.children) heap.push(candidate(cloud, child));
  }
  return chosen;
}

function candidate<K>(cloud: Choosable<K>, node: IndexedNode): Candidate<K> {
  const size = node.bounds.max[0] - node.bounds.min[0];
  return { cloud, key: cloud.key, node, weight: pixelsOf(size, node, cloud.eye) };
}

/** Length of `metres` on the screen at the nearest place of a node, pixels; infinite inside it. */
function pixelsOf(metres: number, { bounds: { min, max } }: IndexedNode, { position, pixels_per_radian }: Eye): number {
  let square = 0;
  for (const axis of [0, 1, 2] as const) {
    const outside = Math.max(min[axis] - position[axis], 0, position[axis] - max[axis]);
    square += outside * outside;
  }
  return (metres * pixels_per_radian) / Math.sqrt(square);
}

function isSeen({ bounds: { min, max } }: IndexedNode, { planes, clip }: Eye): boolean {
  if (clip && [0, 1, 2].some((axis) => apart(min, max, clip, axis as 0 | 1 | 2))) return false;
  return planes.every(([a, b, c, d]) => {
    const far = a * (a > 0 ? max[0] : min[0]) + b * (b > 0 ? max[1] : min[1]) + c * (c > 0 ? max[2] : min[2]);
    return far + d >= 0;
  });
}

function apart(
  min: Point | readonly number[],
  max: readonly number[],
  clip: { min: Point; max: Point },
  axis: 0 | 1 | 2,
) {
  return (max[axis] ?? 0) < clip.min[axis] || (min[axis] ?? 0) > clip.max[axis];
}

/** Largest weight first; equal weights in the order in which they came. */
class Heap<K> {
  readonly #items: { readonly item: Candidate<K>; readonly turn: number }[] = [];
  #turn = 0;

  push(item: Candidate<K>): void {
    const items = this.#items;
    items.push({ item, turn: this.#turn++ });
    for (let at = items.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): Candidate<K> | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined) return undefined;
    if (items.length === 0) return top.item;
    items[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      let best = at;
      if (left < items.length && this.#before(left, best)) best = left;
      if (left + 1 < items.length && this.#before(left + 1, best)) best = left + 1;
      if (best === at) return top.item;
      this.#swap(at, best);
      at = best;
    }
  }

  #before(a: number, b: number): boolean {
    const [x, y] = [this.#items[a], this.#items[b]];
    if (!x || !y) return false;
    return x.item.weight > y.item.weight || (x.item.weight === y.item.weight && x.turn < y.turn);
  }
  #swap(a: number, b: number): void {
    const [x, y] = [this.#items[a], this.#items[b]];
    if (x && y) [this.#items[a], this.#items[b]] = [y, x];
  }
}
