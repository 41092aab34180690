import type { Box } from "../../shared/contract/geometry.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

type Triple = readonly [number, number, number];

/** Rows of one tree, and the labels that tell its crown. */
export interface TreeRows {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = leave out; null = none. Not read with an order. */
  readonly skip: NativeColumn | null;
  /** u32 or u64 rows of all trees; null = all rows of the cloud. */
  readonly order: NativeColumn | null;
  /** The tree's part of the order; not read without. */
  readonly first: number;
  readonly count: number;
  /** Per row, 1 = ground; null = not labelled. */
  readonly ground_class: NativeColumn | null;
  /** Per row, 2 = leaf; null = not labelled. */
  readonly wood_class: NativeColumn | null;
  /** With wood_class: only leaf points are crown points. */
  readonly leaf_only: boolean;
}

export interface CrownParams {
  readonly shape: "ellipsoid" | "prism" | "cone" | "alpha";
  /** 0..1 */
  readonly strictness: number;
  /** Added to the positions of the result, metres. */
  readonly offset: Triple;
  /** alpha: radius of the ball, metres; null = as small as suffices. */
  readonly alpha_m: number | null;
  /** alpha: more are refused. */
  readonly most_triangles: number;
}

/** Metres; positions with the offset added. */
export interface NativeCrown {
  /** Of the box of the solid; alpha: of the mesh. */
  readonly center: Triple;
  /** Half-extents of that box. */
  readonly half: Triple;
  readonly volume_m3: number;
  readonly surface_area_m2: number;
  /** Crown points inside the solid. */
  readonly enclosed_count: number;
  /** Of these points. */
  readonly highest_z: number;
  /** The crown points do not differ along an axis of the solid. */
  readonly flat: boolean;
  readonly vertices: number[];
  readonly normals: number[];
  readonly triangles: number[];
  /** alpha: the radius used; null for other shapes. */
  readonly alpha_m: number | null;
  /** No more points are outside than strictness permits. */
  readonly holds_enough: boolean;
  /** Every edge of the mesh joins two triangles. */
  readonly watertight: boolean;
  /** alpha: volume at twice the radius over that at the radius; 1 if it was given, and for other shapes. */
  readonly growth_of_doubled: number;
  /** alpha: volume of the shape of every second point over its own; 0: they have none. 1 for other shapes. */
  readonly share_of_half: number;
  /** Volume of the same kind of solid around all points, alpha with the same radius, over its own. */
  readonly share_of_all: number;
}

export interface CrownFit {
  readonly crown_point_count: number;
  /** Points that are not finite. */
  readonly unusable_count: number;
  /** Of all points of the tree, in the frame of the positions; null = none. */
  readonly tree_box: Box | null;
  /** Lowest point of the tree, with the offset added; null = none. */
  readonly lowest_z: number | null;
  /** Lowest ground point of the tree, with the offset added; null = none. */
  readonly ground_z: number | null;
  /** null = fewer than 4 crown points. */
  readonly crown: NativeCrown | null;
}

export interface FitNative {
  fitCrown(tree: TreeRows, params: CrownParams): NativeJob<CrownFit>;
  crownFitBytes(points: number, alphaShape: boolean): number;
  groundUnderTrees(
    positions: NativeColumn,
    skip: NativeColumn | null,
    groundClass: NativeColumn,
    boxes: readonly number[],
  ): NativeJob<readonly (number | null)[]>;
  thinRows(rows: number, skip: NativeColumn | null, stride: number): NativeJob<NativeColumn>;
}

const addon = addonAs<FitNative>();

/** One crown. Errors: invalid_argument for points without an extent, or that have no solid of the shape. */
export const fitCrown: FitNative["fitCrown"] = (tree, params) => addon.fitCrown(tree, params);
/** Memory for the crown of a tree of this many points, bytes. */
export const crownFitBytes: FitNative["crownFitBytes"] = (points, alphaShape) =>
  addon.crownFitBytes(points, alphaShape);
/**
 * z of the lowest ground point in the horizontal box of each tree (min x, min y, max x, max y), in the frame of the
 * positions; null = none.
 */
export const groundUnderTrees: FitNative["groundUnderTrees"] = (positions, skip, groundClass, boxes) =>
  addon.groundUnderTrees(positions, skip, groundClass, boxes);
/** u8 per row, 0 = every so many-th of the rows that `skip` does not mark. */
export const thinRows: FitNative["thinRows"] = (rows, skip, stride) => addon.thinRows(rows, skip, stride);
