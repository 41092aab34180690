// Bare ground and grass as scanners with a noisy range see them: carried with SLAM, or on a drone.
import { gaussian, uniform } from "./random.ts";
import type { Relief } from "./relief.ts";

export interface BareField {
  readonly name: string;
  readonly points_per_m2: number;
  /** Standard deviation of z, metres. */
  readonly noise: number;
  /** Metres per metre. */
  readonly slope: number;
  /** Amplitude of hills of 7 m x 9 m, metres. */
  readonly roll: number;
  /** Share of the returns that come from grass, 0.25 to 0.75 m above the ground. */
  readonly grass: number;
}

const field = (points_per_m2: number, noise: number, slope: number, roll: number, grass: number): BareField => ({
  name: `${points_per_m2}/m2, ${100 * noise} cm, ${roll > 0 ? "rolling" : `slope ${100 * slope} %`}${grass > 0 ? ", grass" : ""}`,
  points_per_m2,
  noise,
  slope,
  roll,
  grass,
});

export const BARE_FIELDS: readonly BareField[] = [
  ...[0.01, 0.03, 0.05, 0.08].map((noise) => field(400, noise, 0, 0, 0)),
  field(25, 0.08, 0.4, 0, 0),
  field(100, 0.05, 0.2, 0, 0),
  field(2000, 0.03, 0.4, 0, 0),
  field(2000, 0.08, 0.2, 0, 0),
  field(400, 0.05, 0, 0.6, 0),
  field(400, 0.08, 0, 0.3, 0),
  ...[0.03, 0.05, 0.08].map((noise) => field(400, noise, 0.2, 0, 0.4)),
];

const POINTS = 150_000;
const MOST_SIDE = 50;

/** A square field; the same for the same arguments. */
export function bareField({ points_per_m2, noise, slope, roll, grass }: BareField): Relief {
  const side = Math.min(MOST_SIDE, Math.sqrt(POINTS / points_per_m2));
  const height = (x: number, y: number) =>
    slope * x + roll * Math.sin((2 * Math.PI * x) / 7) * Math.sin((2 * Math.PI * y) / 9);
  const next = uniform(11);
  const count = Math.round(points_per_m2 * side * side);
  const xyz = new Float64Array(3 * count);
  const truth = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    const [x, y] = [side * next(), side * next()];
    const plant = next() < grass ? 0.25 + 0.5 * next() : 0;
    xyz.set([x, y, height(x, y) + plant + noise * gaussian(next)], 3 * i);
    truth[i] = plant > 0 ? 2 : 1;
  }
  return { xyz, truth, height, side };
}
