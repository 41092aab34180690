// Trees of the reference forest as scans see them that wind moves: each scan, or each moment of one, another way.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA } from "../support/scans/data-folder.ts";
import type { KnownTree } from "./qsm-trees.ts";
import { gaussian, uniform } from "./random.ts";
import type { Vector } from "./vector.ts";

/** How much wind there is. */
export interface Wind {
  /** Of the top of a tree of 20 m, standard deviation over the scans, metres; twigs at the edge of the crown move half as far. */
  readonly sway_m: number;
  /** True: trees swing (0.25 to 0.35 Hz, branches 0.7 Hz) while the scanner turns at 7 degrees per second. */
  readonly swings: boolean;
}

const STEM_HZ = 0.25;
const BRANCH_HZ = 0.7;
const TURN_DEG_S = 7;
/** Waves of a field that is smooth over a metre. */
const WAVES = 24;
const WAVE_PER_M = 0.7;

type Field = (p: Vector) => Vector;

/** A random field of standard deviation 1 along each axis. */
function smoothField(next: () => number): Field {
  const waves = Array.from({ length: 3 * WAVES }, () => ({
    k: [gaussian(next), gaussian(next), gaussian(next)].map((one) => WAVE_PER_M * one) as unknown as Vector,
    phase: 2 * Math.PI * next(),
  }));
  const scale = Math.sqrt(2 / WAVES);
  return (p) =>
    [0, 1, 2].map((axis) =>
      waves
        .slice(axis * WAVES, (axis + 1) * WAVES)
        .reduce((sum, { k, phase }) => sum + scale * Math.cos(k[0] * p[0] + k[1] * p[1] + k[2] * p[2] + phase), 0),
    ) as unknown as Vector;
}

/** Places of the scanners of a plot, by their number. */
export function scannersOf(plot: string): ReadonlyMap<number, Vector> {
  const { scans } = JSON.parse(readFileSync(join(DATA, "forest_reference", plot, "scans.json"), "utf8"));
  return new Map(scans.map(({ scan, x, y, z }: Record<string, number>) => [scan, [x, y, z]]));
}

/** The points of a tree where the wind has them. */
export function inTheWind(
  tree: KnownTree,
  scanners: ReadonlyMap<number, Vector>,
  wind: Wind,
  seed: number,
): Float64Array {
  const { xyz, scan } = tree;
  if (!scan) throw new Error("a tree without scans");
  const at = (i: number): Vector => [xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0, xyz[3 * i + 2] ?? 0];
  const foot = scan.reduce((low, _, i) => ((xyz[3 * i + 2] ?? 0) < low[2] ? at(i) : low), at(0));
  const top = scan.reduce((high, _, i) => Math.max(high, xyz[3 * i + 2] ?? 0), foot[2]);
  const height = Math.max(1, top - foot[2]);
  const reach = Math.max(
    1,
    scan.reduce((far, _, i) => Math.max(far, Math.hypot(at(i)[0] - foot[0], at(i)[1] - foot[1])), 0),
  );
  const out = Float64Array.from(xyz);
  for (const [number, place] of scanners) {
    const next = uniform(seed * 101 + number);
    const [slow, fast] = [smoothField(next), smoothField(next)];
    const [mean, along, across] = [gaussian(next), gaussian(next), 0.5 * gaussian(next)];
    const [stemHz, phase, turn] = [STEM_HZ + 0.1 * next(), 2 * Math.PI * next(), 0.5 * gaussian(next)];
    for (let i = 0; i < scan.length; i += 1) {
      if (scan[i] !== number) continue;
      const p = at(i);
      const up = (p[2] - foot[2]) / height;
      const azimuth = (Math.atan2(p[1] - place[1], p[0] - place[0]) * 180) / Math.PI;
      const t = (2 * Math.PI * azimuth) / TURN_DEG_S;
      const swing = wind.swings ? 0.5 * mean + Math.sin(stemHz * t + phase) : along;
      const bend = wind.sway_m * (height / 20) * up ** 2;
      const [c, s] = wind.swings ? [Math.cos(BRANCH_HZ * t), Math.sin(BRANCH_HZ * t)] : [1, 0];
      const out_m = (0.5 * wind.sway_m * Math.hypot(p[0] - foot[0], p[1] - foot[1]) * Math.min(1, 2 * up)) / reach;
      const [a, b] = [slow(p), fast(p)];
      out[3 * i] = p[0] + bend * (swing * Math.cos(turn) - across * Math.sin(turn)) + out_m * (c * a[0] + s * b[0]);
      out[3 * i + 1] = p[1] + bend * (swing * Math.sin(turn) + across * Math.cos(turn)) + out_m * (c * a[1] + s * b[1]);
      out[3 * i + 2] = p[2] + out_m * (c * a[2] + s * b[2]);
    }
  }
  return out;
}
