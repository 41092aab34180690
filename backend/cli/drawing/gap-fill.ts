import { NO_POINT, type Visibility } from "./visibility.ts";

/** Radius of the closing in disc diameters, and its minimum in subpixels. */
const RADIUS_DIAMETERS = 0.55;
const MIN_RADIUS = 3.5;
/** Chamfer steps: 3 per subpixel straight, 4 diagonally (G. Borgefors 1986: at most 8 % off the Euclidean distance). */
const STRAIGHT = 3;
const DIAGONAL = 4;
const FAR = 255;

/**
 * Fills pinholes between the discs of a randomly sampled surface by morphological closing with a disc. A filled
 * subpixel gets the nearest point. Outlines do not move; gaps wider than the disc stay open.
 */
export function closeGaps({ width, height, point, depth, diameter }: Visibility): void {
  const radius = Math.min(FAR - 1, Math.round(STRAIGHT * Math.max(MIN_RADIUS, RADIUS_DIAMETERS * diameter)));
  const toPoint = new Uint8Array(width * height);
  for (let at = 0; at < point.length; at += 1) toPoint[at] = point[at] === NO_POINT ? FAR : 0;
  const nearest = point.slice();
  chamfer(toPoint, width, height, nearest);
  const toOutside = new Uint8Array(width * height);
  for (let at = 0; at < point.length; at += 1) toOutside[at] = (toPoint[at] ?? FAR) > radius ? 0 : FAR;
  chamfer(toOutside, width, height, undefined);
  for (let at = 0; at < point.length; at += 1) {
    if (point[at] !== NO_POINT || (toPoint[at] ?? FAR) > radius || (toOutside[at] ?? 0) <= radius) continue;
    point[at] = nearest[at] ?? NO_POINT;
    depth[at] = 0; // marks it as filled; the caller sets the depth
  }
}

/** Computes distances to the nearest zero in two sweeps, at most FAR; `label` receives the label of that zero. */
function chamfer(distance: Uint8Array, width: number, height: number, label: Uint32Array | undefined): void {
  const relax = (at: number, from: number, step: number) => {
    const candidate = (distance[from] ?? FAR) + step;
    if (candidate >= (distance[at] ?? 0)) return;
    distance[at] = candidate;
    if (label) label[at] = label[from] ?? NO_POINT;
  };
  for (const direction of [1, -1]) {
    for (let k = 0; k < height; k += 1) {
      const y = direction > 0 ? k : height - 1 - k;
      for (let j = 0; j < width; j += 1) {
        const x = direction > 0 ? j : width - 1 - j;
        const at = y * width + x;
        if (distance[at] === 0) continue;
        if (j > 0) relax(at, at - direction, STRAIGHT);
        if (k === 0) continue;
        const above = at - direction * width;
        relax(at, above, STRAIGHT);
        if (j > 0) relax(at, above - direction, DIAGONAL);
        if (j < width - 1) relax(at, above + direction, DIAGONAL);
      }
    }
  }
}
