import type { QsmMesh } from "./qsm-tubes.ts";

const LINES_PER_PIECE = 4_096;

function* pieces(count: number, line: (i: number) => string): Generator<string> {
  for (let at = 0; at < count; at += LINES_PER_PIECE) {
    const end = Math.min(count, at + LINES_PER_PIECE);
    let text = "";
    for (let i = at; i < end; i += 1) text += line(i);
    yield text;
  }
}

/** A coordinate in the true world; vertices are to 0.1 mm, so that more digits would be noise. */
const world = ({ origin, vertices }: QsmMesh, i: number, axis: number) =>
  ((vertices[3 * i + axis] ?? 0) + (origin[axis] ?? 0)).toFixed(5);

/** A Wavefront OBJ file in pieces of text; true world coordinates, metres. */
export function* qsmObj(mesh: QsmMesh): Generator<string> {
  const { vertices, normals, indices } = mesh;
  yield "o wood\n";
  yield* pieces(vertices.length / 3, (i) => `v ${world(mesh, i, 0)} ${world(mesh, i, 1)} ${world(mesh, i, 2)}\n`);
  const part = (at: number) => (normals[at] ?? 0).toFixed(4);
  yield* pieces(normals.length / 3, (i) => `vn ${part(3 * i)} ${part(3 * i + 1)} ${part(3 * i + 2)}\n`);
  const corner = (at: number) => `${(indices[at] ?? 0) + 1}//${(indices[at] ?? 0) + 1}`;
  yield* pieces(indices.length / 3, (t) => `f ${corner(3 * t)} ${corner(3 * t + 1)} ${corner(3 * t + 2)}\n`);
}

/** A binary PLY file; true world coordinates in doubles, metres. */
export function qsmPly(mesh: QsmMesh): Uint8Array {
  const { origin, vertices, normals, indices } = mesh;
  const [vertexCount, faceCount] = [vertices.length / 3, indices.length / 3];
  const names = ["x", "y", "z"].map((name) => `property double ${name}\n`).join("");
  const normalNames = ["nx", "ny", "nz"].map((name) => `property float ${name}\n`).join("");
  const head = new TextEncoder().encode(
    `ply\nformat binary_little_endian 1.0\nelement vertex ${vertexCount}\n${names}${normalNames}element face ${faceCount}\nproperty list uchar uint vertex_indices\nend_header\n`,
  );
  const out = new Uint8Array(head.length + 36 * vertexCount + 13 * faceCount);
  out.set(head);
  const view = new DataView(out.buffer, head.length);
  let at = 0;
  for (let i = 0; i < vertexCount; i += 1) {
    for (let k = 0; k < 3; k += 1) view.setFloat64(at + 8 * k, (vertices[3 * i + k] ?? 0) + (origin[k] ?? 0), true);
    for (let k = 0; k < 3; k += 1) view.setFloat32(at + 24 + 4 * k, normals[3 * i + k] ?? 0, true);
    at += 36;
  }
  for (let t = 0; t < faceCount; t += 1) {
    view.setUint8(at, 3);
    for (let k = 0; k < 3; k += 1) view.setUint32(at + 1 + 4 * k, indices[3 * t + k] ?? 0, true);
    at += 13;
  }
  return out;
}

/** Codes of glTF 2.0. */
const [FLOAT, UNSIGNED_INT, ARRAY_BUFFER, ELEMENT_BUFFER] = [5126, 5125, 34962, 34963] as const;
const [GLB_MAGIC, JSON_CHUNK, BIN_CHUNK] = [0x46546c67, 0x4e4f534a, 0x004e4942] as const;

/**
 * A binary glTF 2.0 file. Its y axis points upwards, as the format demands: the node turns z upwards to it. Positions are
 * relative to the true world position in `extras.world_shift` of the node. Errors: RangeError for a mesh without triangles.
 */
export function qsmGlb(mesh: QsmMesh): Uint8Array {
  const { origin, vertices, normals, indices } = mesh;
  if (indices.length === 0) throw new RangeError("a glTF file needs a triangle, and the model has no length");
  const least = [Infinity, Infinity, Infinity];
  const most = [-Infinity, -Infinity, -Infinity];
  for (const [i, value] of vertices.entries()) {
    least[i % 3] = Math.min(least[i % 3] as number, value);
    most[i % 3] = Math.max(most[i % 3] as number, value);
  }
  const lists = [vertices, normals, indices];
  const views = lists.map(({ byteLength }, i) => ({
    buffer: 0,
    byteOffset: lists.slice(0, i).reduce((sum, list) => sum + list.byteLength, 0),
    byteLength,
    target: i < 2 ? ARRAY_BUFFER : ELEMENT_BUFFER,
  }));
  const points = { componentType: FLOAT, count: vertices.length / 3, type: "VEC3" };
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [
      { name: "wood", mesh: 0, rotation: [-Math.SQRT1_2, 0, 0, Math.SQRT1_2], extras: { world_shift: [...origin] } },
    ],
    meshes: [{ name: "wood", primitives: [{ attributes: { POSITION: 0, NORMAL: 1 }, indices: 2, material: 0 }] }],
    materials: [
      {
        name: "bark",
        pbrMetallicRoughness: { baseColorFactor: [0.42, 0.3, 0.2, 1], metallicFactor: 0, roughnessFactor: 0.9 },
      },
    ],
    accessors: [
      { bufferView: 0, ...points, min: least, max: most },
      { bufferView: 1, ...points },
      { bufferView: 2, componentType: UNSIGNED_INT, count: indices.length, type: "SCALAR" },
    ],
    bufferViews: views,
    buffers: [{ byteLength: lists.reduce((sum, { byteLength }) => sum + byteLength, 0) }],
  };
  return container(document, lists);
}

function container(document: object, lists: readonly (Float32Array | Uint32Array)[]): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(document));
  const textBytes = Math.ceil(text.length / 4) * 4;
  const binBytes = lists.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const out = new Uint8Array(12 + 8 + textBytes + 8 + binBytes);
  const view = new DataView(out.buffer);
  const words = [GLB_MAGIC, 2, out.length, textBytes, JSON_CHUNK];
  for (const [i, word] of words.entries()) view.setUint32(4 * i, word, true);
  out.fill(0x20, 20, 20 + textBytes);
  out.set(text, 20);
  view.setUint32(20 + textBytes, binBytes, true);
  view.setUint32(24 + textBytes, BIN_CHUNK, true);
  let at = 28 + textBytes;
  for (const { buffer, byteOffset, byteLength } of lists) {
    out.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return out;
}
