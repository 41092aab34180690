// The model of a session: plain arrays, and every rule written down once more, slow and obvious.

export type Vec3 = readonly [number, number, number];

/** What one label stroke painted over, so that it can be taken back. */
export interface LabelStep {
  readonly stroke_id: string;
  readonly before: readonly (readonly [row: number, value: number])[];
}

/** What an octree was built from. Its id is not predicted: the first answer that names it fixes it. */
export interface BuiltOctree {
  id: string | null;
  readonly positions: readonly Vec3[];
  readonly extras: ReadonlyMap<string, readonly number[]>;
  /** Surviving misses: the overlay that is built with it. */
  readonly misses: readonly Vec3[];
}

/** Value of the file = stored / divisor + offset. */
export interface IntensityUnits {
  readonly divisor: number;
  readonly offset: number;
}

export interface ModelCloud {
  /** Stored frame; every list below has one entry per row. */
  readonly positions: readonly Vec3[];
  readonly colors: readonly Vec3[] | null;
  readonly intensity: readonly number[] | null;
  /** Of a stored intensity; null = unknown. */
  readonly units: IntensityUnits | null;
  readonly timestamps: readonly number[] | null;
  readonly origins: readonly Vec3[] | null;
  readonly extras: ReadonlyMap<string, readonly number[]>;
  readonly shift: Vec3 | null;
  /** Rows that no undo brings back. */
  readonly base: ReadonlySet<number>;
  /** Rows newly deleted by each step, oldest first. */
  readonly steps: readonly (readonly number[])[];
  readonly labels: ReadonlyMap<string, readonly LabelStep[]>;
  readonly current: BuiltOctree | null;
  readonly rendered: BuiltOctree | null;
  readonly pose: readonly number[] | null;
  readonly octreeCount: number | null;
  readonly lostHits: number;
  /** true = normals must be marked stale; undefined = not said. */
  readonly normalsStale: true | undefined;
  /** Columns that real arithmetic went through: compared within a bound, then taken over. */
  readonly inexact: ReadonlySet<string>;
}

export const NORMALS = ["nx", "ny", "nz"] as const;
export const MISS = "is_miss";
/** Where its exponent ends: coordinates below this many metres keep 1e-9 m in a double. */
export const POSITION_TOLERANCE = 2e-9;

export const rowCount = (cloud: ModelCloud): number => cloud.positions.length;
const allRows = (cloud: ModelCloud): number[] => Array.from(cloud.positions, (_, row) => row);

export function deletedRows(cloud: ModelCloud): Set<number> {
  return new Set([...cloud.base, ...cloud.steps.flat()]);
}
export const isHit = (cloud: ModelCloud, row: number): boolean => (cloud.extras.get(MISS)?.[row] ?? 0) === 0;
export function survivors(cloud: ModelCloud): number[] {
  const deleted = deletedRows(cloud);
  return allRows(cloud).filter((row) => !deleted.has(row));
}
/** Surviving hits. */
export const editable = (cloud: ModelCloud): number[] => survivors(cloud).filter((row) => isHit(cloud, row));
export const hitCount = (cloud: ModelCloud): number => allRows(cloud).filter((row) => isHit(cloud, row)).length;

/** To the nearest integer, halves to the even one. */
export function rint(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  if (rest !== 0.5) return Math.round(value) + 0;
  return (down % 2 === 0 ? down : down + 1) + 0;
}

const pick = <T>(column: readonly T[], rows: readonly number[]): T[] => rows.map((row) => column[row] as T);
const pickOrNull = <T>(column: readonly T[] | null, rows: readonly number[]): T[] | null =>
  column && pick(column, rows);

/** The points of those rows in this order, with nothing of the history. */
export function gather(cloud: ModelCloud, rows: readonly number[]): ModelCloud {
  return {
    ...cloud,
    positions: pick(cloud.positions, rows),
    colors: pickOrNull(cloud.colors, rows),
    intensity: pickOrNull(cloud.intensity, rows),
    timestamps: pickOrNull(cloud.timestamps, rows),
    origins: pickOrNull(cloud.origins, rows),
    extras: new Map([...cloud.extras].map(([slug, column]) => [slug, pick(column, rows)])),
    base: new Set(),
    steps: [],
    labels: new Map(),
    pose: null,
  };
}

/** With an octree of its surviving hits, nothing stale. */
export function built(cloud: ModelCloud): ModelCloud {
  const octreeCount = survivors(cloud).length;
  return { ...cloud, current: contentOf(cloud, null), rendered: null, pose: null, octreeCount };
}
/** What an octree of the cloud as it is holds. */
export function contentOf(cloud: ModelCloud, id: string | null): BuiltOctree {
  const rows = editable(cloud);
  const misses = survivors(cloud).filter((row) => !isHit(cloud, row));
  return {
    id,
    positions: pick(cloud.positions, rows),
    extras: new Map([...cloud.extras].map(([slug, column]) => [slug, pick(column, rows)])),
    misses: pick(cloud.positions, misses),
  };
}
/** After an edit that the octree does not show. */
export const stale = (cloud: ModelCloud): ModelCloud => ({
  ...cloud,
  current: null,
  rendered: cloud.current ?? cloud.rendered,
  pose: null,
});

/** Mask folded into the floor, no label stroke left to take back. */
export const undoBoundary = (cloud: ModelCloud, alsoDeleted: Iterable<number> = []): ModelCloud => ({
  ...cloud,
  base: new Set([...deletedRows(cloud), ...alsoDeleted]),
  steps: [],
  labels: new Map(),
});

/** A new session of those rows of `parent`. */
export function childOf(parent: ModelCloud, rows: readonly number[]): ModelCloud {
  const child = gather(parent, rows);
  const lostHits = parent.lostHits + hitCount(parent) - hitCount(child);
  return built({ ...child, lostHits, normalsStale: undefined });
}

export const hasNormals = (cloud: ModelCloud): boolean => NORMALS.every((slug) => cloud.extras.has(slug));

export function counts(cloud: ModelCloud) {
  const total_count = rowCount(cloud);
  const remaining_count = survivors(cloud).length;
  return {
    total_count,
    remaining_count,
    deleted_count: total_count - remaining_count,
    pending_deleted_count: Math.max(0, (cloud.octreeCount ?? total_count) - remaining_count),
  };
}
