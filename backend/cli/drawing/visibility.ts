/** Marks a subpixel without a visible point. */
export const NO_POINT = 0xffff_ffff;

/** The visible point at each subpixel of a view. */
export interface Visibility {
  readonly width: number;
  readonly height: number;
  /** Index of the nearest point, or NO_POINT. */
  readonly point: Uint32Array;
  /** Depth of that point, metres towards the viewer, relative to the first point; -Infinity without a point. */
  readonly depth: Float32Array;
  /** Typical diameter of a point, subpixels. */
  readonly diameter: number;
  /** Points inside the picture. */
  readonly drawn_count: number;
}
