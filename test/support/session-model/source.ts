import { built, MISS, type ModelCloud, type Vec3 } from "./cloud.ts";

/** What a generated source file is like; small numbers shrink to small files. */
export interface CloudWish {
  readonly seed: number;
  readonly rows: number;
  /** One bit per optional column of COLUMNS. */
  readonly columns: number;
  readonly place: number;
  /** Only coordinates on the lattice of half metres: moving them by halves and quarter turns loses nothing. */
  readonly exact?: boolean;
}

/** A small seeded generator of numbers in 0..1. */
export function random(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Corner of the data and what create subtracts. */
const PLACES: readonly { readonly corner: Vec3; readonly shift: Vec3 | null }[] = [
  { corner: [0, 0, 0], shift: null },
  { corner: [500_000, 4_000_000, 100], shift: [500_000, 4_000_000, 0] },
  { corner: [500_016, 4_000_008, 100], shift: [500_000, 3_999_992, 64] },
  { corner: [-8, -4, -2], shift: null },
];

interface Row {
  readonly position: Vec3;
  readonly color: Vec3;
  readonly intensity: number;
  readonly time: number;
  readonly origin: Vec3;
  readonly extras: Readonly<Record<string, number>>;
}

const EXTRAS = [
  MISS,
  "cls",
  "frac",
  "spread",
  "tree_instance",
  "nx",
  "ny",
  "nz",
  "verticality",
  "distance",
  "manual_class",
] as const;
/** Bit of each optional column; normals come together. */
const BITS: readonly (readonly string[])[] = [
  ["colors"],
  ["intensity"],
  ["timestamps"],
  ["origins"],
  [MISS],
  ["cls"],
  ["frac"],
  ["spread"],
  ["tree_instance"],
  ["nx", "ny", "nz"],
  ["verticality"],
  ["distance"],
  ["manual_class"],
];
export const COLUMN_BITS = BITS.length;

function rowOf(next: () => number, first: boolean, corner: Vec3, exact: boolean): Row {
  const lattice = next() < 0.8 || exact;
  const coordinate = (axis: 0 | 1 | 2, size: number) =>
    corner[axis] + (lattice ? Math.floor(next() * size * 2) / 2 : Math.floor(next() * size * 1000) / 1000);
  const position: Vec3 = [coordinate(0, 4), coordinate(1, 4), coordinate(2, 2)];
  const whole = (size: number) => Math.floor(next() * size);
  const direction = [next() - 0.5, next() - 0.5, next() - 0.5] as const;
  const length = next() < 0.1 ? 0 : 1 / (Math.hypot(...direction) || 1);
  const odd = next();
  const spread = odd < 0.1 ? Number.NaN : odd < 0.15 ? Number.POSITIVE_INFINITY : (next() - 0.5) * 1e6;
  return {
    position,
    color: [whole(256), whole(256), whole(256)],
    intensity: whole(65_536),
    time: 350_000_000 + whole(4000) / 4,
    origin: [position[0] + whole(4), position[1] - whole(4) / 2, position[2] + 2],
    extras: asF32({
      is_miss: !first && next() < 0.15 ? 1 : 0,
      cls: whole(5),
      frac: whole(24) / 8 - (next() < 0.2 ? 0.1 : 0),
      spread,
      tree_instance: next() < 0.5 ? whole(4) : 1000 * whole(20_000),
      nx: direction[0] * length,
      ny: direction[1] * length,
      nz: direction[2] * length,
      verticality: whole(90),
      distance: next() * 100,
      manual_class: whole(3),
    }),
  };
}

const minus = (a: Vec3, b: Vec3 | null): Vec3 => (b ? [a[0] - b[0], a[1] - b[1], a[2] - b[2]] : a);
/** Values that every column type keeps as they are. */
const asF32 = (values: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(values).map(([slug, value]) => [slug, Math.fround(value)]));
const text = (value: number): string =>
  Number.isNaN(value) ? "nan" : value === Number.POSITIVE_INFINITY ? "inf" : `${value}`;

/** A text file and the session that must come of it. Intensity is rescaled by the reader: the caller fills it in. */
export function sourceOf(wish: CloudWish): { text: string; world_shift: Vec3 | null; cloud: ModelCloud } {
  const { corner, shift } = PLACES[wish.place % PLACES.length] ?? { corner: [0, 0, 0] as const, shift: null };
  const next = random(wish.seed);
  const rows = Array.from({ length: wish.rows }, (_, i) => rowOf(next, i === 0, corner, wish.exact === true));
  const has = (name: string) => BITS.some((names, bit) => (wish.columns >> bit) % 2 === 1 && names.includes(name));
  const extras = EXTRAS.filter(has);
  const header = [
    "x y z",
    has("colors") ? "r g b" : "",
    has("intensity") ? "intensity" : "",
    has("timestamps") ? "time" : "",
    has("origins") ? "ox oy oz" : "",
    ...extras,
  ];
  const line = (row: Row) => [
    ...row.position,
    ...(has("colors") ? row.color : []),
    ...(has("intensity") ? [row.intensity] : []),
    ...(has("timestamps") ? [row.time] : []),
    ...(has("origins") ? row.origin : []),
    ...extras.map((slug) => row.extras[slug] ?? 0),
  ];
  const cloud: ModelCloud = {
    positions: rows.map(({ position }) => minus(position, shift)),
    colors: has("colors") ? rows.map(({ color: [r, g, b] }) => [r * 256, g * 256, b * 256]) : null,
    intensity: has("intensity") ? rows.map(() => 0) : null,
    units: null,
    timestamps: has("timestamps") ? rows.map(({ time }) => time) : null,
    origins: has("origins") ? rows.map(({ origin }) => minus(origin, shift)) : null,
    extras: new Map(extras.map((slug) => [slug, rows.map((row) => row.extras[slug] ?? 0)])),
    shift,
    base: new Set(),
    steps: [],
    labels: new Map(),
    current: null,
    rendered: null,
    pose: null,
    octreeCount: null,
    lostHits: 0,
    normalsStale: undefined,
    inexact: new Set(),
  };
  const lines = [header.filter((name) => name !== "").join(" "), ...rows.map((row) => line(row).map(text).join(" "))];
  return { text: `${lines.join("\n")}\n`, world_shift: shift, cloud: built(cloud) };
}
