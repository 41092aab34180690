// A forest as a scanner sees it that is carried between the trees: dense stems, crowns, understorey of up to a metre,
// and ground only where nothing stands before it.
import { gaussian, type Uniform, uniform } from "./random.ts";
import { type Height, type Relief, valueNoise } from "./relief.ts";
import type { Vector } from "./vector.ts";

const SIDE = 48;
const STEMS_PER_M2 = 0.14;
/** Metres above the ground. */
const SCANNER = 1.5;
const LANE = 12;
const REACH = 25;
const RANGE_NOISE = 0.015;
const POSITIONS = 4000;
const BEAMS_AT_ONCE = 500;

/** A stem is a cylinder; leaves fill an ellipsoid about (x, y, z) and stop a beam `extinction` times per metre. */
interface Plant {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly radius: number;
  readonly height: number;
  /** Null: a stem. */
  readonly extinction: number | null;
}

/** Bilinear between heights 0.25 m apart. */
class Terrain {
  static readonly STEP = 0.25;
  readonly #across = SIDE / Terrain.STEP + 2;
  readonly #heights: Float64Array;

  constructor(seed: number) {
    const octaves = [1.6, 0.7, 0.3, 0.12, 0.06, 0.03].map((amplitude, k) => ({
      noise: valueNoise(seed + k, 32 / 2 ** k, SIDE + 1),
      amplitude,
    }));
    this.#heights = Float64Array.from({ length: this.#across ** 2 }, (_, cell) => {
      const x = (cell % this.#across) * Terrain.STEP;
      const y = Math.floor(cell / this.#across) * Terrain.STEP;
      return octaves.reduce((z, { noise, amplitude }) => z + amplitude * noise(x, y), 0.08 * x);
    });
  }

  height: Height = (x, y) => {
    const [u, v] = [x / Terrain.STEP, y / Terrain.STEP];
    const [i, j] = [Math.floor(u), Math.floor(v)];
    const at = (cell: number) => this.#heights[cell] ?? Number.NaN;
    const corner = j * this.#across + i;
    const low = at(corner) + (u - i) * (at(corner + 1) - at(corner));
    const next = corner + this.#across;
    return low + (v - j) * (at(next) + (u - i) * (at(next + 1) - at(next)) - low);
  };
}

/** Trees, and shrubs and herbs until they cover `understorey` times the plot. */
function plantsOn(height: Height, next: Uniform, understorey: number): Plant[] {
  const plants: Plant[] = [];
  const place = () => [SIDE * next(), SIDE * next()] as const;
  for (let i = 0; i < STEMS_PER_M2 * SIDE * SIDE; i += 1) {
    const [x, y] = place();
    const z = height(x, y);
    const tall = 10 + 8 * next();
    plants.push({ x, y, z, radius: 0.05 + 0.12 * next(), height: tall, extinction: null });
    plants.push({ x, y, z: z + 0.7 * tall, radius: 0.8 + 0.8 * next(), height: 0.3 * tall, extinction: 0.8 });
  }
  for (let covered = 0; covered < understorey * SIDE * SIDE; ) {
    const [x, y] = place();
    const radius = 0.3 + 0.9 * next();
    covered += Math.PI * radius ** 2;
    plants.push({ x, y, z: height(x, y), radius, height: 0.25 + 0.75 * next(), extinction: 2.5 + 4 * next() });
  }
  return plants;
}

/** Where a beam enters and leaves the plant's surface, metres along it; null if it misses it. */
function crossing(plant: Plant, from: Vector, along: Vector): readonly [number, number] | null {
  const flat = 1 / plant.radius ** 2;
  const up = plant.extinction === null ? 0 : 1 / plant.height ** 2;
  const [x, y, z] = [from[0] - plant.x, from[1] - plant.y, from[2] - plant.z];
  const a = flat * (along[0] ** 2 + along[1] ** 2) + up * along[2] ** 2;
  const b = flat * (x * along[0] + y * along[1]) + up * z * along[2];
  const squared = b * b - a * (flat * (x * x + y * y) + up * z * z - 1);
  if (squared <= 0 || Math.sqrt(squared) <= b) return null;
  return [Math.max(0, (-b - Math.sqrt(squared)) / a), (-b + Math.sqrt(squared)) / a];
}

interface Hit {
  /** Metres from the scanner. */
  readonly range: number;
  readonly ground: boolean;
}

const NONE: readonly number[] = [];

/** The plants of each square metre, and what stops a beam. */
class Stand {
  readonly #plants: readonly Plant[];
  readonly #squares: readonly number[][] = Array.from({ length: SIDE * SIDE }, () => []);
  /** The last beam that met each plant. */
  readonly #met: Uint32Array;
  #beam = 0;
  readonly #height: Height;
  readonly #next: Uniform;

