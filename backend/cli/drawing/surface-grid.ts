/** A raster from a DEM frame: row 0 at the lowest y, NaN = void; stored frame, metres. */
export interface SurfaceGrid {
  readonly nx: number;
  readonly ny: number;
  readonly cell: number;
  readonly origin: readonly [number, number];
  readonly z: Float32Array;
  /** 0..1; only for a DTM. */
  readonly hillshade: Float32Array | undefined;
}

/** The value of the cell around a place. NaN outside the grid and in a void cell. */
export function cellAt(
  { nx, ny, cell, origin }: Omit<SurfaceGrid, "z" | "hillshade">,
  layer: Float32Array,
  x: number,
  y: number,
): number {
  const [i, j] = [Math.floor((x - origin[0]) / cell), Math.floor((y - origin[1]) / cell)];
  return i < 0 || j < 0 || i >= nx || j >= ny ? Number.NaN : (layer[j * nx + i] ?? Number.NaN);
}

/**
 * A layer of the grid between its cell centres, bilinear over the centres around the place that have a value. NaN
 * outside the grid and in a void cell.
 */
export function layerAt(
  { nx, ny, cell, origin }: Omit<SurfaceGrid, "z" | "hillshade">,
  layer: Float32Array,
  x: number,
  y: number,
): number {
  const [u, v] = [(x - origin[0]) / cell, (y - origin[1]) / cell];
  const [i, j] = [Math.floor(u), Math.floor(v)];
  if (i < 0 || j < 0 || i >= nx || j >= ny || Number.isNaN(layer[j * nx + i] ?? Number.NaN)) return Number.NaN;
  const [left, below] = [Math.floor(u - 0.5), Math.floor(v - 0.5)];
  let sum = 0;
  let weights = 0;
  for (let row = Math.max(0, below); row <= Math.min(ny - 1, below + 1); row += 1) {
    for (let column = Math.max(0, left); column <= Math.min(nx - 1, left + 1); column += 1) {
      const value = layer[row * nx + column] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const weight = (1 - Math.abs(u - 0.5 - column)) * (1 - Math.abs(v - 0.5 - row));
      sum += weight * value;
      weights += weight;
    }
  }
  return weights > 0 ? sum / weights : (layer[j * nx + i] ?? Number.NaN);
}
