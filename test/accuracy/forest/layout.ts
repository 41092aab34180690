// Where the trees of a stand are, and how large.
import { gaussian, type Uniform, uniform } from "../random.ts";
import { crownBaseOf, heightOf, openCrownWidth, standCrownWidth } from "./allometry.ts";
import { SPECIES, type Species } from "./species.ts";
import type { TreePlan } from "./tree.ts";

export const STANDS = ["apart", "interlocked", "understorey", "slope", "rows"] as const;
export type StandKind = (typeof STANDS)[number];

type Mix = readonly (readonly [Species, number])[];
interface Design {
  readonly stems_per_ha: number;
  /** Diameters are 5 cm and a Weibull distribution of this scale (cm) and shape. */
  readonly scale: number;
  readonly shape: number;
  readonly mix: Mix;
  /** Metres between stems: along and between rows; null = anywhere. */
  readonly rows: readonly [number, number] | null;
  readonly crowns_apart: boolean;
  readonly understorey_per_ha: number;
  readonly slope_deg: number;
}

const MIXED: Mix = [
  [SPECIES.norway_spruce, 0.3],
  [SPECIES.balsam_fir, 0.1],
  [SPECIES.white_pine, 0.1],
  [SPECIES.sugar_maple, 0.2],
  [SPECIES.red_oak, 0.15],
  [SPECIES.american_beech, 0.15],
];
const PLAIN = { shape: 2, rows: null, crowns_apart: false, understorey_per_ha: 0, slope_deg: 3 };
const INTERLOCKED: Design = { ...PLAIN, stems_per_ha: 800, scale: 18, mix: MIXED };

const DESIGNS: Readonly<Record<StandKind, Design>> = {
  apart: { ...PLAIN, stems_per_ha: 400, scale: 16, mix: MIXED, crowns_apart: true },
  interlocked: INTERLOCKED,
  understorey: { ...INTERLOCKED, understorey_per_ha: 1500 },
  slope: { ...PLAIN, stems_per_ha: 600, scale: 18, mix: MIXED, slope_deg: 25 },
  rows: {
    ...PLAIN,
    stems_per_ha: 1100,
    scale: 12.5,
    shape: 4,
    mix: [[SPECIES.norway_spruce, 1]],
    rows: [3, 3],
  },
};
export const slopeOf = (kind: StandKind): number => DESIGNS[kind].slope_deg;

/** Thinnest and thickest stem, centimetres. */
const DIAMETERS = [5.2, 70] as const;

function pick(mix: Mix, next: Uniform): Species {
  let rest = next();
  for (const [species, share] of mix) {
    rest -= share;
    if (rest <= 0) return species;
  }
  return (mix[0] as Mix[number])[0];
}

interface Stem {
  readonly species: Species;
  readonly dbh_cm: number;
  readonly x: number;
  readonly y: number;
  readonly crown_radius_m: number;
}
type Place = readonly [number, number];

/** Square metres on which places are compared, for neighbours. */
class Near {
  readonly #squares = new Map<string, Stem[]>();
  static readonly size = 5;

