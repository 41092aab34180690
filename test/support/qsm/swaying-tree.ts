import { surface } from "./stems.ts";

/** Which side of a tree a scan sees. */
const faces = (x: number, y: number, [cx, cy]: readonly [number, number], from: number) =>
  (x - cx) * Math.cos(from) + (y - cy) * Math.sin(from) > -0.01;

/**
 * Rows "x y z scan_index tree_instance" of a tree of 6 m, seen from four sides; the wind bends it to another side in each scan, its
 * top by `sway` metres.
 */
export function swayingTree(sway: number): string[] {
  const pieces = [
    ...Array.from({ length: 12 }, (_, i) => ({
      axis: [0, 0] as const,
      points: surface([0, 0, i / 2], [0, 0, (i + 1) / 2], 0.11 - 0.006 * i, 2000 - 80 * i),
    })),
    ...Array.from({ length: 6 }, (_, i) => {
      const turn = 2.4 * i;
      const z = 2.5 + i / 2;
      const to = [1.2 * Math.cos(turn), 1.2 * Math.sin(turn), z + 0.5] as const;
      return { axis: null, points: surface([0, 0, z], to, 0.022, 1200) };
    }),
  ];
  const rows = ["x y z scan_index tree_instance"];
  for (const { axis, points } of pieces)
    for (const [x, y, z] of points)
      for (const scan of [1, 2, 3, 4]) {
        if (axis && !faces(x, y, axis, (Math.PI / 2) * scan)) continue;
        const bend = sway * (z / 6) ** 2;
        rows.push([x + bend * Math.cos(1.9 * scan), y + bend * Math.sin(1.9 * scan), z, scan, 3].join(" "));
      }
  return rows;
}
