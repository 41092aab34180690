import { SUPERSAMPLING } from "./splat.ts";
import type { ViewFrame } from "./view-frame.ts";
import type { Visibility } from "./visibility.ts";

/** Neighbour distances, in picture pixels and at least half a disc: the first for edges, the other for large shapes. */
const RADII_PX = [1, 4] as const;
/** Weight of each radius. */
const WEIGHTS = [0.6, 0.4] as const;
/** A fully enclosed pixel keeps exp(-STRENGTH) of its light. */
const STRENGTH = 1.1;
/** Steepness (depth difference over distance) at which a neighbour takes half of the light that it can take. */
const HALF_SLOPE = 2;
const DIAGONAL = Math.SQRT1_2;
const DIRECTIONS = [
  [1, 0],
  [DIAGONAL, DIAGONAL],
  [0, 1],
  [-DIAGONAL, DIAGONAL],
  [-1, 0],
  [-DIAGONAL, -DIAGONAL],
  [0, -1],
  [DIAGONAL, -DIAGONAL],
] as const;

/**
 * Eye-dome lighting: neighbours that are nearer to the viewer darken a pixel. Returns 0..255 per subpixel, 255 =
 * unshaded.
 *
 * Source: C. Boucheny, "Visualisation scientifique de grands volumes de donnees: pour une approche perceptive", thesis,
 * Grenoble 2009, ch. 4. Here for a parallel projection: a depth difference s relative to the pixel distance counts as
 * s / (s + HALF_SLOPE), so the result does not depend on the size of the cloud. Empty pixels cast no shade.
 */
export function eyeDomeShade(seen: Visibility, frame: ViewFrame): Uint8Array {
  const { width, height, depth } = seen;
  const shade = new Uint8Array(width * height).fill(255);
  const taps = shadeTaps(seen, frame);
  const border = Math.max(...taps.dx.map(Math.abs), ...taps.dy.map(Math.abs));
  const light = Uint8Array.from({ length: 256 }, (_, hidden) => Math.round(255 * Math.exp((-STRENGTH * hidden) / 255)));
  for (let y = 0; y < height; y += 1) {
    const isRowInside = y >= border && y < height - border;
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const z = depth[at] ?? -Infinity;
      if (z === -Infinity) continue;
      const isInside = isRowInside && x >= border && x < width - border;
      let hidden = 0;
      for (let k = 0; k < taps.offset.length; k += 1) {
        if (!isInside) {
          const u = x + (taps.dx[k] ?? 0);
          const v = y + (taps.dy[k] ?? 0);
          if (u < 0 || v < 0 || u >= width || v >= height) continue;
        }
        const nearer = (depth[at + (taps.offset[k] ?? 0)] ?? z) - z;
        if (nearer > 0) hidden += ((taps.weight[k] ?? 0) * nearer) / (nearer + (taps.half_m[k] ?? 0));
      }
      shade[at] = light[Math.round(255 * hidden)] ?? 0;
    }
  }
  return shade;
}

/** The neighbours used, as parallel lists. `half_m`: depth difference in metres that takes half of the light. */
function shadeTaps(seen: Visibility, frame: ViewFrame) {
  const metresPerSubpixel = frame.metres_per_px / SUPERSAMPLING;
  const unit = Math.max(SUPERSAMPLING, seen.diameter / 2);
  const list = RADII_PX.flatMap((radius, k) =>
    DIRECTIONS.map(([x, y]) => ({
      dx: Math.round(x * radius * unit),
      dy: Math.round(y * radius * unit),
      weight: (WEIGHTS[k] ?? 0) / DIRECTIONS.length,
    })),
  );
  return {
    dx: list.map(({ dx }) => dx),
    dy: list.map(({ dy }) => dy),
    weight: Float64Array.from(list, ({ weight }) => weight),
    offset: Int32Array.from(list, ({ dx, dy }) => dy * seen.width + dx),
    half_m: Float64Array.from(list, ({ dx, dy }) => HALF_SLOPE * Math.hypot(dx, dy) * metresPerSubpixel),
  };
}
