// A forest as a scanner sees it that is carried between the trees: dense stems, crowns, understorey of up to a metre,
// and ground only where nothing stands before it.
import { gaussian, type Uniform, uniform } from "./random.ts";
import { type Height, type Relief, valueNoise } from "./relief.ts";
import type { Vector } from "./vector.ts";

const STEMS_PER_M2 = 0.14;
/** Metres above the ground. */
const SCANNER = 1.5;
const REACH = 25;

/** How the forest is walked through. */
export interface Walk {
  readonly seed: number;
  /** Area of the plants of the understorey, of the plot's. */
  readonly understorey: number;
  readonly side_m: number;
  readonly lane_m: number;
  readonly range_noise_m: number;
  readonly positions: number;
  readonly beams_at_once: number;
  /** What is added to the points of a position, of which there are ten in a second: metres along x, y and z. */
  readonly drift: (time_s: number) => Vector;
}

const DEFAULT_WALK = {
  side_m: 48,
  lane_m: 12,
  range_noise_m: 0.015,
  positions: 4000,
  beams_at_once: 500,
  drift: (): Vector => [0, 0, 0],
};

/** A stem of the forest; its points and those of its crown have the id. */
export interface WalkedStem {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface WalkedForest extends Relief {
  /** Seconds, of each point. */
  readonly time: Float64Array;
  /** Of each point; 0 = none. */
  readonly tree: Uint32Array;
  readonly stems: readonly WalkedStem[];
}

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
  readonly #across: number;
  readonly #heights: Float64Array;

