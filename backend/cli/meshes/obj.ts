import type { MeshParts, WorldMesh } from "./mesh.ts";

/** Vertices or triangles per block. */
const BLOCK = 1 << 14;

/** Decimals that keep every bit of a float32 of this size. */
export function decimalsFor(largest: number): number {
  // Half of the distance between two neighbours, as a power of ten.
  const step = largest > 0 ? 2 ** (Math.floor(Math.log2(largest)) - 24) : 1;
  return Math.min(20, Math.max(0, Math.ceil(-Math.log10(step))));
}

/** A Wavefront OBJ file with as many digits as the coordinates have, true world, metres. */
export function* objParts({ origin, vertices, indices, normals, colors }: WorldMesh): MeshParts {
  const [v_count, t_count] = [vertices.length / 3, indices.length / 3];
  const decimals = decimalsFor(vertices.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
  yield `# ${v_count} vertices, ${t_count} triangles; coordinates in metres\n`;
  const triples = (values: Float32Array, first: number, i: number, text: (value: number, k: number) => string) =>
    [0, 1, 2].map((k) => text(values[3 * (first + i) + k] ?? 0, k)).join(" ");
  for (let first = 0; first < v_count; first += BLOCK) {
    const count = Math.min(BLOCK, v_count - first);
    const line = (i: number) => {
      const place = triples(vertices, first, i, (value, k) => (value + (origin[k] ?? 0)).toFixed(decimals));
      const paint = colors ? ` ${triples(colors, first, i, (value) => (value || 0).toFixed(4))}` : "";
      return `v ${place}${paint}\n`;
    };
    yield Array.from({ length: count }, (_, i) => line(i)).join("");
  }
  for (let first = 0; normals && first < v_count; first += BLOCK) {
    const count = Math.min(BLOCK, v_count - first);
    const line = (i: number) => `vn ${triples(normals, first, i, (value) => value.toFixed(5))}\n`;
    yield Array.from({ length: count }, (_, i) => line(i)).join("");
  }
  const corner = (index: number) => (normals ? `${index}//${index}` : `${index}`);
  for (let first = 0; first < t_count; first += BLOCK) {
    const count = Math.min(BLOCK, t_count - first);
    const line = (i: number) =>
      `f ${[0, 1, 2].map((k) => corner((indices[3 * (first + i) + k] ?? 0) + 1)).join(" ")}\n`;
    yield Array.from({ length: count }, (_, i) => line(i)).join("");
  }
}
