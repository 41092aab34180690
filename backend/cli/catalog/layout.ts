import { type CatalogFile, type Gap, type Layout, MOST_LISTED, type Overlap, type TileLattice } from "./document.ts";

/** Boxes of neighbours touch, and overlap by the last digit of a coordinate: shares of the smaller box below this are none. */
const LEAST_SHARE = 1e-3;
/** Pairs that are compared, and kept, at most; the number of overlaps is then a lower bound. */
const MOST_PAIRS = 300_000_000;
const MOST_KEPT = 2_000_000;
/** Cells of the raster that gaps are looked for in, along the shorter side of a middling box, and in all. */
const CELLS_PER_BOX = 8;
const MOST_CELLS = 4_000_000;
/** Edges of tiles are whole multiples of one of these, metres. */
const LATTICE_STEPS = [1000, 500, 250, 100, 50, 25, 10, 5, 2, 1];

type Boxes = readonly Pick<CatalogFile, "bounds">[];

/** How the boxes of files lie beside each other. */
export function layoutOf(files: Boxes): Layout {
  const bounds = hull(files);
  const { overlaps, isComplete } = overlapsOf(files);
  const { gaps, covered_m2 } = gapsOf(files, bounds);
  return {
    bounds,
    covered_m2,
    overlaps: overlaps.slice(0, MOST_LISTED),
    overlap_count: overlaps.length,
    overlaps_complete: isComplete,
    gaps: gaps.slice(0, MOST_LISTED),
    gap_count: gaps.length,
    lattice: latticeOf(files, bounds),
  };
}

function hull(files: Boxes): Layout["bounds"] {
  const at = (axis: 0 | 1 | 2, end: "min" | "max") =>
    files.map(({ bounds }) => bounds[end][axis]).reduce((a, b) => (end === "min" ? Math.min(a, b) : Math.max(a, b)));
  return { min: [at(0, "min"), at(1, "min"), at(2, "min")], max: [at(0, "max"), at(1, "max"), at(2, "max")] };
}

const widthOf = ({ bounds: { min, max } }: Boxes[number], axis: 0 | 1) => max[axis] - min[axis];
const areaOf = (file: Boxes[number]) => widthOf(file, 0) * widthOf(file, 1);

/** Pairs of boxes that share an area, largest first: a sweep along x. `isComplete`: every pair was compared. */
export function overlapsOf(
  files: Boxes,
  mostPairs = MOST_PAIRS,
): { readonly overlaps: Overlap[]; readonly isComplete: boolean } {
  const order = files.map((_, i) => i).sort((a, b) => lowX(files, a) - lowX(files, b) || a - b);
  const found: Overlap[] = [];
  let open: number[] = [];
  let pairs = 0;
  for (const i of order) {
    const file = files[i] as Boxes[number];
    const { min, max } = file.bounds;
    open = open.filter((k) => (files[k] as Boxes[number]).bounds.max[0] > min[0]);
    for (const k of open) {
      pairs += 1;
      if (pairs > mostPairs || found.length >= MOST_KEPT) return { overlaps: sorted(found), isComplete: false };
      const other = files[k] as Boxes[number];
      const height = Math.min(max[1], other.bounds.max[1]) - Math.max(min[1], other.bounds.min[1]);
      if (!(height > 0)) continue;
      const width = Math.min(max[0], other.bounds.max[0]) - Math.max(min[0], other.bounds.min[0]);
      if (!(width > 0)) continue;
      const share = (width * height) / Math.min(areaOf(file), areaOf(other));
      if (share >= LEAST_SHARE) found.push({ a: Math.min(i, k), b: Math.max(i, k), area_m2: width * height, share });
    }
    open.push(i);
  }
  return { overlaps: sorted(found), isComplete: true };
}

const lowX = (files: Boxes, i: number) => files[i]?.bounds.min[0] ?? 0;
const sorted = (found: Overlap[]) => found.sort((p, q) => q.area_m2 - p.area_m2 || p.a - q.a || p.b - q.b);

