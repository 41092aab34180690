/** A raster as a frame brings it: row 0 at the lowest y, NaN = nothing; stored frame, metres. */
export interface SurfaceGrid {
  readonly nx: number;
  readonly ny: number;
  readonly cell: number;
  readonly origin: readonly [number, number];
  readonly z: Float32Array;
  /** 0..1; the DTM has it. */
  readonly hillshade: Float32Array | undefined;
}
