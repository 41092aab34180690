import type { MeshParts, WorldMesh } from "./mesh.ts";

/** Vertices or triangles per block. */
const BLOCK = 1 << 15;

/**
 * A binary PLY file (little-endian) with coordinates in float64, true world, metres.
 * organs  (T) 0..255, written as the property `organ` of each face.
 */
export function* plyParts({ origin, vertices, indices, normals, colors }: WorldMesh, organs?: Uint32Array): MeshParts {
  const [v_count, t_count] = [vertices.length / 3, indices.length / 3];
  yield [
    "ply",
    "format binary_little_endian 1.0",
    "comment coordinates in metres",
    `element vertex ${v_count}`,
    ..."xyz".split("").map((name) => `property double ${name}`),
    ...(normals ? ["nx", "ny", "nz"].map((name) => `property float ${name}`) : []),
    ...(colors ? ["red", "green", "blue"].map((name) => `property uchar ${name}`) : []),
    `element face ${t_count}`,
    "property list uchar uint vertex_indices",
    ...(organs ? ["property uchar organ"] : []),
    "end_header\n",
  ].join("\n");
  const bytes = 24 + (normals ? 12 : 0) + (colors ? 3 : 0);
  for (let first = 0; first < v_count; first += BLOCK) {
    const count = Math.min(BLOCK, v_count - first);
    const block = new DataView(new ArrayBuffer(bytes * count));
    for (let i = 0; i < count; i += 1) {
      let at = bytes * i;
      for (let k = 0; k < 3; k += 1, at += 8)
        block.setFloat64(at, (vertices[3 * (first + i) + k] ?? 0) + (origin[k] ?? 0), true);
      if (normals)
        for (let k = 0; k < 3; k += 1, at += 4) block.setFloat32(at, normals[3 * (first + i) + k] ?? 0, true);
      if (colors)
        for (let k = 0; k < 3; k += 1, at += 1)
          block.setUint8(at, colorByte(colors[3 * (first + i) + k] ?? Number.NaN));
    }
    yield new Uint8Array(block.buffer);
  }
  const face_bytes = organs ? 14 : 13;
  for (let first = 0; first < t_count; first += BLOCK) {
    const count = Math.min(BLOCK, t_count - first);
    const block = new DataView(new ArrayBuffer(face_bytes * count));
    for (let i = 0; i < count; i += 1) {
      const at = face_bytes * i;
      block.setUint8(at, 3);
      for (let k = 0; k < 3; k += 1) block.setUint32(at + 1 + 4 * k, indices[3 * (first + i) + k] ?? 0, true);
      if (organs) block.setUint8(at + 13, organs[first + i] ?? 0);
    }
    yield new Uint8Array(block.buffer);
  }
}

/** 0..1 as a byte; NaN = light grey, as the service draws it. */
export const colorByte = (value: number): number =>
  Number.isNaN(value) ? 204 : Math.round(255 * Math.min(1, Math.max(0, value)));
