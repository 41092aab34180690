// A raster scan by its beams: ranges, directions, and what the scanner sees of a place.
import type { SyntheticScan, SyntheticScanParams } from "../../backend/native/ray.ts";
import { ORGAN } from "./leafy-tree.ts";
import { values } from "./native.ts";
import type { Vector } from "./vector.ts";

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

export class RangeImage {
  readonly #xyz: Float64Array;
  readonly #miss: Uint8Array;
  readonly #organ: Uint8Array;
  readonly #rows: number;
  readonly #columns: number;

  /** `scan`: single returns with misses, so that row i of its columns is pulse i. */
  constructor(
    scan: SyntheticScan,
    readonly params: SyntheticScanParams,
  ) {
    const { row_count, pulse_count } = params.pattern;
    if (!scan.organ || scan.positions.length !== pulse_count) throw new Error("the scan has no organs or no misses");
    this.#xyz = values(scan.positions) as Float64Array;
    this.#miss = values(scan.is_miss) as Uint8Array;
    this.#organ = values(scan.organ) as Uint8Array;
    this.#rows = row_count;
    this.#columns = pulse_count / row_count;
  }

  get count(): number {
    return this.#miss.length;
  }
  isLeaf(i: number): boolean {
    return this.#miss[i] === 0 && this.#organ[i] === ORGAN.leaf;
  }
  at(i: number): Vector {
    return [this.#xyz[3 * i] ?? 0, this.#xyz[3 * i + 1] ?? 0, this.#xyz[3 * i + 2] ?? 0];
  }
  fromScanner = (p: Vector): Vector => minus(p, this.params.origin as Vector);

  /** Area across the beams that a hit stands for, square metres. */
  areaAcross(i: number): number {
    const { theta_first_rad, theta_step_rad, phi_step_rad } = this.params.pattern;
    const beam = this.fromScanner(this.at(i));
    return (
      dot(beam, beam) * Math.sin(theta_first_rad + (i % this.#rows) * theta_step_rad) * theta_step_rad * phi_step_rad
    );
  }

  /** Normal, of any length, from the hits on leaves beside a hit, at most `lmax` away; null without any. */
  normal(i: number, lmax: number): Vector | null {
    const p = this.at(i);
    const beside = (step: number, isIn: boolean): Vector | null => {
      if (!isIn || !this.isLeaf(i + step)) return null;
      const edge = minus(this.at(i + step), p);
      return dot(edge, edge) <= lmax * lmax ? edge : null;
    };
    const [row, column] = [i % this.#rows, Math.floor(i / this.#rows)];
    const up = [beside(-1, row > 0), beside(1, row + 1 < this.#rows)];
    const across = [beside(-this.#rows, column > 0), beside(this.#rows, column + 1 < this.#columns)];
    let sum: Vector | null = null;
    for (const [k, a] of up.entries())
      for (const [l, b] of across.entries()) {
        if (!a || !b) continue;
        const n = k === l ? cross(a, b) : cross(b, a);
        sum = sum === null ? n : [sum[0] + n[0], sum[1] + n[1], sum[2] + n[2]];
      }
    return sum;
  }

  /**
   * Whether the beam nearest to a place gets as far as the plane of the leaf there, up to the distance between two beams
   * and `slack_m`. A plane that is almost along the beam counts as at most `nearer_m` nearer than the place.
   */
  sees(p: Vector, normal: Vector | null, slack_m: number, nearer_m: number): boolean {
    const { theta_first_rad, theta_step_rad, phi_first_rad, phi_step_rad } = this.params.pattern;
    const d = this.fromScanner(p);
    const far = Math.hypot(...d);
    const row = Math.round((Math.acos(d[2] / far) - theta_first_rad) / theta_step_rad);
    const turn = (2 * Math.PI) / phi_step_rad;
    const place = (Math.atan2(d[0], d[1]) - phi_first_rad) / phi_step_rad - row / this.#rows;
    const column = Math.round(place - turn * Math.floor(place / turn));
    if (row < 0 || row >= this.#rows || column >= this.#columns) return false;
    const i = column * this.#rows + row;
    if (this.#miss[i] !== 0) return true;
    const beam = this.fromScanner(this.at(i));
    const range = Math.hypot(...beam);
    const along = normal ? (dot(normal, d) / dot(normal, beam)) * range : far;
    const wanted = along > far ? far : Math.abs(along - far) < nearer_m ? along : far - nearer_m;
    return range >= wanted - far * theta_step_rad - slack_m;
  }
}
