/** No point is seen here. */
export const NO_POINT = 0xffff_ffff;

/** What is seen at each subpixel of a view. */
export interface Visibility {
  readonly width: number;
  readonly height: number;
  /** Index of the nearest point, or NO_POINT. */
  readonly point: Uint32Array;
  /** Depth of that point, metres towards the viewer, relative to the first point; -Infinity where nothing is seen. */
  readonly depth: Float32Array;
  /** Usual size of a point, subpixels. */
  readonly diameter: number;
  /** Points inside the picture. */
  readonly drawn_count: number;
}
