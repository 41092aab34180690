import { open } from "node:fs/promises";
import { readLayout } from "./las-layout.ts";
import { columnReader, insideOf, recordBlocks } from "./las-records.ts";
import type { SeenTree } from "./owners.ts";
import type { Rectangle } from "./plan-document.ts";

/** The foot of a tree: up to this height above its lowest point, metres. */
const FOOT_M = 1;
const GROUND = 1;
/** Directions in which the outermost ground points are looked for first. */
const DIRECTIONS = 16;

export interface Surveyed {
  readonly trees: readonly SeenTree[];
  readonly core_points: number;
  /** Corners of the convex hull of the core's ground points, counter-clockwise, true world. */
  readonly ground_hull: readonly (readonly [number, number])[];
}

interface Sums {
  points: number;
  core: number;
  low: number;
  foot: number;
  x: number;
  y: number;
}

/** Trees, and ground of the core, of a labelled LAS file. `has`: the columns that it has. */
export async function surveyTile(
  path: string,
  core: Rectangle,
  has: { readonly trees: boolean; readonly ground: boolean },
  signal: AbortSignal,
): Promise<Surveyed> {
  const file = await open(path);
  try {
    const layout = await readLayout(file, path);
    const inside = insideOf(layout, core);
    const treeOf = has.trees ? columnReader(layout, "tree_instance") : () => 0;
    const classOf = has.ground ? columnReader(layout, "ground_class") : () => 0;
    const { stride, head, scale, offset } = layout;
    const [scale_z, offset_z] = [head.readDoubleLE(131 + 16), head.readDoubleLE(155 + 16)];
    const sums = new Map<number, Sums>();
    const hull = new Outline();
    let core_points = 0;
    const each = async (use: (bytes: Buffer, at: number) => void) => {
      for await (const bytes of recordBlocks(file, layout)) {
        signal.throwIfAborted();
        for (let at = 0; at < bytes.length; at += stride) use(bytes, at);
      }
    };
    const x = (bytes: Buffer, at: number) => bytes.readInt32LE(at) * scale[0] + offset[0];
    const y = (bytes: Buffer, at: number) => bytes.readInt32LE(at + 4) * scale[1] + offset[1];
    const z = (bytes: Buffer, at: number) => bytes.readInt32LE(at + 8) * scale_z + offset_z;
    await each((bytes, at) => {
      const isCore = inside(bytes, at);
      if (isCore) core_points += 1;
      if (isCore && classOf(bytes, at) === GROUND) hull.add(x(bytes, at), y(bytes, at));
      const id = treeOf(bytes, at);
      if (id === 0) return;
      const sum = sums.get(id) ?? { points: 0, core: 0, low: Infinity, foot: 0, x: 0, y: 0 };
      sums.set(id, sum);
      sum.points += 1;
      if (isCore) sum.core += 1;
      sum.low = Math.min(sum.low, z(bytes, at));
    });
    // Sums in whole steps of the coordinates: the same in any order of the points.
    if (sums.size > 0)
      await each((bytes, at) => {
        const sum = sums.get(treeOf(bytes, at));
        if (!sum || z(bytes, at) > sum.low + FOOT_M) return;
        sum.foot += 1;
        sum.x += bytes.readInt32LE(at);
        sum.y += bytes.readInt32LE(at + 4);
      });
    const trees = [...sums].map(([id, sum]): SeenTree => {
      const anchor = [(sum.x / sum.foot) * scale[0] + offset[0], (sum.y / sum.foot) * scale[1] + offset[1]] as const;
      const margin_m = Math.min(anchor[0] - core[0], anchor[1] - core[1], core[2] - anchor[0], core[3] - anchor[1]);
      return { id, points: sum.points, core_points: sum.core, anchor, margin_m };
    });
    return { trees: trees.sort((a, b) => a.id - b.id), core_points, ground_hull: hull.corners() };
  } finally {
    await file.close();
  }
}

type Corner = readonly [number, number];
const turn = (a: Corner, b: Corner, c: Corner) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** Convex hull of points: Andrew 1979, Information Processing Letters 9: 216. Points on a line give two corners or fewer. */
export function hullOf(points: readonly Corner[]): Corner[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: readonly Corner[]) => {
    const chain: Corner[] = [];
    for (const point of list) {
      while (chain.length > 1 && turn(chain.at(-2) as Corner, chain.at(-1) as Corner, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

/** A hull of points that arrive one by one: those inside the hull so far are dropped. */
class Outline {
  #hull: Corner[] = [];
  #pending: Corner[] = [];

  add(x: number, y: number): void {
    if (this.#hull.length >= 3 && this.#holds(x, y)) return;
    this.#pending.push([x, y]);
    if (this.#pending.length >= 1 << 12) this.#merge();
  }

  corners(): Corner[] {
    this.#merge();
    return this.#hull;
  }

  #merge(): void {
    this.#hull = hullOf([...this.#hull, ...this.#pending]);
    this.#pending = [];
  }

  /** By a few corners of the hull, which hold most of the points inside it. */
  #holds(x: number, y: number): boolean {
    const step = Math.max(1, Math.floor(this.#hull.length / DIRECTIONS));
    let last = this.#hull[Math.floor((this.#hull.length - 1) / step) * step] as Corner;
    for (let i = 0; i < this.#hull.length; i += step) {
      const next = this.#hull[i] as Corner;
      if ((next[0] - last[0]) * (y - last[1]) - (next[1] - last[1]) * (x - last[0]) < 0) return false;
      last = next;
    }
    return true;
  }
}
