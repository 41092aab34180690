/** A sample of an octree's points within a budget, for pictures and estimates. */
export interface PointSample {
  readonly point_count: number;
  /** Points of the whole octree. */
  readonly total_count: number;
  /** (n, 3) metres, stored frame. */
  readonly position: Float64Array;
  /** (n, 3) 0..255; undefined if the cloud has no colours. */
  readonly rgb: Uint8Array | undefined;
  /** (n) in the scale of the source; undefined if the cloud has none. */
  readonly intensity: Float32Array | undefined;
  /** (n) of the column that was asked for; NaN = none. */
  readonly value?: Float32Array | undefined;
  /** (n) 1 ground, 2 plant; absent if not labelled. */
  readonly ground?: Uint8Array | undefined;
  /** (n) 1 clean, 2 noise; absent if not labelled. */
  readonly noise?: Uint8Array | undefined;
}

/** The points below a height, metres, stored frame. */
export function sampleBelow(sample: PointSample, height: number): PointSample {
  const rows: number[] = [];
  for (let i = 0; i < sample.point_count; i += 1) if ((sample.position[3 * i + 2] ?? 0) < height) rows.push(i);
  const triples = rows.flatMap((i) => [3 * i, 3 * i + 1, 3 * i + 2]);
  return {
    point_count: rows.length,
    total_count: sample.total_count,
    position: Float64Array.from(triples, (at) => sample.position[at] ?? 0),
    rgb: sample.rgb && Uint8Array.from(triples, (at) => sample.rgb?.[at] ?? 0),
    intensity: sample.intensity && Float32Array.from(rows, (i) => sample.intensity?.[i] ?? 0),
  };
}

/** Largest number of values that percentiles are computed from. */
const PERCENTILE_VALUES = 200_000;

/**
 * Percentiles (0..1) of `count` values, interpolated linearly between order statistics; of more than 200,000 values, an
 * even stride is used. Values that are not finite are left out; undefined if none is left.
 */
export function samplePercentiles(
  count: number,
  value: (index: number) => number,
  percentiles: readonly number[],
): number[] | undefined {
  const step = Math.max(1, Math.ceil(count / PERCENTILE_VALUES));
  const taken = new Float64Array(Math.ceil(count / step));
  let n = 0;
  for (let i = 0; i < count; i += step) {
    const v = value(i);
    if (Number.isFinite(v)) taken[n++] = v;
  }
  if (n === 0) return undefined;
  const sorted = taken.subarray(0, n).sort();
  return percentiles.map((p) => {
    const at = p * (n - 1);
    const low = sorted[Math.floor(at)] ?? 0;
    const high = sorted[Math.ceil(at)] ?? low;
    return low + (high - low) * (at - Math.floor(at));
  });
}
