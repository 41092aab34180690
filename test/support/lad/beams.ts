/** Pulses as an inline scan of the leaf area density. */
export interface InlineScan {
  readonly origin: [number, number, number];
  readonly points: [number, number, number][];
  readonly scalar_columns: Record<string, number[]>;
  readonly [field: string]: unknown;
}

const MISS_AT = 1000;

/**
 * Beams along +x through a square of `side` m around the x axis, `count` x `count` of them, that begin at x = -10. The
 * range of each is where `hit` says, x of the hit, or null for a miss.
 */
export function parallelBeams(
  side: number,
  count: number,
  hit: (i: number, y: number, z: number) => number | null,
): InlineScan {
  const points: [number, number, number][] = [];
  const columns = {
    is_miss: [] as number[],
    origin_x: [] as number[],
    origin_y: [] as number[],
    origin_z: [] as number[],
  };
  for (let i = 0; i < count * count; i += 1) {
    const y = (((i % count) + 0.5) / count - 0.5) * side;
    const z = ((Math.floor(i / count) + 0.5) / count - 0.5) * side;
    const x = hit(i, y, z);
    points.push([x ?? MISS_AT, y, z]);
    columns.is_miss.push(x === null ? 1 : 0);
    columns.origin_x.push(-10);
    columns.origin_y.push(y);
    columns.origin_z.push(z);
  }
  return { origin: [-10, 0, 0], points, scalar_columns: columns };
}

/** A voxel of 1 m around the origin. */
export const UNIT_GRID = { center: [0, 0, 0], size: [1, 1, 1], nx: 1, ny: 1, nz: 1 };

/** Half of 400 beams end in a voxel of 1 m, the others pass it. */
export const halfIntercepted = (): InlineScan => parallelBeams(1, 20, (i) => (i % 2 === 0 ? 0.25 : null));

/** The rows of a text file with the pulses of a scan. */
export function scanRows({ points, scalar_columns }: InlineScan): string[] {
  const names = Object.keys(scalar_columns);
  const rows = points.map((point, i) => [...point, ...names.map((name) => scalar_columns[name]?.[i])].join(" "));
  return [["x", "y", "z", ...names].join(" "), ...rows];
}