  constructor(plants: readonly Plant[], height: Height, next: Uniform) {
    this.#plants = plants;
    this.#met = new Uint32Array(plants.length);
    this.#height = height;
    this.#next = next;
    const square = (value: number) => Math.min(SIDE - 1, Math.max(0, Math.floor(value)));
    for (const [index, { x, y, radius }] of plants.entries()) {
      for (let j = square(y - radius); j <= square(y + radius); j += 1)
        for (let i = square(x - radius); i <= square(x + radius); i += 1) this.#squares[j * SIDE + i]?.push(index);
    }
  }

  /** True where a stem leaves no room for the scanner. */
  blocked(x: number, y: number): boolean {
    return this.#plants.some((p) => p.extinction === null && Math.hypot(p.x - x, p.y - y) < p.radius + 0.3);
  }

  /** Metres to the first hit on a plant; between the leaves of one the free path is exponential. */
  #rangeTo(plant: Plant, from: Vector, along: Vector): number {
    const crossed = crossing(plant, from, along);
    if (!crossed) return Infinity;
    const [enter, leave] = crossed;
    if (plant.extinction === null)
      return from[2] + enter * along[2] < plant.z + plant.height && enter > 0 ? enter : Infinity;
    const hit = enter - Math.log(1 - this.#next()) / plant.extinction;
    return hit < leave ? hit : Infinity;
  }

  /** Null: nothing within reach, or the beam leaves the plot. */
  firstHit(from: Vector, along: Vector): Hit | null {
    this.#beam += 1;
    const step = 0.2;
    let plant = Infinity;
    let before = Number.NaN;
    let last = -1;
    for (let range = 0; range < REACH; range += step) {
      const [x, y, z] = [from[0] + range * along[0], from[1] + range * along[1], from[2] + range * along[2]];
      if (x < 0 || y < 0 || x >= SIDE || y >= SIDE) return null;
      const above = z - this.#height(x, y);
      const ground = above <= 0 ? range - (step * above) / (above - before) : Infinity;
      if (Math.min(plant, ground) <= range)
        return plant < ground ? { range: plant, ground: false } : { range: ground, ground: true };
      before = above;
      const square = Math.floor(y) * SIDE + Math.floor(x);
      const near = square === last ? undefined : this.#squares[square];
      last = square;
      for (const index of near ?? NONE) {
        const one = this.#plants[index];
        if (!one || this.#met[index] === this.#beam) continue;
        this.#met[index] = this.#beam;
        plant = Math.min(plant, this.#rangeTo(one, from, along));
      }
    }
    return null;
  }
}

/** Lanes up and down the plot, with a sway. */
function walk(part: number): readonly [number, number] {
  const lanes = SIDE / LANE;
  const lane = Math.min(lanes - 1, Math.floor(part * lanes));
  const along = part * lanes - lane;
  const x = 2 + (SIDE - 4) * (lane % 2 === 0 ? along : 1 - along);
  return [x, (lane + 0.5) * LANE + 1.5 * Math.sin(x / 3)];
}

/** A beam of a scanner that turns in all directions but straight down. */
function direction(next: Uniform): Vector {
  const up = -0.95 + 1.95 * next();
  const angle = 2 * Math.PI * next();
  const flat = Math.sqrt(1 - up * up);
  return [flat * Math.cos(angle), flat * Math.sin(angle), up];
}

/** The cloud; `understorey`: the area of its plants, of the plot's. */
export function walkedForest(seed: number, understorey: number): Relief {
  const { height } = new Terrain(seed);
  const next = uniform(seed);
  const stand = new Stand(plantsOn(height, next, understorey), height, next);
  const xyz: number[] = [];
  const truth: number[] = [];
  for (let k = 0; k < POSITIONS; k += 1) {
    const [x, y] = walk(k / POSITIONS);
    if (stand.blocked(x, y)) continue;
    const from: Vector = [x, y, height(x, y) + SCANNER];
    for (let beam = 0; beam < BEAMS_AT_ONCE; beam += 1) {
      const along = direction(next);
      const hit = stand.firstHit(from, along);
      if (!hit) continue;
      const range = hit.range + RANGE_NOISE * gaussian(next);
      const [px, py] = [from[0] + range * along[0], from[1] + range * along[1]];
      if (px < 0 || py < 0 || px >= SIDE || py >= SIDE) continue; // noise beyond the edge
      xyz.push(px, py, from[2] + range * along[2]);
      truth.push(hit.ground ? 1 : 2);
    }
  }
  return { xyz: Float64Array.from(xyz), truth: Uint8Array.from(truth), height, side: SIDE };
}