  add(stem: Stem): void {
    const key = `${Math.floor(stem.x / Near.size)},${Math.floor(stem.y / Near.size)}`;
    const square = this.#squares.get(key);
    if (square) square.push(stem);
    else this.#squares.set(key, [stem]);
  }
  /** All stems up to 10 m away, and some beyond. */
  around([x, y]: Place): Stem[] {
    const [i, j] = [Math.floor(x / Near.size), Math.floor(y / Near.size)];
    const steps = [-2, -1, 0, 1, 2];
    return steps.flatMap((b) => steps.flatMap((a) => this.#squares.get(`${i + a},${j + b}`) ?? []));
  }
}

/** Metres that are free around a place: to the next crown, or from stem to stem. */
function room(near: Near, place: Place, apart: boolean): number {
  return near.around(place).reduce((least, stem) => {
    const distance = Math.hypot(stem.x - place[0], stem.y - place[1]);
    return Math.min(least, apart ? distance - stem.crown_radius_m - 0.25 : distance - stem.dbh_cm / 100);
  }, 10);
}

/** The largest trees first, each where there is room for it; crowns that must stay apart shrink to the room they have. */
function place(sizes: readonly (readonly [Species, number])[], design: Design, side: number, next: Uniform): Stem[] {
  const near = new Near();
  return sizes.map(([species, dbh_cm]) => {
    const wanted = standCrownWidth(species, dbh_cm) / 2;
    const needed = design.crowns_apart ? wanted : 0.8 + 0.02 * dbh_cm;
    let best: readonly [Place, number] = [[side / 2, side / 2], -Infinity];
    for (let attempt = 0; attempt < 400 && best[1] < needed; attempt += 1) {
      const at: Place = [0.5 + (side - 1) * next(), 0.5 + (side - 1) * next()];
      const free = room(near, at, design.crowns_apart);
      if (free > best[1]) best = [at, free];
    }
    const [[x, y], free] = best;
    const crown_radius_m = design.crowns_apart ? Math.min(wanted, free) : wanted;
    const stem = { species, dbh_cm, x, y, crown_radius_m };
    near.add(stem);
    return stem;
  });
}

function inRows(
  sizes: readonly (readonly [Species, number])[],
  [along, between]: Place,
  side: number,
  next: Uniform,
): Stem[] {
  const places: Place[] = [];
  for (let x = between / 2; x < side; x += between)
    for (let y = along / 2; y < side; y += along) places.push([x + 0.08 * gaussian(next), y + 0.12 * gaussian(next)]);
  return places.map(([x, y], k) => {
    const [species, dbh_cm] = sizes[k % sizes.length] as (typeof sizes)[number];
    return { species, dbh_cm, x, y, crown_radius_m: standCrownWidth(species, dbh_cm) / 2 };
  });
}

/** Trees over 5 cm, the thickest first. */
function overstorey(design: Design, side: number, next: Uniform): TreePlan[] {
  const hectares = side ** 2 / 1e4;
  const count = Math.round(design.stems_per_ha * hectares);
  const drawn = Array.from({ length: count }, (): readonly [Species, number] => {
    const dbh = DIAMETERS[0] + design.scale * (-Math.log(1 - next())) ** (1 / design.shape);
    return [pick(design.mix, next), Math.min(DIAMETERS[1], dbh)];
  });
  // Some of the thickest and thinnest are in every larger mixed stand.
  if (count >= 40 && !design.rows && !design.crowns_apart)
    for (const [k, dbh] of [70, 58, 50, 5.5, 6].entries()) drawn[k] = [(drawn[k] as Drawn)[0], dbh];
  const sizes = design.rows ? drawn : drawn.sort((a, b) => b[1] - a[1]);
  const stems = design.rows ? inRows(sizes, design.rows, side, next) : place(sizes, design, side, next);
  const basal_area = stems.reduce((sum, { dbh_cm }) => sum + (Math.PI / 4) * (dbh_cm / 100) ** 2, 0) / hectares;
  return stems.map((stem, k) => {
    const { species, dbh_cm } = stem;
    const larger = stems.filter((other) => other.dbh_cm > dbh_cm);
    const area = larger.reduce((sum, one) => sum + (Math.PI / 4) * openCrownWidth(one.species, one.dbh_cm) ** 2, 0);
    const height_m = Math.min(30, Math.max(3.1, heightOf(species, dbh_cm) * (1 + 0.06 * gaussian(next))));
    const around = { basal_area, crowns_of_larger: (100 * area) / (1e4 * hectares) };
    const base = crownBaseOf(species, dbh_cm, height_m, around) * (1 + 0.1 * gaussian(next));
    return {
      id: k + 1,
      species,
      x: stem.x,
      y: stem.y,
      diameter_m: dbh_cm / 100,
      height_m,
      crown_base_m: Math.min(0.72 * height_m, Math.max(0.12 * height_m, base)),
      crown_radius_m: stem.crown_radius_m,
      is_understorey: false,
    };
  });
}
type Drawn = readonly [Species, number];

/** Trees of 1 to 4 m: as thick as one hundredth of their height; crowns of a third of it. Ours. */
function understorey(design: Design, trees: readonly TreePlan[], side: number, next: Uniform): TreePlan[] {
  const small: TreePlan[] = [];
  const count = Math.round((design.understorey_per_ha * side ** 2) / 1e4);
  while (small.length < count) {
    const [x, y] = [0.3 + (side - 0.6) * next(), 0.3 + (side - 0.6) * next()];
    const taken = (tree: TreePlan) =>
      Math.hypot(tree.x - x, tree.y - y) < (tree.is_understorey ? 0.45 : 0.4 + tree.diameter_m / 2);
    if (trees.some(taken) || small.some(taken)) continue;
    const height_m = 1 + 3 * next() ** 1.3;
    small.push({
      id: trees.length + small.length + 1,
      species: pick(design.mix, next),
      x,
      y,
      diameter_m: Math.max(0.008, 0.011 * height_m * (0.85 + 0.3 * next())),
      height_m,
      crown_base_m: height_m * (0.12 + 0.15 * next()),
      crown_radius_m: height_m * (0.16 + 0.08 * next()),
      is_understorey: true,
    });
  }
  return small;
}

/** The trees of a stand; ids from 1. `interlocked` and `understorey` of a seed share their larger trees. */
export function layout(kind: StandKind, seed: number, side: number): TreePlan[] {
  const design = DESIGNS[kind];
  const trees = overstorey(design, side, uniform(seed * 31 + 7));
  return [...trees, ...understorey(design, trees, side, uniform(seed * 31 + 11))];
}
