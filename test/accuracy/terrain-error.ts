// The error of the terrain that the ground points of a labelling make.
import { terrainRaster } from "../../backend/native/terrain.ts";
import { column, positions, values } from "./native.ts";
import type { Relief } from "./relief.ts";

/** A square cloud whose exact height is known everywhere. */
export type KnownTerrain = Pick<Relief, "xyz" | "side" | "height">;

interface Place {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** Height at cell centres from the nearest 8 ground points: plane of least squares, weights 1 / distance^2. */
class Surface {
  /** Cells on a side. */
  readonly #count: number;
  readonly #cell: number;
  readonly #ground = new Map<number, Place[]>();

  constructor({ xyz, side }: KnownTerrain, labels: Uint8Array, cell: number) {
    this.#count = Math.ceil(side / cell);
    this.#cell = cell;
    for (let i = 0; i < labels.length; i += 1) {
      if (labels[i] !== 1) continue;
      const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = xyz.subarray(3 * i, 3 * i + 3);
      const key = this.#key(x, y);
      const bucket = this.#ground.get(key);
      if (bucket) bucket.push({ x, y, z });
      else this.#ground.set(key, [{ x, y, z }]);
    }
  }
  #key(x: number, y: number): number {
    const at = (value: number) => Math.min(this.#count - 1, Math.max(0, Math.floor(value / this.#cell)));
    return at(y) * this.#count + at(x);
  }
  #nearest(x: number, y: number, wanted: number) {
    const i = Math.floor(x / this.#cell);
    const j = Math.floor(y / this.#cell);
    const found: { readonly p: Place; readonly d: number }[] = [];
    for (let ring = 0; ring < this.#count; ring += 1) {
      for (let b = j - ring; b <= j + ring; b += 1) {
        if (b < 0 || b >= this.#count) continue;
        const step = b === j - ring || b === j + ring ? 1 : Math.max(1, 2 * ring);
        for (let a = i - ring; a <= i + ring; a += step) {
          if (a < 0 || a >= this.#count) continue;
          for (const p of this.#ground.get(b * this.#count + a) ?? [])
            found.push({ p, d: (p.x - x) ** 2 + (p.y - y) ** 2 });
        }
      }
      const safe = ((ring + 0.5) * this.#cell) ** 2;
      if (found.filter(({ d }) => d <= safe).length >= wanted) break;
    }
    return found.sort((a, b) => a.d - b.d).slice(0, wanted);
  }
  height(x: number, y: number): number {
    let [s, sx, sy, sxx, sxy, syy] = [0, 0, 0, 0, 0, 0];
    let [v, vx, vy] = [0, 0, 0];
    for (const { p, d } of this.#nearest(x, y, 8)) {
      const w = 1 / (d + 1e-4);
      const [dx, dy] = [p.x - x, p.y - y];
      s += w;
      sx += w * dx;
      sy += w * dy;
      sxx += w * dx * dx;
      sxy += w * dx * dy;
      syy += w * dy * dy;
      v += w * p.z;
      vx += w * dx * p.z;
      vy += w * dy * p.z;
    }
    const minor = sxx * syy - sxy * sxy;
    const det = s * minor - sx * (sx * syy - sxy * sy) + sy * (sx * sxy - sxx * sy);
    if (!(Math.abs(det) > 1e-9 * s * (sxx + syy) ** 2)) return v / s;
    return (v * minor - sx * (vx * syy - sxy * vy) + sy * (vx * sxy - sxx * vy)) / det;
  }
}

const CELL = 0.5;

/** Metres. */
export interface HeightErrors {
  readonly rmse: number;
  readonly bias: number;
}

/** Of `at(x, y, cell)` against the exact height at the centres of the cells. */
function errorsOf({ height, side }: KnownTerrain, at: (x: number, y: number, cell: number) => number): HeightErrors {
  const count = Math.floor(side / CELL);
  let sum = 0;
  let squares = 0;
  for (let j = 0; j < count; j += 1) {
    for (let i = 0; i < count; i += 1) {
      const x = (i + 0.5) * CELL;
      const y = (j + 0.5) * CELL;
      const error = at(x, y, j * count + i) - height(x, y);
      sum += error;
      squares += error ** 2;
    }
  }
  return { rmse: Math.sqrt(squares / (count * count)), bias: sum / (count * count) };
}

/** Of planes through the nearest ground points. */
export function planesRmse(cloud: KnownTerrain, labels: Uint8Array): number {
  const surface = new Surface(cloud, labels, CELL);
  return errorsOf(cloud, (x, y) => surface.height(x, y)).rmse;
}

/** Of the DTM that the service makes of the ground points; `at_centers` false = plain cells. */
export async function dtmErrors(cloud: KnownTerrain, labels: Uint8Array, at_centers = true): Promise<HeightErrors> {
  const xyz = positions(cloud.xyz);
  const skip = column(
    "u8",
    Uint8Array.from(labels, (label) => (label === 1 ? 0 : 1)),
  );
  const count = Math.floor(cloud.side / CELL);
  const frame = { min_x: 0, min_y: 0, cell: CELL, nx: count, ny: count };
  const params = { frame, percentile: 5, method: "tin", gaps: "fill", at_centers } as const;
  const raster = await terrainRaster(xyz, skip, params, null).promise;
  const z = values(raster.z);
  for (const one of [xyz, skip, raster.z]) one.release();
  return errorsOf(cloud, (_x, _y, cell) => z[cell] ?? Number.NaN);
}

/** Share of the points labelled ground that lie more than `above` metres above it. */
export function shareAbove({ xyz, height }: KnownTerrain, labels: Uint8Array, above: number): number {
  let ground = 0;
  let high = 0;
  for (let i = 0; i < labels.length; i += 1) {
    if (labels[i] !== 1) continue;
    const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = xyz.subarray(3 * i, 3 * i + 3);
    ground += 1;
    high += z > height(x, y) + above ? 1 : 0;
  }
  return high / Math.max(1, ground);
}
