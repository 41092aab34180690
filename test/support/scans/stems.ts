// Stems as rows of a text cloud: x y z and the height above a ground that slopes.
import { gaussian, uniform } from "../../accuracy/random.ts";

export interface StemOfCloud {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** Slope of the axis in x. */
  readonly lean?: number;
  /** Part of the girth with points, degrees. */
  readonly arc?: number;
}

export const STEM_COLUMNS = "x y z height_above_ground ground_class";
const SLOPE = 0.2;
export const groundAt = (x: number): number => 100 + SLOPE * x;

/** Rows of the columns above: the stems from 0.2 to 3 m, and ground points between them. */
export function stemRows(stems: readonly StemOfCloud[], seed = 1, perStem = 1200): string[] {
  const next = uniform(seed);
  const rows: string[] = [];
  for (const { x, y, radius, lean = 0, arc = 360 } of stems) {
    for (let i = 0; i < perStem; i += 1) {
      const height = 0.2 + 2.8 * next();
      const angle = ((arc * next()) / 180) * Math.PI;
      const r = radius + 0.002 * gaussian(next);
      // A section across a leaning axis: longer in the direction of the lean by 1 / cos.
      const px = x + lean * height + r * Math.cos(angle) * Math.hypot(1, lean);
      const py = y + r * Math.sin(angle);
      const z = groundAt(x) + height;
      rows.push(`${px.toFixed(4)} ${py.toFixed(4)} ${z.toFixed(4)} ${(z - groundAt(px)).toFixed(4)} 2`);
    }
  }
  for (let i = 0; i < 400; i += 1) {
    const [x, y] = [(i % 20) * 0.5, Math.floor(i / 20) * 0.5];
    rows.push(`${x} ${y} ${groundAt(x).toFixed(4)} 0 1`);
  }
  return rows;
}

/** Leaves: points all over a box, between two heights. */
export function leafRows(x: number, y: number, size: number, low: number, high: number, count: number): string[] {
  const next = uniform(77);
  return Array.from({ length: count }, () => {
    const px = x + size * next();
    const height = low + (high - low) * next();
    const z = groundAt(px) + height;
    return `${px.toFixed(4)} ${(y + size * next()).toFixed(4)} ${z.toFixed(4)} ${height.toFixed(4)} 2`;
  });
}
