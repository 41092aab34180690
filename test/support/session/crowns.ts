/** Rows "x y z tree_instance ground_class wood_class" of small trees. */
export const CROWN_HEAD = "x y z tree_instance ground_class wood_class";

type Place = readonly [number, number, number];

/** A box of leaf points around (x, y) from z 4 to 6, 2 m wide in x and 1 m in y, on a stem from z 1. */
export function boxTree(id: number, [x, y, z]: Place): string[] {
  const corners = Array.from({ length: 8 }, (_, i) => {
    const at = [x + (i & 1 ? 1 : -1), y + (i & 2 ? 0.5 : -0.5), z + (i & 4 ? 6 : 4)];
    return `${at.join(" ")} ${id} 2 2`;
  });
  const inside = Array.from({ length: 20 }, (_, i) => `${x} ${y} ${z + 4.5 + i / 20} ${id} 2 2`);
  const stem = Array.from({ length: 6 }, (_, i) => `${x} ${y} ${z + 1 + i / 2} ${id} 2 1`);
  return [...corners, ...inside, ...stem];
}

/** Ground points of no tree below (x, y): one at height z, four around it 0.2 m higher. */
export const groundAt = ([x, y, z]: Place): string[] =>
  [[0, 0, 0] as const, ...[-3, 3].flatMap((d) => [[d, 0, 0.2] as const, [0, d, 0.2] as const])].map(
    ([dx, dy, dz]) => `${x + dx} ${y + dy} ${z + dz} 0 1 0`,
  );

/** What a closed mesh that faces outwards has. */
export function meshFacts(vertices: readonly number[], triangles: readonly number[]) {
  const at = (i: number, axis: number) => vertices[3 * (triangles[i] ?? 0) + axis] ?? Number.NaN;
  const edges = new Map<string, number>();
  let volume = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [t, t + 1, t + 2].map((i) => [0, 1, 2].map((axis) => at(i, axis) - (vertices[axis] ?? 0)));
    const [ax = 0, ay = 0, az = 0] = a ?? [];
    const [bx = 0, by = 0, bz = 0] = b ?? [];
    const [cx = 0, cy = 0, cz = 0] = c ?? [];
    volume += (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6;
    for (const [from, to] of [
      [t, t + 1],
      [t + 1, t + 2],
      [t + 2, t],
    ] as const) {
      const key = `${triangles[from]},${triangles[to]}`;
      edges.set(key, (edges.get(key) ?? 0) + 1);
    }
  }
  const closed = [...edges].every(([key, count]) => count === 1 && edges.has(key.split(",").reverse().join(",")));
  const box = [0, 1, 2].map((axis) => {
    const values = vertices.filter((_, i) => i % 3 === axis);
    return [Math.min(...values), Math.max(...values)] as const;
  });
  return { volume, closed, box };
}
