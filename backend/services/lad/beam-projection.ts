import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/lad.ts";
import { numbersColumn } from "../run/points.ts";

/** Leaf projection function as the request gives it. */
export type Projection = { readonly constant: number } | { readonly density: native.LeafAngleDensity };

/** G of a beam by the bins of zenith_count: `factors` times the greatest of them. */
interface LawG {
  readonly greatest: number;
  readonly factors: readonly number[];
}

/** G of each beam, for all layers or for each. */
export interface BeamG {
  readonly layers: readonly LawG[];
  /** (f64) in place of `greatest`, where each voxel has its own; the run owns it. */
  readonly voxels: NativeColumn | null;
}

/** Layers of a grid after each other. */
export interface LayerRange {
  readonly first: number;
  readonly count: number;
}

/** Factors by the bins of zenith_count, and the greatest G of each voxel (f64). */
export const voxelBeamG = (factors: readonly number[], voxels: NativeColumn): BeamG => ({
  layers: [{ greatest: 1, factors }],
  voxels,
});

/** Layers whose beams may have each their own G: 7 MB of factors, twice that for halves of voxels. */
const MOST_LAYERS = 512;

/** Errors: invalid_argument for too many layers. */
export function checkLayers(layers: number): void {
  if (layers <= MOST_LAYERS) return;
  throw new AppError(
    "invalid_argument",
    `gtheta_per_beam takes a profile of at most ${MOST_LAYERS} layers, and gtheta_spec has ${layers}: use a grid with fewer, or one distribution.`,
  );
}

/** G of the beams by the distribution of each layer; a constant is that of every beam. Equal layers share theirs. */
export async function beamG(values: readonly Projection[], bins: number, job: Job): Promise<BeamG> {
  const known = new Map<string, LawG>();
  const layers: LawG[] = [];
  for (const value of values) {
    const key = JSON.stringify(value);
    const law = known.get(key) ?? (await lawG(value, bins, job));
    known.set(key, law);
    layers.push(law);
  }
  return { layers, voxels: null };
}

async function lawG(value: Projection, bins: number, job: Job): Promise<LawG> {
  if ("constant" in value) return { greatest: value.constant, factors: Array<number>(bins).fill(1) };
  const g = await job.quiet().track(() => native.leafProjectionBins(value.density));
  const greatest = g.reduce((a, b) => Math.max(a, b), 0);
  return { greatest, factors: g.map((one) => one / greatest) };
}

const held = (list: readonly number[], job: Job) => job.adopt(numbersColumn(list)).native;

/** Columns of the factors, and of the greatest G. */
export const beamColumns = ({ layers, voxels }: BeamG, job: Job) => ({
  factors: held(
    layers.flatMap(({ factors }) => factors),
    job,
  ),
  g:
    voxels ??
    held(
      layers.map(({ greatest }) => greatest),
      job,
    ),
});

/** Column of the factors for the halves of some layers. */
export function halvedFactors({ layers }: BeamG, { first, count }: LayerRange, job: Job): NativeColumn {
  const each = layers.length === 1 ? layers : layers.slice(first, first + count).flatMap((law) => [law, law]);
  return held(
    each.flatMap(({ factors }) => factors),
    job,
  );
}

type Spread = readonly [low: number, high: number];

/** Shares of the beams between which their G is compared. */
const FROM = 0.05;
const TO = 0.95;
/** A spread of G beyond this part of its mean moves the leaf area by more than a percent or so. */
const NOTABLE_SPREAD = 0.15;

/** The widest spread of G of the beams of a layer; null if one mean can stand for all of them. */
export function notableSpread({ layers }: Pick<BeamG, "layers">, zenith_count: readonly number[]): Spread | null {
  const spreads = [...new Set(layers)].map((law) => spreadOf(law, zenith_count));
  const [low, high] = spreads.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
  return high - low > NOTABLE_SPREAD * 0.5 * (low + high) ? [low, high] : null;
}

/** A sentence if one G stands for beams whose own differ. */
export function spreadWarnings(beams: BeamG, zenith_count: readonly number[]): string[] {
  const spread = notableSpread(beams, zenith_count);
  if (!spread) return [];
  const [low, high] = spread;
  return [
    `G of these leaves lies between ${low.toFixed(2)} and ${high.toFixed(2)} for 90 % of the beams, and one mean stands for all: the leaf area can be far too small where some look steeply and some level. Send gtheta_per_beam to give each beam its own G.`,
  ];
}

/** G that 5 % of the beams do not reach, and that 5 % exceed. */
function spreadOf({ greatest, factors }: LawG, zenith_count: readonly number[]): Spread {
  const beams = factors
    .map((factor, bin) => ({ g: factor * greatest, count: zenith_count[bin] ?? 0 }))
    .sort((a, b) => a.g - b.g);
  const all = beams.reduce((sum, { count }) => sum + count, 0);
  let [passed, low, high] = [0, 0, 0];
  for (const { g, count } of beams) {
    if (passed <= FROM * all) low = g;
    if (passed <= TO * all) high = g;
    passed += count;
  }
  return [low, high];
}
