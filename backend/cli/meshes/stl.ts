import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import type { MeshParts, WorldMesh } from "./mesh.ts";

const BLOCK = 1 << 14;
const RECORD = 50;

/** A binary STL file, metres: true world coordinates minus the shift, which the header names. */
export function* stlParts({ origin, vertices, indices }: WorldMesh, shift: Triple | null): MeshParts {
  const count = indices.length / 3;
  const head = new DataView(new ArrayBuffer(84));
  // Not "solid", with which ASCII files begin.
  const note = shift ? `binary, metres; add ${shift.join(" ")}` : "binary, metres";
  new Uint8Array(head.buffer).set(new TextEncoder().encode(note.slice(0, 80)));
  head.setUint32(80, count, true);
  yield new Uint8Array(head.buffer);
  const offset = origin.map((value, k) => value - (shift?.[k] ?? 0));
  for (let first = 0; first < count; first += BLOCK) {
    const block = new DataView(new ArrayBuffer(RECORD * Math.min(BLOCK, count - first)));
    for (let t = 0; RECORD * t < block.byteLength; t += 1) {
      const corner = (k: number, axis: number) => vertices[3 * (indices[3 * (first + t) + k] ?? 0) + axis] ?? 0;
      const side = (k: number) =>
        [0, 1, 2].map((axis) => corner(k, axis) - corner(0, axis)) as [number, number, number];
      const [[ux, uy, uz], [vx, vy, vz]] = [side(1), side(2)];
      const normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
      const length = Math.hypot(...normal) || 1;
      for (let axis = 0; axis < 3; axis += 1) {
        block.setFloat32(RECORD * t + 4 * axis, (normal[axis] ?? 0) / length, true);
        for (let k = 0; k < 3; k += 1)
          block.setFloat32(RECORD * t + 12 + 12 * k + 4 * axis, corner(k, axis) + (offset[axis] ?? 0), true);
      }
    }
    yield new Uint8Array(block.buffer);
  }
}
