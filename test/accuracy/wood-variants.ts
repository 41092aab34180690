// Scans of trees made worse as real ones are: sparser, noisier, with edges between surfaces, seen from fewer sides.
import { leavesLeft } from "./bare-branches.ts";
import { ORGAN } from "./forest/stand.ts";
import { gaussian, type Uniform } from "./random.ts";
import type { TreeScan } from "./tree-scans.ts";

/** A labelled cloud. */
export interface LabelledCloud {
  readonly xyz: Float64Array;
  /** ORGAN.wood or ORGAN.leaf. */
  readonly organ: Uint8Array;
  /** 1 = wood of a diameter below 1 cm. */
  readonly twig: Uint8Array;
}

export interface Variant {
  /** All lengths times this. */
  readonly scale: number;
  /** One random point for each cube of this edge, metres; 0 = all. */
  readonly thin_m: number;
  /** Most points, drawn at random. */
  readonly most_points: number;
  /** Standard deviation of each coordinate, metres. */
  readonly noise_m: number;
  /** Share of the points that lie up to 5 cm farther along their beam. */
  readonly mixed: number;
  /** Share of one side, of the extent, that is missing. */
  readonly missing: number;
  /** Share of the leaves that are gone: leavesLeft. */
  readonly bare: number;
}

const TWIG_RADIUS_M = 0.005;

/** Which rows are left: wood and the leaves that are not gone. */
function foliage(scan: TreeScan, bare: number, next: Uniform): (row: number) => boolean {
  if (bare === 0) return () => true;
  const { xyz, organ } = scan;
  const leaves = Array.from(organ.keys()).filter((i) => organ[i] !== ORGAN.wood);
  const left = leavesLeft(
    leaves.flatMap((i) => [...xyz.subarray(3 * i, 3 * i + 3)]),
    bare,
    next,
  );
  const gone = new Set(leaves.filter((_, k) => left[k] !== 1));
  return (i) => !gone.has(i);
}

function kept(scan: TreeScan, variant: Variant, next: Uniform): number[] {
  const { xyz } = scan;
  const count = scan.organ.length;
  const rows = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i -= 1) {
    const k = Math.floor(next() * (i + 1));
    [rows[i], rows[k]] = [rows[k] ?? 0, rows[i] ?? 0];
  }
  const azimuth = 2 * Math.PI * next();
  const along = (i: number) => (xyz[3 * i] ?? 0) * Math.cos(azimuth) + (xyz[3 * i + 1] ?? 0) * Math.sin(azimuth);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const i of rows) [low, high] = [Math.min(low, along(i)), Math.max(high, along(i))];
  const cut = high - variant.missing * (high - low);
  const cells = new Set<string>();
  const isLeft = foliage(scan, variant.bare, next);
  const out: number[] = [];
  for (const i of rows) {
    if ((variant.missing > 0 && along(i) > cut) || !isLeft(i)) continue;
    if (variant.thin_m > 0) {
      const edge = variant.thin_m / variant.scale;
      const cell = [0, 1, 2].map((k) => Math.floor((xyz[3 * i + k] ?? 0) / edge)).join();
      if (cells.has(cell)) continue;
      cells.add(cell);
    }
    out.push(i);
    if (out.length >= variant.most_points) break;
  }
  return out;
}

/** The same options and numbers give the same cloud. */
export function variantOf(scan: TreeScan, variant: Variant, next: Uniform): LabelledCloud {
  const rows = kept(scan, variant, next);
  const out = {
    xyz: new Float64Array(3 * rows.length),
    organ: new Uint8Array(rows.length),
    twig: new Uint8Array(rows.length),
  };
  for (const [k, i] of rows.entries()) {
    const from = scan.scanners[scan.scan[i] ?? 0] ?? [0, 0, 0];
    const beam = [0, 1, 2].map((a) => (scan.xyz[3 * i + a] ?? 0) - (from[a] ?? 0));
    const range = Math.hypot(...beam);
    const farther = next() < variant.mixed ? 0.05 * next() ** 2 : 0;
    for (let a = 0; a < 3; a += 1) {
      const place = (scan.xyz[3 * i + a] ?? 0) + (farther * (beam[a] ?? 0)) / range;
      out.xyz[3 * k + a] = variant.scale * place + (variant.noise_m > 0 ? variant.noise_m * gaussian(next) : 0);
    }
    const cylinder = scan.cylinders[scan.cylinder[i] ?? 0];
    out.organ[k] = scan.organ[i] ?? 0;
    out.twig[k] =
      out.organ[k] === ORGAN.wood &&
      cylinder &&
      Math.max(cylinder.radius, cylinder.radius_end) * variant.scale < TWIG_RADIUS_M
        ? 1
        : 0;
  }
  return out;
}

/** A variant as real scans differ. */
export function drawnVariant(next: Uniform): Variant {
  const pick = next();
  const isThinned = next() < 0.35;
  return {
    scale: Math.exp(-0.4 + 1.1 * next()),
    thin_m: isThinned ? 0.01 * Math.exp(2 * next()) : 0,
    most_points: Math.round(12_000 * Math.exp(3.5 * next())),
    noise_m: pick < 0.4 ? 0 : 0.05 * next() ** 4,
    mixed: next() < 0.5 ? 0.06 * next() : 0,
    missing: next() < 0.15 ? 0.35 * next() : 0,
    bare: next() < 0.4 ? 0.2 + 0.7 * next() : 0,
  };
}
