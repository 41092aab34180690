// Triangles of a scene whose colours tell which tree and which cylinder they belong to.
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import type { SurfaceLists } from "../../../backend/native/ray.ts";
import { column } from "../native.ts";
import type { Vector } from "../vector.ts";

/** A list of numbers that grows. */
export class Numbers {
  #values = new Float64Array(1024);
  length = 0;

  #reserve(more: number): void {
    if (this.length + more <= this.#values.length) return;
    const wider = new Float64Array(2 * (this.length + more));
    wider.set(this.values);
    this.#values = wider;
  }
  append(more: Float64Array): void {
    this.#reserve(more.length);
    this.#values.set(more, this.length);
    this.length += more.length;
  }
  push(...more: readonly number[]): void {
    this.#reserve(more.length);
    for (const value of more) {
      this.#values[this.length] = value;
      this.length += 1;
    }
  }
  /** Valid until the next push. */
  get values(): Float64Array {
    return this.#values.subarray(0, this.length);
  }
}

/** Codes of the scanner for organs. */
export const SCANNED = { ground: 0, leaf: 1, wood: 3 } as const;
/** Cylinder of what is none. */
export const NO_CYLINDER = 0xffffffff;
const LARGEST = 65535;

/** Three whole numbers of 16 bits; a scan of one ray per pulse returns them as they are. */
export const codeOf = (tree: number, cylinder: number): Vector => [
  tree / LARGEST,
  Math.floor(cylinder / 65536) / LARGEST,
  (cylinder % 65536) / LARGEST,
];

export class Surface {
  readonly #vertices = new Numbers();
  readonly #colors = new Numbers();
  readonly #triangles = new Numbers();
  readonly #organs = new Numbers();

  get vertexCount(): number {
    return this.#vertices.length / 3;
  }
  get triangleCount(): number {
    return this.#organs.length;
  }
  vertex(place: Vector, code: Vector): number {
    this.#vertices.push(place[0], place[1], place[2]);
    this.#colors.push(code[0], code[1], code[2]);
    return this.vertexCount - 1;
  }
  triangle(a: number, b: number, c: number, organ: number): void {
    this.#triangles.push(a, b, c);
    this.#organs.push(organ);
  }
  /** Two triangles; a, b, c, d go round. */
  quad(a: number, b: number, c: number, d: number, organ: number): void {
    this.triangle(a, b, c, organ);
    this.triangle(a, c, d, organ);
  }
  /** A closed band between two rings of as many places. */
  band(low: readonly Vector[], high: readonly Vector[], code: Vector, organ: number): void {
    const first = this.vertexCount;
    for (const place of low) this.vertex(place, code);
    for (const place of high) this.vertex(place, code);
    const n = low.length;
    for (let k = 0; k < n; k += 1) {
      const next = (k + 1) % n;
      this.quad(first + k, first + next, first + n + next, first + n + k, organ);
    }
  }
  append(other: Surface): void {
    const first = this.vertexCount;
    this.#vertices.append(other.#vertices.values);
    this.#colors.append(other.#colors.values);
    this.#triangles.append(other.#triangles.values.map((vertex) => vertex + first));
    this.#organs.append(other.#organs.values);
  }
  /** The lists as the scanner takes them. */
  lists(): SurfaceLists {
    return { ...NO_SURFACE, ...this.#columns() };
  }
  #columns(): { [K in "vertices" | "triangles" | "colors" | "organs"]: NativeColumn } {
    return {
      vertices: column("vec3d", this.#vertices.values),
      triangles: column("f64", this.#triangles.values),
      colors: column("vec3d", this.#colors.values),
      organs: column("f64", this.#organs.values),
    };
  }
}

export const NO_SURFACE: SurfaceLists = {
  vertices: null,
  triangles: null,
  colors: null,
  uvs: null,
  organs: null,
  materials: [],
  triangle_textures: null,
  material_textures: [],
};
