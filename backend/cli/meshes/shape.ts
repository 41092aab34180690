import type { WorldMesh } from "./mesh.ts";

/** What kind of surface a mesh is. */
export interface MeshShape {
  readonly vertex_count: number;
  readonly triangle_count: number;
  readonly area_m2: number;
  /** Edges of one triangle only: the rim of holes. */
  readonly boundary_edge_count: number;
  /** Edges of more than two triangles. */
  readonly non_manifold_edge_count: number;
  /** Parts that share no vertex. */
  readonly component_count: number;
  /** Every edge belongs to two triangles. */
  readonly is_closed: boolean;
  /** Enclosed by a closed mesh, cubic metres; negative if it is turned inside out; null for an open mesh. */
  readonly volume_m3: number | null;
}

/** Measures a mesh. Vertices at one place count as one. */
export function meshShape(mesh: WorldMesh): MeshShape {
  const { vertices, indices } = mesh;
  const place = places(vertices);
  const edges = edgeCounts(indices, place);
  const is_closed = indices.length > 0 && edges.boundary === 0 && edges.non_manifold === 0;
  let [area, volume] = [0, 0];
  for (let i = 0; i < indices.length; i += 3) {
    const corner = (k: number, axis: number) => vertices[3 * (indices[i + k] ?? 0) + axis] ?? 0;
    const [ax, ay, az] = [corner(0, 0), corner(0, 1), corner(0, 2)];
    const [ux, uy, uz] = [corner(1, 0) - ax, corner(1, 1) - ay, corner(1, 2) - az];
    const [vx, vy, vz] = [corner(2, 0) - ax, corner(2, 1) - ay, corner(2, 2) - az];
    const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    area += Math.hypot(nx, ny, nz) / 2;
    volume += (ax * nx + ay * ny + az * nz) / 6;
  }
  return {
    vertex_count: vertices.length / 3,
    triangle_count: indices.length / 3,
    area_m2: area,
    boundary_edge_count: edges.boundary,
    non_manifold_edge_count: edges.non_manifold,
    component_count: components(indices, place),
    is_closed,
    volume_m3: is_closed ? volume : null,
  };
}

/** For each vertex the first one at its place. */
function places(vertices: Float32Array): Uint32Array {
  const count = vertices.length / 3;
  const place = new Uint32Array(count);
  // Open addressing: twice as many slots as vertices, 0 = empty.
  const size = 2 ** Math.ceil(Math.log2(Math.max(2, 2 * count)));
  const slots = new Uint32Array(size);
  // Zero and minus zero are one place.
  const bits = new Int32Array(vertices.map((value) => value + 0).buffer);
  for (let i = 0; i < count; i += 1) {
    const [x = 0, y = 0, z = 0] = [bits[3 * i], bits[3 * i + 1], bits[3 * i + 2]];
    let hash = Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca77) ^ Math.imul(z, 0xc2b2ae3d);
    hash ^= hash >>> 15;
    let slot = Math.imul(hash, 0x2c1b3c6d) & (size - 1);
    for (;;) {
      const other = slots[slot] ?? 0;
      if (other === 0) {
        slots[slot] = i + 1;
        place[i] = i;
        break;
      }
      const j = other - 1;
      if (bits[3 * j] === x && bits[3 * j + 1] === y && bits[3 * j + 2] === z) {
        place[i] = j;
        break;
      }
      slot = (slot + 1) & (size - 1);
    }
  }
  return place;
}

/** Edges by the number of their triangles. */
function edgeCounts(indices: Uint32Array, place: Uint32Array): { boundary: number; non_manifold: number } {
  const count = place.length;
  const keys = new Float64Array(indices.length);
  let used = 0;
  for (let i = 0; i < indices.length; i += 3) {
    for (let k = 0; k < 3; k += 1) {
      const a = place[indices[i + k] ?? 0] ?? 0;
      const b = place[indices[i + ((k + 1) % 3)] ?? 0] ?? 0;
      // Below 2^53 for up to 94 million vertices.
      if (a !== b) keys[used++] = Math.min(a, b) * count + Math.max(a, b);
    }
  }
  const sorted = keys.subarray(0, used).sort();
  let [boundary, non_manifold] = [0, 0];
  for (let i = 0; i < used; ) {
    let end = i + 1;
    while (end < used && sorted[end] === sorted[i]) end += 1;
    if (end - i === 1) boundary += 1;
    else if (end - i > 2) non_manifold += 1;
    i = end;
  }
  return { boundary, non_manifold };
}

/** Parts that share no vertex (union-find with halved paths). */
function components(indices: Uint32Array, place: Uint32Array): number {
  const parent = Uint32Array.from({ length: place.length }, (_, i) => i);
  const root = (start: number) => {
    let i = start;
    while (parent[i] !== i) {
      parent[i] = parent[parent[i] ?? 0] ?? 0;
      i = parent[i] ?? 0;
    }
    return i;
  };
  const used = new Uint8Array(place.length);
  let count = 0;
  for (let i = 0; i < indices.length; i += 3) {
    let first = -1;
    for (let k = 0; k < 3; k += 1) {
      const vertex = place[indices[i + k] ?? 0] ?? 0;
      if (used[vertex] === 0) {
        used[vertex] = 1;
        count += 1;
      }
      const own = root(vertex);
      if (first === -1) first = own;
      else if (own !== first) {
        parent[own] = first;
        count -= 1;
      }
    }
  }
  return count;
}
