// Synthetic relief with exact ground: fractal hills, terraces, a cliff, trees, shrubs, a crop field, houses, strays.
import type { Uniform } from "./random.ts";

/** The exact height at a place. */
export type Height = (x: number, y: number) => number;

const SIDE = 120;
const POINTS_PER_M2 = 10;
const RANGE_NOISE = 0.02;

/** Uniform numbers from a seed (mulberry32). */
function random(seed: number): Uniform {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const normal = (next: Uniform) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

/** Smooth noise of -1 to 1 on a lattice of `size` metres. */
export function valueNoise(seed: number, size: number, side = SIDE): Height {
  const cells = Math.ceil(side / size) + 2;
  const next = random(seed);
  const lattice = Float64Array.from({ length: cells * cells }, () => next() * 2 - 1);
  const ease = (t: number) => t * t * t * (t * (6 * t - 15) + 10);
  return (x, y) => {
    const i = Math.floor(x / size);
    const j = Math.floor(y / size);
    const u = ease(x / size - i);
    const v = ease(y / size - j);
    const at = (a: number, b: number) => lattice[(j + b) * cells + i + a] ?? Number.NaN;
    return (at(0, 0) * (1 - u) + at(1, 0) * u) * (1 - v) + (at(0, 1) * (1 - u) + at(1, 1) * u) * v;
  };
}

const clamp01 = (t: number) => Math.min(1, Math.max(0, t));

/** The exact terrain height. `rough` scales the relief. */
function terrain(seed: number, rough: number): Height {
  const octaves = [0, 1, 2, 3, 4, 5].map((k) => ({
    noise: valueNoise(seed + k, 60 / 2 ** k),
    amplitude: rough * 6 * 0.4 ** k,
  }));
  return (x, y) => {
    let z = octaves.reduce((sum, { noise, amplitude }) => sum + amplitude * noise(x, y), 0);
    if (x < 35 && y > 60) {
      const steps = z / 1.5; // terraces: treads, and risers on a fifth of the way
      const whole = Math.floor(steps);
      z = 1.5 * (whole + clamp01((steps - whole - 0.8) / 0.2));
    }
    const edge = 70 + 10 * Math.sin(y / 14); // a cliff of 6 m within 1.2 m
    return z + 6 * rough * clamp01((x - edge) / 1.2);
  };
}

function trees(next: Uniform, count: number, height: Height) {
  return Array.from({ length: count }, () => {
    const h = 5 + 15 * next();
    const x = 2 + (SIDE - 4) * next();
    const y = 2 + (SIDE - 4) * next();
    return { x, y, h, r: 1 + h * 0.13, base: height(x, y) };
  });
}

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly d: number;
}
const HOUSES = [
  { x: 90, y: 20, w: 12, d: 9, h: 6 },
  { x: 104, y: 40, w: 16, d: 14, h: 9 },
  { x: 15, y: 30, w: 8, d: 7, h: 4.5 },
];
const FIELD = { x: 20, y: 5, w: 30, d: 20 };
const within = (box: Rectangle, x: number, y: number) =>
  x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.d;

export interface Relief {
  readonly xyz: Float64Array;
  /** 1 ground, 2 not. */
  readonly truth: Uint8Array;
  readonly height: Height;
  /** Metres. */
  readonly side: number;
}

export function relief(seed: number, rough: number): Relief {
  const height = terrain(seed, rough);
  const next = random(seed * 7919 + 1);
  const stand = trees(next, 160, height);
  const xyz: number[] = [];
  const truth: number[] = [];
  const add = (x: number, y: number, z: number, label: number) => {
    xyz.push(x, y, z);
    truth.push(label);
  };
  for (let i = 0; i < SIDE * SIDE * POINTS_PER_M2; i += 1) {
    const x = SIDE * next();
    const y = SIDE * next();
    const z = height(x, y);
    const house = HOUSES.find((one) => within(one, x, y));
    const tree = stand.find((one) => (x - one.x) ** 2 + (y - one.y) ** 2 < one.r ** 2);
    const pick = next();
    if (house) {
      const base = height(house.x + house.w / 2, house.y + house.d / 2);
      add(x, y, base + house.h + 0.3 * Math.abs(x - house.x - house.w / 2) + RANGE_NOISE * normal(next), 2);
    } else if (tree && pick < 0.65) {
      const rim = Math.sqrt(1 - ((x - tree.x) ** 2 + (y - tree.y) ** 2) / tree.r ** 2);
      add(x, y, tree.base + tree.h * (0.6 + 0.4 * rim * (1 - 0.5 * next())), 2);
    } else if (within(FIELD, x, y) && pick < 0.6) {
      add(x, y, z + 0.5 + 0.4 * next(), 2);
    } else if (pick > 0.98) {
      add(x, y, z + 0.4 + 1.5 * next(), 2);
    } else if (pick > 0.9795) {
      add(x, y, z - 1 - 4 * next(), 2);
    } else {
      add(x, y, z + RANGE_NOISE * normal(next), 1);
    }
  }
  return { xyz: Float64Array.from(xyz), truth: Uint8Array.from(truth), height, side: SIDE };
}
