import { open } from "node:fs/promises";
import { readLayout } from "./las-layout.ts";
import { columnReader, recordBlocks } from "./las-records.ts";
import type { Plan, PlannedTile, Rectangle } from "./plan-document.ts";
import { type CellRange, cellRange } from "./tile-rasters.ts";

const GROUND = 1;

/**
 * Whether the terrain of a tile depends on points that the tile does not see. A cell is interpolated from the corners of an
 * empty circle; if every empty circle that reaches the core lies within the view, no point beyond the view matters. Circles
 * are looked for around the cells of the survey, to a cell. Returns the warning, or null.
 */
export async function voidWarning(
  labelled: string,
  plan: Plan,
  tile: PlannedTile,
  signal: AbortSignal,
): Promise<string | null> {
  const cell = plan.workflow.rasters?.cell_m ?? 1;
  const ranges = { view: cellRange(plan, cell, tile.view), core: cellRange(plan, cell, tile.core) };
  const known = await groundCells(labelled, plan, cell, ranges.view, signal);
  const survey = cellRange(plan, cell, wholeCells(plan, cell));
  const width = 2 * widestReach(known, { ...ranges, survey }) * cell;
  if (width === 0) return null;
  return `The ground has a void of about ${Math.ceil(width)} m that reaches beyond the buffer of ${plan.buffer_m} m: the terrain in it, and heights above it, may differ from those of one run over the whole cloud. Set tiles.buffer_m to ${Math.ceil(width + cell)}, or larger.`;
}

/** The box of all cores, which lie on cells. */
function wholeCells({ extent }: Plan, cell: number): Rectangle {
  const [x0, y0, x1, y1] = extent;
  const down = (value: number) => Math.floor(value / cell) * cell;
  return [down(x0), down(y0), down(x1) + cell, down(y1) + cell];
}

/** The cells of a view that hold ground. */
async function groundCells(
  path: string,
  { shift }: Plan,
  cell: number,
  { column, row, nx, ny }: CellRange,
  signal: AbortSignal,
): Promise<{ readonly has: Uint8Array; readonly nx: number; readonly ny: number }> {
  const has = new Uint8Array(nx * ny);
  const file = await open(path);
  try {
    const layout = await readLayout(file, path);
    const classOf = columnReader(layout, "ground_class");
    const { stride, scale, offset } = layout;
    for await (const bytes of recordBlocks(file, layout)) {
      signal.throwIfAborted();
      for (let at = 0; at < bytes.length; at += stride) {
        if (classOf(bytes, at) !== GROUND) continue;
        const i = Math.floor((bytes.readInt32LE(at) * scale[0] + offset[0] - shift[0]) / cell) - column;
        const j = Math.floor((bytes.readInt32LE(at + 4) * scale[1] + offset[1] - shift[1]) / cell) - row;
        if (i >= 0 && j >= 0 && i < nx && j < ny) has[j * nx + i] = 1;
      }
    }
  } finally {
    await file.close();
  }
  return { has, nx, ny };
}

/**
 * The largest radius, in cells, of a circle without known cells around a cell of view and survey that reaches the core
 * and a side of the view behind which the survey goes on; 0 = none. Half a cell's diagonal is granted to each circle.
 */
export function widestReach(
  known: { readonly has: Uint8Array; readonly nx: number; readonly ny: number },
  { view, core, survey }: { readonly view: CellRange; readonly core: CellRange; readonly survey: CellRange },
): number {
  const { nx, ny } = known;
  const squared = squaredDistances(known);
  const end = ({ column, row, nx: w, ny: h }: CellRange) => [column + w, row + h] as const;
  const [x1, y1] = end(view);
  const [core_x, core_y] = end(core);
  const [survey_x, survey_y] = end(survey);
  const goesOn = [survey.column < view.column, survey_x > x1, survey.row < view.row, survey_y > y1];
  let widest = 0;
  for (let j = 0; j < ny; j += 1) {
    const y = view.row + j + 0.5;
    if (y < survey.row || y > survey_y) continue;
    const toCoreY = Math.max(core.row - y, y - core_y, 0);
    for (let i = 0; i < nx; i += 1) {
      const x = view.column + i + 0.5;
      if (x < survey.column || x > survey_x) continue;
      const radius = Math.sqrt(squared[j * nx + i] ?? 0);
      if (radius <= widest) continue;
      const sides = [x - view.column, x1 - x, y - view.row, y1 - y];
      const toSide = sides.reduce((least, side, k) => (goesOn[k] ? Math.min(least, side) : least), Infinity);
      const toCore = Math.hypot(Math.max(core.column - x, x - core_x, 0), toCoreY);
      if (radius + Math.SQRT1_2 > Math.max(toSide, toCore)) widest = radius;
    }
  }
  return widest;
}

/**
 * Squared distance of every cell to the nearest known one, in cells; a grid without any: as far as its sides are long.
 * Source: Felzenszwalb & Huttenlocher 2012, Theory of Computing 8, 415-428: lower envelope of parabolas, along each axis.
 */
function squaredDistances({ has, nx, ny }: { readonly has: Uint8Array; readonly nx: number; readonly ny: number }) {
  const far = (nx + ny) ** 2;
  const out = Float64Array.from(has, (one) => (one ? 0 : far));
  const line = new Float64Array(Math.max(nx, ny));
  const envelope = new Envelope(line.length);
  for (let i = 0; i < nx; i += 1) {
    for (let j = 0; j < ny; j += 1) line[j] = out[j * nx + i] ?? far;
    envelope.lower(line, ny, (j, value) => {
      out[j * nx + i] = value;
    });
  }
  for (let j = 0; j < ny; j += 1) {
    line.set(out.subarray(j * nx, (j + 1) * nx));
    envelope.lower(line, nx, (i, value) => {
      out[j * nx + i] = value;
    });
  }
  return out;
}

class Envelope {
  readonly #at: Int32Array;
  readonly #from: Float64Array;

  constructor(length: number) {
    this.#at = new Int32Array(length);
    this.#from = new Float64Array(length + 1);
  }

  /** The least of line[k] + (i - k)^2 over k, for every i. */
  lower(line: Float64Array, length: number, set: (i: number, value: number) => void): void {
    const [at, from] = [this.#at, this.#from];
    const height = (k: number) => (line[k] ?? 0) + k * k;
    let last = 0;
    at[0] = 0;
    from[0] = -Infinity;
    from[1] = Infinity;
    for (let k = 1; k < length; k += 1) {
      const meets = (other: number) => (height(k) - height(other)) / (2 * (k - other));
      while (meets(at[last] ?? 0) <= (from[last] ?? 0)) last -= 1;
      const place = meets(at[last] ?? 0);
      last += 1;
      at[last] = k;
      from[last] = place;
      from[last + 1] = Infinity;
    }
    for (let i = 0, piece = 0; i < length; i += 1) {
      while ((from[piece + 1] ?? Infinity) < i) piece += 1;
      const k = at[piece] ?? 0;
      set(i, (line[k] ?? 0) + (i - k) ** 2);
    }
  }
}
