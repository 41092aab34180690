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
