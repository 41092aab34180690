// The space that the crown of a tree fills.
import type { Uniform } from "../random.ts";
import { add, type Vector } from "../vector.ts";
import { crownProfile, widestAt } from "./allometry.ts";
import type { Species } from "./species.ts";

/** Width at the base over the largest one. */
const BASE_SHARE = 0.65;

/** Sizes of a tree, metres. */
export interface TreeSize {
  readonly species: Species;
  /** At breast height; of trees below 3 m at the base. */
  readonly diameter_m: number;
  readonly height_m: number;
  readonly crown_base_m: number;
  /** Nothing of the crown is farther from the stem. */
  readonly crown_radius_m: number;
}

export class Crown {
  readonly #size: TreeSize;
  readonly #widest: number;
  readonly #lobes: readonly (readonly [number, number, number])[];
  readonly #most: number;

  /** `axis`: the stem at a height above its base. */
  constructor(
    size: TreeSize,
    next: Uniform,
    readonly axis: (height: number) => Vector,
  ) {
    this.#size = size;
    const length = size.height_m - size.crown_base_m;
    this.#widest = size.crown_base_m + widestAt(size.species) * length;
    const depth = size.species.is_conifer ? 0.06 : 0.13;
    this.#lobes = [1, 2, 3].map((k) => [k, (depth * next()) / Math.sqrt(k), 2 * Math.PI * next()] as const);
    this.#most = this.#lobes.reduce((sum, [, height]) => sum + height, 1);
  }

  /** Radius at a height above the stem's base in a direction; 0 outside the crown's heights. */
  radius(height: number, azimuth: number): number {
    const { species, diameter_m, height_m, crown_base_m, crown_radius_m } = this.#size;
    if (height < crown_base_m || height > height_m) return 0;
    const share =
      height >= this.#widest
        ? crownProfile(species, (height_m - height) / (height_m - this.#widest), 100 * diameter_m, height_m)
        : BASE_SHARE + ((1 - BASE_SHARE) * (height - crown_base_m)) / (this.#widest - crown_base_m);
    const lobes = this.#lobes.reduce((sum, [k, high, phase]) => sum + high * Math.cos(k * azimuth + phase), 1);
    return (crown_radius_m * share * lobes) / this.#most;
  }

  /** Whether a place is in the crown and at least `spare` metres, or half the radius there, from its border. */
  holds(place: Vector, spare: number): boolean {
    const height = place[2] - this.axis(0)[2];
    const from = add(place, this.axis(height), -1);
    const radius = this.radius(height, Math.atan2(from[1], from[0]));
    return radius > 0 && Math.hypot(from[0], from[1]) <= Math.max(radius - spare, radius / 2);
  }

  /** Metres from a place along a direction that stay in the crown, in steps of 5 cm. */
  reach(from: Vector, along: Vector, spare: number, most: number): number {
    let range = 0;
    while (range < most && this.holds(add(from, along, range + 0.05), spare)) range += 0.05;
    return range;
  }
}
