import type { Point } from "../../../shared/contract/geometry.ts";
import type { SkeletonBlock } from "../../../shared/contract/skeleton.ts";
import { LazyList } from "../../../shared/wire/json-values.ts";

/* The lists of a skeleton, whose elements are made while the answer is written. */

const BLOCK_WIDTH = 6;

/** Rows of three numbers. */
export const nodeList = (places: Float64Array): Point[] =>
  new LazyList(places.length / 3, (i) => [...places.subarray(3 * i, 3 * i + 3)]) as unknown as Point[];

/** Rows of two numbers. */
export const pairList = (edges: Uint32Array): [number, number][] =>
  new LazyList(edges.length / 2, (i) => [...edges.subarray(2 * i, 2 * i + 2)]) as unknown as [number, number][];

/** Blocks from their table: x, y, z, level, points, parent or -1. */
export function blockList(table: Float64Array): SkeletonBlock[] {
  const count = table.length / BLOCK_WIDTH;
  const at = (block: number, field: number) => table[block * BLOCK_WIDTH + field] as number;
  const first = new Uint32Array(count + 1);
  for (let i = 0; i < count; i += 1) {
    const parent = at(i, 5);
    if (parent >= 0) first[parent + 1] = (first[parent + 1] as number) + 1;
  }
  for (let i = 0; i < count; i += 1) first[i + 1] = (first[i + 1] as number) + (first[i] as number);
  const next = first.slice();
  const children = new Uint32Array(count);
  for (let i = 0; i < count; i += 1) {
    const parent = at(i, 5);
    if (parent < 0) continue;
    const place = next[parent] as number;
    children[place] = i;
    next[parent] = place + 1;
  }
  const block = (i: number): SkeletonBlock => ({
    block_id: i,
    center: [at(i, 0), at(i, 1), at(i, 2)],
    quantized_level: at(i, 3),
    num_points: at(i, 4),
    parent_block_id: at(i, 5) < 0 ? null : at(i, 5),
    child_block_ids: [...children.subarray(first[i], first[i + 1])],
  });
  return new LazyList(count, block) as unknown as SkeletonBlock[];
}

/** Nodes with more than two neighbours. */
export function countBranches(edges: Uint32Array, nodes: number): number {
  const degree = new Uint32Array(nodes);
  for (const node of edges) degree[node] = (degree[node] as number) + 1;
  return degree.reduce((count, neighbours) => count + (neighbours > 2 ? 1 : 0), 0);
}