  constructor({ seed, side_m }: Pick<Walk, "seed" | "side_m">) {
    this.#across = side_m / Terrain.STEP + 2;
    const octaves = [1.6, 0.7, 0.3, 0.12, 0.06, 0.03].map((amplitude, k) => ({
      noise: valueNoise(seed + k, 32 / 2 ** k, side_m + 1),
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
function plantsOn(height: Height, next: Uniform, { understorey, side_m }: Walk): Plant[] {
  const plants: Plant[] = [];
  const place = () => [side_m * next(), side_m * next()] as const;
  for (let i = 0; i < STEMS_PER_M2 * side_m * side_m; i += 1) {
    const [x, y] = place();
    const z = height(x, y);
    const tall = 10 + 8 * next();
    plants.push({ x, y, z, radius: 0.05 + 0.12 * next(), height: tall, extinction: null });
    plants.push({ x, y, z: z + 0.7 * tall, radius: 0.8 + 0.8 * next(), height: 0.3 * tall, extinction: 0.8 });
  }
  for (let covered = 0; covered < understorey * side_m * side_m; ) {
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
  /** Place of the plant in the list; null: the ground. */
  readonly plant: number | null;
}

const NONE: readonly number[] = [];

/** The plants of each square metre, and what stops a beam. */
class Stand {
  readonly #plants: readonly Plant[];
  readonly #squares: readonly number[][];
  readonly #side: number;
  /** The last beam that met each plant. */
  readonly #met: Uint32Array;
  #beam = 0;
  readonly #height: Height;
  readonly #next: Uniform;

  constructor(plants: readonly Plant[], height: Height, next: Uniform, side: number) {
    this.#plants = plants;
    this.#side = side;
    this.#squares = Array.from({ length: side * side }, () => []);
    this.#met = new Uint32Array(plants.length);
    this.#height = height;
    this.#next = next;
    const square = (value: number) => Math.min(side - 1, Math.max(0, Math.floor(value)));
    for (const [index, { x, y, radius }] of plants.entries()) {
      for (let j = square(y - radius); j <= square(y + radius); j += 1)
        for (let i = square(x - radius); i <= square(x + radius); i += 1) this.#squares[j * side + i]?.push(index);
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
    let nearest: number | null = null;
    let before = Number.NaN;
    let last = -1;
    for (let range = 0; range < REACH; range += step) {
      const [x, y, z] = [from[0] + range * along[0], from[1] + range * along[1], from[2] + range * along[2]];
      if (x < 0 || y < 0 || x >= this.#side || y >= this.#side) return null;
      const above = z - this.#height(x, y);
      const ground = above <= 0 ? range - (step * above) / (above - before) : Infinity;
      if (Math.min(plant, ground) <= range)
        return plant < ground
          ? { range: plant, ground: false, plant: nearest }
          : { range: ground, ground: true, plant: null };
      before = above;
      const square = Math.floor(y) * this.#side + Math.floor(x);
      const near = square === last ? undefined : this.#squares[square];
      last = square;
      for (const index of near ?? NONE) {
        const one = this.#plants[index];
        if (!one || this.#met[index] === this.#beam) continue;
        this.#met[index] = this.#beam;
        const at = this.#rangeTo(one, from, along);
        if (at >= plant) continue;
        plant = at;
        nearest = index;
      }
    }
    return null;
  }
}

/** Lanes up and down the plot, with a sway. */
function placeOf(part: number, { side_m, lane_m }: Walk): readonly [number, number] {
  const lanes = side_m / lane_m;
  const lane = Math.min(lanes - 1, Math.floor(part * lanes));
  const along = part * lanes - lane;
  const x = 2 + (side_m - 4) * (lane % 2 === 0 ? along : 1 - along);
  return [x, (lane + 0.5) * lane_m + 1.5 * Math.sin(x / 3)];
}

/** A beam of a scanner that turns in all directions but straight down. */
function direction(next: Uniform): Vector {
  const up = -0.95 + 1.95 * next();
  const angle = 2 * Math.PI * next();
  const flat = Math.sqrt(1 - up * up);
  return [flat * Math.cos(angle), flat * Math.sin(angle), up];
}

/** The cloud; the rest of the walk is that of DEFAULT_WALK. */
export function walkedForest(
  seed: number,
  understorey: number,
  more: Partial<Omit<Walk, "seed" | "understorey">> = {},
): WalkedForest {
  const walk: Walk = { ...DEFAULT_WALK, ...more, seed, understorey };
  const { side_m, positions } = walk;
  const { height } = new Terrain(walk);
  const next = uniform(seed);
  const plants = plantsOn(height, next, walk);
  const stand = new Stand(plants, height, next, side_m);
  const [xyz, truth, time, tree]: [number[], number[], number[], number[]] = [[], [], [], []];
  const treeOf = (plant: number | null) =>
    plant === null || plant >= 2 * STEMS_PER_M2 * side_m * side_m ? 0 : Math.floor(plant / 2) + 1;
  for (let k = 0; k < positions; k += 1) {
    const [x, y] = placeOf(k / positions, walk);
    if (stand.blocked(x, y)) continue;
    const from: Vector = [x, y, height(x, y) + SCANNER];
    const drift = walk.drift(k / 10);
    for (let beam = 0; beam < walk.beams_at_once; beam += 1) {
      const along = direction(next);
      const hit = stand.firstHit(from, along);
      if (!hit) continue;
      const range = hit.range + walk.range_noise_m * gaussian(next);
      const [px, py] = [from[0] + range * along[0], from[1] + range * along[1]];
      if (px < 0 || py < 0 || px >= side_m || py >= side_m) continue; // noise beyond the edge
      xyz.push(px + drift[0], py + drift[1], from[2] + range * along[2] + drift[2]);
      truth.push(hit.ground ? 1 : 2);
      time.push(k / 10);
      tree.push(treeOf(hit.plant));
    }
  }
  const stems = plants.flatMap(({ x, y, radius, extinction }, i) =>
    extinction === null ? [{ id: i / 2 + 1, x, y, radius }] : [],
  );
  return {
    xyz: Float64Array.from(xyz),
    truth: Uint8Array.from(truth),
    time: Float64Array.from(time),
    tree: Uint32Array.from(tree),
    stems,
    height,
    side: side_m,
  };
}
