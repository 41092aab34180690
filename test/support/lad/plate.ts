import type { InlineScan } from "./beams.ts";

const [HALF, STEP, COUNT] = [0.25, 0.01, 81];
/** Area of the leaf, square metres. */
export const PLATE_AREA = 4 * HALF * HALF;

interface Plate {
  /** Where the scanner stands, x; the leaf is at x = 0 and faces it. */
  readonly x: number;
  /** Label of the hits with a y of that sign. */
  readonly label?: (y: number) => number;
  /** What stands half-way, and has label 1. */
  readonly hides?: (y: number) => boolean;
}

/** A raster of beams towards a square leaf of 0.5 m at the origin; those beside it are misses. */
export function plateScan({ x, label = () => 2, hides = () => false }: Plate): InlineScan {
  const points: [number, number, number][] = [];
  const columns = { is_miss: [] as number[], wood_class: [] as number[] };
  for (let i = 0; i < COUNT * COUNT; i += 1) {
    const [v, w] = [i % COUNT, Math.floor(i / COUNT)].map((k) => Math.tan((k - (COUNT - 1) / 2) * STEP)) as [
      number,
      number,
    ];
    const [y, z] = [Math.abs(x) * v, Math.abs(x) * w];
    const hit = Math.abs(y) < HALF && Math.abs(z) < HALF;
    const hidden = hit && hides(y);
    const share = hit ? (hidden ? 0.5 : 1) : 100;
    points.push([x - x * share, y * share, z * share]);
    columns.is_miss.push(hit ? 0 : 1);
    columns.wood_class.push(hidden ? 1 : label(y));
  }
  return { origin: [x, 0, 0], points, scalar_columns: columns };
}
