import type { Catalog, CatalogFile } from "../catalog/document.ts";
import type { MeasuredWindow, Rectangle } from "./plan-document.ts";

/** Catalogues with at most this many points are measured as a whole. */
const WHOLE_POINTS = 3_000_000;
/** Points of one measurement. */
export const MOST_MEASURED = WHOLE_POINTS;
/** Others in windows of about this many points, one in each of 3 x 3 parts of the survey. */
const WINDOW_POINTS = 500_000;
const ACROSS = 3;
/** Coordinates in headers are rounded. */
const EDGE_M = 1;

/**
 * Where the ground is measured for all tiles. It depends on the catalogue alone: tiles of any size get the same measures.
 */
export function measuredWindows({ files, layout: { bounds }, points, density }: Catalog): MeasuredWindow[] {
  const { min, max } = bounds;
  if (points <= WHOLE_POINTS)
    return [windowOf([min[0] - EDGE_M, min[1] - EDGE_M, max[0] + EDGE_M, max[1] + EDGE_M], files)];
  const half = Math.sqrt(WINDOW_POINTS / (density ?? 1)) / 2;
  const windows = new Map<string, MeasuredWindow>();
  for (let part = 0; part < ACROSS * ACROSS; part += 1) {
    const at = ([0, 1] as const).map(
      (axis) =>
        min[axis] +
        (((axis === 0 ? part : Math.floor(part / ACROSS)) % ACROSS) + 0.5) * ((max[axis] - min[axis]) / ACROSS),
    ) as [number, number];
    const [x, y] = nearestInFiles(at, files);
    windows.set(`${x} ${y}`, windowOf([x - half, y - half, x + half, y + half], files));
  }
  return [...windows.values()];
}

function windowOf(box: Rectangle, files: readonly CatalogFile[]): MeasuredWindow {
  const near = files.flatMap(({ bounds: { min, max } }, i) =>
    min[0] <= box[2] && max[0] >= box[0] && min[1] <= box[3] && max[1] >= box[1] ? [i] : [],
  );
  return { box, files: near };
}

/** The place nearest to another one that lies in the box of a file; of equally near ones that of the first file. */
function nearestInFiles([x, y]: readonly [number, number], files: readonly CatalogFile[]): [number, number] {
  let best: [number, number] = [x, y];
  let least = Number.POSITIVE_INFINITY;
  for (const { bounds } of files) {
    const inside = (value: number, axis: 0 | 1) => Math.min(bounds.max[axis], Math.max(bounds.min[axis], value));
    const place: [number, number] = [inside(x, 0), inside(y, 1)];
    const away = Math.hypot(place[0] - x, place[1] - y);
    if (away < least) [best, least] = [place, away];
  }
  return best;
}
