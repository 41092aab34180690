// What the triangles of a plant's mesh add up to, computed from its corners alone.
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import type { NativePlantMesh } from "../../../backend/native/plants/mesh.ts";
import { columnBytes } from "../native/column-bytes.ts";

export interface MeshMeasures {
  readonly triangles: number;
  /** Numbers of places, normals, colours and texture coordinates that are not finite. */
  readonly not_finite: number;
  /** Triangles without area. */
  readonly flat: number;
  /** Normals that are not the unit normal of their triangle, to 1 degree or what the rounding of the corners allows. */
  readonly wrong_normals: number;
  /** Directed edges of stalks and shoots that no triangle beside them has the other way round. */
  readonly open_edges: number;
  /** Area of all blades, m2; a texture's holes are counted as blade. */
  readonly blade_area_m2: number;
  /** Volume within the tubes of all shoots, m3. */
  readonly wood_volume_m3: number;
  /** Least z, metres; infinite without triangles. */
  readonly low_m: number;
}

/** float32 rounds a corner to this share of its distance from the origin. */
const ROUNDING = 2 ** -23;

/** Organ codes. */
const [LEAF, PETIOLE, SHOOT, PEDUNCLE, PETIOLULE] = [1, 2, 3, 4, 6];
const TUBES: ReadonlySet<number | undefined> = new Set([PETIOLE, SHOOT, PEDUNCLE, PETIOLULE]);

const notFinite = (values: Float32Array): number =>
  values.reduce((count, value) => count + (Number.isFinite(value) ? 0 : 1), 0);

/** Numbers of equal places. */
function welded(vertices: Float32Array): Uint32Array {
  const bits = new Uint32Array(vertices.buffer, vertices.byteOffset, vertices.length);
  const count = vertices.length / 3;
  const ids = new Uint32Array(count);
  let size = 1;
  while (size < 2 * count) size *= 2;
  const table = new Int32Array(size).fill(-1);
  for (let v = 0; v < count; v += 1) {
    const [x = 0, y = 0, z = 0] = [bits[3 * v], bits[3 * v + 1], bits[3 * v + 2]];
    let at = (Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca6b) ^ Math.imul(z, 0xc2b2ae35)) >>> 0;
    at = Math.imul(at ^ (at >>> 15), 0x2c1b3c6d) >>> 0;
    for (at &= size - 1; ; at = (at + 1) & (size - 1)) {
      const other = table[at] ?? -1;
      if (other < 0) {
        table[at] = v;
        ids[v] = v;
        break;
      }
      if (bits[3 * other] === x && bits[3 * other + 1] === y && bits[3 * other + 2] === z) {
        ids[v] = other;
        break;
      }
    }
  }
  return ids;
}

/** Edges of the wanted triangles whose counts in both directions differ. */
function openEdges(ids: Uint32Array, wanted: (triangle: number) => boolean): number {
  const balance = new Map<number, number>();
  const span = ids.length;
  for (let t = 0; 3 * t < ids.length; t += 1) {
    if (!wanted(t)) continue;
    for (let k = 0; k < 3; k += 1) {
      const [from = 0, to = 0] = [ids[3 * t + k], ids[3 * t + ((k + 1) % 3)]];
      const key = from < to ? from * span + to : to * span + from;
      const now = (balance.get(key) ?? 0) + (from < to ? 1 : -1);
      if (now === 0) balance.delete(key);
      else balance.set(key, now);
    }
  }
  return balance.size;
}

/** Measures a mesh and leaves it to the caller. */
export function meshMeasures(mesh: NativePlantMesh): MeshMeasures {
  const floats = (column: NativeColumn | null) =>
    column === null ? new Float32Array() : new Float32Array(columnBytes(column));
  const vertices = floats(mesh.vertices);
  const normals = floats(mesh.normals);
  const codes = new Uint32Array(columnBytes(mesh.organ_codes));
  const sums = { flat: 0, wrong_normals: 0, blade_area_m2: 0, wood_volume_m3: 0, low_m: Infinity };
  for (let t = 0; t < codes.length; t += 1) {
    const p = (corner: number, axis: number): number => vertices[9 * t + 3 * corner + axis] ?? Number.NaN;
    const e = (corner: number, axis: number): number => p(corner, axis) - p(0, axis);
    const [nx, ny, nz] = [
      e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1),
      e(1, 2) * e(2, 0) - e(1, 0) * e(2, 2),
      e(1, 0) * e(2, 1) - e(1, 1) * e(2, 0),
    ];
    const double_area = Math.hypot(nx, ny, nz);
    if (!(double_area > 0)) sums.flat += 1;
    else {
      const longest = Math.max(Math.hypot(e(1, 0), e(1, 1), e(1, 2)), Math.hypot(e(2, 0), e(2, 1), e(2, 2)));
      const from_origin = Math.hypot(p(0, 0), p(0, 1), p(0, 2));
      const allowed = Math.min(1, 2e-4 + (2 * ROUNDING * from_origin * longest) / double_area);
      const n = (k: number): number => normals[9 * t + k] ?? Number.NaN;
      const cosine = (nx * n(0) + ny * n(1) + nz * n(2)) / double_area;
      if (!(cosine > 1 - allowed) || !(Math.abs(Math.hypot(n(0), n(1), n(2)) - 1) < 1e-5)) sums.wrong_normals += 1;
    }
    if (codes[t] === LEAF) sums.blade_area_m2 += double_area / 2;
    if (codes[t] === SHOOT) sums.wood_volume_m3 += (nx * p(0, 0) + ny * p(0, 1) + nz * p(0, 2)) / 6;
    for (let corner = 0; corner < 3; corner += 1) {
      sums.low_m = Math.min(sums.low_m, p(corner, 2));
    }
  }
  return {
    ...sums,
    triangles: codes.length,
    not_finite: [vertices, normals, floats(mesh.colors), floats(mesh.uvs)].reduce((n, all) => n + notFinite(all), 0),
    open_edges: openEdges(welded(vertices), (t) => TUBES.has(codes[t])),
  };
}
