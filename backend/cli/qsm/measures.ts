import type { QsmModelRecords } from "../../../shared/client/index.ts";
import type { QsmCylinder, QsmMetrics } from "../../../shared/contract/qsm-records.ts";

/** Upper limits of the classes of branch diameters, cm; the last class has none. */
const CLASS_LIMITS_CM = [1, 2, 5, 10, 20, 50] as const;
/** Points are looked up by height, in slices of the stem. */
const SLICES = 256;

const lengthOf = ({ start, end }: QsmCylinder) => Math.hypot(end[0] - start[0], end[1] - start[1], end[2] - start[2]);

/** Wood of one class of diameters, stem and branches alike. */
export interface DiameterClass {
  readonly name: string;
  readonly n_cylinders: number;
  readonly length_m: number;
  readonly volume_m3: number;
  /**
   * Its stem wood with the relative interval of the whole stem, plus its branch wood with that of all branches: as if all
   * errors of either went the same way. Null: the model has no intervals.
   */
  readonly volume_ci95_m3: readonly [number, number] | null;
}

/** Volume by diameter class. */
export function diameterClasses({ cylinders }: QsmModelRecords, metrics: QsmMetrics): DiameterClass[] {
  const stem = relative(metrics.stem_volume_ci95_m3, metrics.stem_volume_m3);
  const branches = relative(metrics.branch_volume_ci95_m3, metrics.branch_volume_m3);
  const classes = [...CLASS_LIMITS_CM, Infinity].map((limit, i) => {
    const low = i === 0 ? 0 : (CLASS_LIMITS_CM[i - 1] ?? 0);
    const members = cylinders.filter(({ radius }) => 200 * radius >= low && 200 * radius < limit);
    const volumeOf = (wanted: readonly QsmCylinder[]) =>
      wanted.reduce((sum, one) => sum + Math.PI * one.radius ** 2 * lengthOf(one), 0);
    const stem_m3 = volumeOf(members.filter(({ rank }) => rank === 0));
    const branch_m3 = volumeOf(members.filter(({ rank }) => rank > 0));
    const at = (end: 0 | 1) => stem_m3 * (stem?.[end] ?? 0) + branch_m3 * (branches?.[end] ?? 0);
    return {
      name: limit === Infinity ? `${low} cm and more` : `${low} to ${limit} cm`,
      n_cylinders: members.length,
      length_m: members.reduce((sum, one) => sum + lengthOf(one), 0),
      volume_m3: stem_m3 + branch_m3,
      volume_ci95_m3: stem && branches ? ([at(0), at(1)] as const) : null,
    };
  });
  return classes.filter(({ n_cylinders }) => n_cylinders > 0);
}

/** Ends of an interval as shares of the value; [1, 1] where there is no wood. */
function relative(interval: readonly [number, number] | null, volume: number): readonly [number, number] | null {
  if (interval === null) return null;
  return volume > 0 ? [interval[0] / volume, interval[1] / volume] : [1, 1];
}

/** A place on the stem: the model's radius, and that of the points around it. */
export interface TaperStep {
  /** Along the stem from its base to the middle of the cylinder, metres. */
  readonly along_m: number;
  readonly radius_m: number;
  readonly radius_se_m: number | null;
  /** Median distance of the points beside the cylinder from its axis; null: fewer than 8 are there. */
  readonly measured_m: number | null;
}

/** The stem from its base to its tip. `points`: true world, metres, x y z in turn. */
export function stemTaper({ cylinders }: QsmModelRecords, points: ArrayLike<number>): TaperStep[] {
  const stem = cylinders.filter(({ rank }) => rank === 0);
  const distances = stem.map((): number[] => []);
  const beside = stemByHeight(stem);
  for (let i = 0; i + 2 < points.length; i += 3) {
    const p = [points[i] as number, points[i + 1] as number, points[i + 2] as number] as const;
    for (const k of beside(p[2])) {
      const one = stem[k] as QsmCylinder;
      const distance = besideAxis(p, one);
      if (distance !== null && distance < 3 * one.radius) distances[k]?.push(distance);
    }
  }
  let along = 0;
  return stem.map((one, k) => {
    const length = lengthOf(one);
    along += length;
    const sorted = (distances[k] ?? []).sort((a, b) => a - b);
    return {
      along_m: along - length / 2,
      radius_m: one.radius,
      radius_se_m: one.radius_se,
      measured_m: sorted.length < 8 ? null : (sorted[Math.floor(sorted.length / 2)] ?? null),
    };
  });
}

/** The cylinders whose near points can be at a height, in the order of the stem. */
function stemByHeight(stem: readonly QsmCylinder[]): (z: number) => readonly number[] {
  const spans = stem.map(({ start, end, radius }) => {
    const reach = 3 * radius;
    return [Math.min(start[2], end[2]) - reach, Math.max(start[2], end[2]) + reach] as const;
  });
  const low = spans.reduce((least, [from]) => Math.min(least, from), Number.POSITIVE_INFINITY);
  const high = spans.reduce((most, [, to]) => Math.max(most, to), Number.NEGATIVE_INFINITY);
  const slice = (z: number) => Math.min(SLICES - 1, Math.max(0, Math.floor((SLICES * (z - low)) / (high - low))));
  const slices = Array.from({ length: SLICES }, (): number[] => []);
  for (const [k, [from, to]] of spans.entries()) for (let s = slice(from); s <= slice(to); s += 1) slices[s]?.push(k);
  return (z) => (z >= low && z <= high ? (slices[slice(z)] ?? []) : []);
}

/** Distance of a point from the axis of a cylinder; null if it is above or below it. */
function besideAxis(p: readonly [number, number, number], { start, end }: QsmCylinder): number | null {
  const [ax, ay, az] = [end[0] - start[0], end[1] - start[1], end[2] - start[2]];
  const [px, py, pz] = [p[0] - start[0], p[1] - start[1], p[2] - start[2]];
  const square = ax * ax + ay * ay + az * az;
  const s = square > 0 ? (px * ax + py * ay + pz * az) / square : -1;
  return s < 0 || s > 1 ? null : Math.hypot(px - s * ax, py - s * ay, pz - s * az);
}
