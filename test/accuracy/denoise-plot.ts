// A leafless forest plot as scanners see it. Spacing grows with distance; thin branches and twigs are lines of points.
import { HEIGHT_M, RangeImage, type Rod, type Scanner, tripod } from "./denoise-scanner.ts";
import { gaussian, type Uniform, uniform } from "./random.ts";
import { add, unit, type Vector } from "./vector.ts";

const AZIMUTH = 0.55; // radians, the width of the sector with trees
const RANGE_NOISE_M = 0.002;

export const KIND = { ground: 1, stem: 2, branch: 3, twig: 4 } as const;
type Kind = (typeof KIND)[keyof typeof KIND];

function* tree(next: Uniform, x: number, y: number): Generator<Rod<Kind>> {
  const foot: Vector = [x, y, -HEIGHT_M + 0.03 * x];
  const height = 9 + 8 * next();
  const radius = 0.08 + 0.12 * next();
  for (let i = 0; i < 24; i += 1) {
    const a = add(foot, [0, 0, (height * i) / 24]);
    yield { a, b: add(a, [0, 0, height / 24]), radius: radius * (1 - i / 26), kind: KIND.stem };
  }
  for (let i = 0; i < 26; i += 1) {
    const azimuth = 2 * Math.PI * next();
    const out = unit([Math.cos(azimuth), Math.sin(azimuth), 0.2 + 0.8 * next()]);
    const a = add(foot, [0, 0, height * (0.2 + 0.75 * next())]);
    const reach = 0.8 + 2 * next();
    yield { a, b: add(a, out, reach), radius: 0.008 + 0.012 * next(), kind: KIND.branch };
    for (let j = 0; j < 9; j += 1) {
      const at = add(a, out, reach * (0.25 + 0.75 * next()));
      const away = unit(add(out, [next() - 0.5, next() - 0.5, next() - 0.4], 1.6));
      yield { a: at, b: add(at, away, 0.2 + 0.5 * next()), radius: 0.0015 + 0.002 * next(), kind: KIND.twig };
    }
  }
}

/** A beam that passes close by one thing while its neighbour meets another far behind it. */
export interface Edge {
  readonly ray: Vector;
  /** Ranges of the two, metres. */
  readonly near: number;
  readonly far: number;
}

/** Where a beam that meets two things one behind the other puts its one return: so far behind the first at most. */
export const TRAILS = {
  /** Continuous wave: anywhere between them, as the phase of the sum of two waves. */
  phase: (gap: number) => gap,
  /** Pulses of 4 ns: echoes less than a pulse apart (0.6 m of range) are one; farther things give a return of their own. */
  pulse: (gap: number) => Math.min(gap, 0.6),
} as const;
export type TrailKind = keyof typeof TRAILS;

/** One in so many beams that meet an edge gives a mixed pixel instead of a return from the edge. */
const BEAMS_PER_TRAIL = 8;

export interface MixedPixel {
  readonly p: Vector;
  /** Where its beam comes from. */
  readonly origin: Vector;
}

export interface ForestPlot {
  readonly xyz: Float64Array;
  /** KIND of each point. */
  readonly kind: Uint8Array;
  /** Where the beam of each point comes from. */
  readonly origins: Float64Array;
  readonly edges: readonly Edge[];
  /** Mixed pixels, which are not among `xyz`. */
  readonly trails: readonly MixedPixel[];
}

interface PlotWishes {
  readonly trails?: TrailKind | undefined;
  readonly scanners?: readonly Scanner[] | undefined;
  readonly trees?: number;
}

export function forestPlot(seed: number, { trails, scanners = [tripod()], trees = 22 }: PlotWishes = {}): ForestPlot {
  const next = uniform(seed);
  const rods: Rod<Kind>[] = [];
  for (let i = 0; i < trees; i += 1) {
    const range = 4 + 20 * Math.sqrt(next());
    const azimuth = (next() - 0.5) * AZIMUTH;
    rods.push(...tree(next, range * Math.cos(azimuth), range * Math.sin(azimuth)));
  }
  const [xyz, origins, kind]: number[][] = [[], [], []];
  const [edges, mixed]: [Edge[], MixedPixel[]] = [[], []];
  for (const scanner of scanners) {
    const image = new RangeImage(scanner, rods, KIND.ground);
    for (let row = 0; row < scanner.rows; row += 1) {
      const origin = scanner.origin(row);
      for (let column = 0; column < scanner.columns; column += 1) {
        const range = image.at(row, column);
        if (range === 0) continue;
        const ray = scanner.direction(row, column);
        const far = trails ? image.behind(row, column, next) : 0;
        if (trails && far > 0 && next() * BEAMS_PER_TRAIL < 1) {
          const behind = TRAILS[trails](far - range) * (0.05 + 0.9 * next());
          mixed.push({ p: add(origin, ray, range + behind), origin });
          continue;
        }
        xyz?.push(...add(origin, ray, range + RANGE_NOISE_M * gaussian(next)));
        origins?.push(...origin);
        kind?.push(image.kindAt(row, column));
        const beside = image.at(row, column + 1);
        if (beside > range + 1) edges.push({ ray, near: range, far: beside });
      }
    }
  }
  return {
    xyz: Float64Array.from(xyz ?? []),
    kind: Uint8Array.from(kind ?? []),
    origins: Float64Array.from(origins ?? []),
    edges,
    trails: mixed,
  };
}