/** Areas that boxes surround: cells of a raster without a box from which no way leads outside. */
export function gapsOf(
  files: Boxes,
  { min, max }: Layout["bounds"],
): { readonly gaps: Gap[]; readonly covered_m2: number } {
  const widths = files.map((file) => Math.min(widthOf(file, 0), widthOf(file, 1))).sort((a, b) => a - b);
  const [width, height] = [max[0] - min[0], max[1] - min[1]];
  const finest = Math.sqrt((width * height) / MOST_CELLS);
  const cell = Math.max(
    (widths[widths.length >> 1] ?? 0) / CELLS_PER_BOX,
    finest,
    Math.max(width, height) / MOST_CELLS,
  );
  if (!(cell > 0)) return { gaps: [], covered_m2: 0 };
  const [nx, ny] = [Math.max(1, Math.round(width / cell)), Math.max(1, Math.round(height / cell))];
  const [dx, dy] = [width / nx, height / ny];
  const raster = new Uint8Array(nx * ny); // 1: a box covers the middle; 2: open to the outside or already counted
  const clamp = (value: number, count: number) => Math.min(count, Math.max(0, value));
  for (const { bounds } of files) {
    // Half a cell wider: a thin line between neighbours is no gap.
    const ends = (axis: 0 | 1, step: number, count: number) =>
      [
        clamp(Math.ceil((bounds.min[axis] - min[axis]) / step - 1), count),
        clamp(Math.floor((bounds.max[axis] - min[axis]) / step + 1), count),
      ] as const;
    const [x0, x1] = ends(0, dx, nx);
    const [y0, y1] = ends(1, dy, ny);
    for (let y = y0; y < y1; y += 1) raster.fill(1, y * nx + x0, y * nx + x1);
  }
  const covered = coveredCells(files, [min[0], min[1]], { nx, ny, dx, dy });
  const take = (start: number) => flood(raster, start, nx, ny);
  for (let x = 0; x < nx; x += 1) for (const y of [0, ny - 1]) if (raster[y * nx + x] === 0) take(y * nx + x);
  for (let y = 0; y < ny; y += 1) for (const x of [0, nx - 1]) if (raster[y * nx + x] === 0) take(y * nx + x);
  const gaps: Gap[] = [];
  for (let start = 0; start < raster.length; start += 1) {
    if (raster[start] !== 0) continue;
    const { count, box } = take(start);
    gaps.push({
      area_m2: count * dx * dy,
      min: [min[0] + box.x0 * dx, min[1] + box.y0 * dy],
      max: [min[0] + (box.x1 + 1) * dx, min[1] + (box.y1 + 1) * dy],
    });
  }
  gaps.sort((a, b) => b.area_m2 - a.area_m2 || a.min[0] - b.min[0] || a.min[1] - b.min[1]);
  return { gaps, covered_m2: covered * dx * dy };
}

interface Cells {
  readonly nx: number;
  readonly ny: number;
  readonly dx: number;
  readonly dy: number;
}

/** Cells under boxes, parts of cells counted as such: exact where no two boxes lie in one cell over each other. */
function coveredCells(files: Boxes, origin: readonly [number, number], { nx, ny, dx, dy }: Cells): number {
  const shares = new Float64Array(nx * ny);
  for (const { bounds } of files) {
    const parts = (axis: 0 | 1, step: number, count: number) => {
      const [low, high] = [(bounds.min[axis] - origin[axis]) / step, (bounds.max[axis] - origin[axis]) / step];
      const first = Math.min(count - 1, Math.floor(low));
      const last = Math.min(count - 1, Math.floor(high));
      const inside = (i: number) => Math.min(i + 1, high) - Math.max(i, low);
      return { first, lengths: Array.from({ length: last - first + 1 }, (_, i) => Math.max(0, inside(first + i))) };
    };
    const [across, up] = [parts(0, dx, nx), parts(1, dy, ny)];
    for (const [y, height] of up.lengths.entries())
      for (const [x, width] of across.lengths.entries()) {
        const at = (up.first + y) * nx + across.first + x;
        shares[at] = Math.min(1, (shares[at] as number) + width * height);
      }
  }
  return shares.reduce((sum, share) => sum + share, 0);
}

/** Marks the empty cells that are linked with `start` by edges. */
function flood(raster: Uint8Array, start: number, nx: number, ny: number) {
  const open = [start];
  raster[start] = 2;
  const box = { x0: nx, y0: ny, x1: 0, y1: 0 };
  let count = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [x, y] = [at % nx, Math.floor(at / nx)];
    count += 1;
    box.x0 = Math.min(box.x0, x);
    box.x1 = Math.max(box.x1, x);
    box.y0 = Math.min(box.y0, y);
    box.y1 = Math.max(box.y1, y);
    const next = [x > 0 ? at - 1 : -1, x < nx - 1 ? at + 1 : -1, y > 0 ? at - nx : -1, y < ny - 1 ? at + nx : -1];
    for (const cell of next) {
      if (cell < 0 || raster[cell] !== 0) continue;
      raster[cell] = 2;
      open.push(cell);
    }
  }
  return { count, box };
}

/** The squares that the files were cut along: at most one file in each, and no file reaches out of its own. */
export function latticeOf(files: Boxes, { min }: Pick<Layout["bounds"], "min">): TileLattice | null {
  const widest = files.map((file) => Math.max(widthOf(file, 0), widthOf(file, 1))).reduce((a, b) => Math.max(a, b));
  if (!(widest > 0)) return null;
  for (const step of LATTICE_STEPS) {
    const size_m = Math.max(1, Math.ceil(widest / step - 1e-9)) * step;
    const origin = [Math.floor(min[0] / step) * step, Math.floor(min[1] / step) * step] as const;
    if (widest >= LEAST_FILLED * size_m && fits(files, { size_m, origin })) return { size_m, origin };
  }
  return null;
}

/** The largest file fills its square. */
const LEAST_FILLED = 0.8;

function fits(files: Boxes, { size_m, origin }: TileLattice): boolean {
  const taken = new Set<string>();
  for (const { bounds } of files) {
    const cell = [0, 1].map((axis) => {
      const at = (value: number) => (value - (origin[axis] ?? 0)) / size_m;
      const low = Math.floor(at(bounds.min[axis] ?? 0) + 1e-9);
      // A point on the upper edge is stored with the tile below in some files.
      return at(bounds.max[axis] ?? 0) <= low + 1 + 1e-9 ? low : Number.NaN;
    });
    const key = cell.join(" ");
    if (cell.some(Number.isNaN) || taken.has(key)) return false;
    taken.add(key);
  }
  return true;
}
