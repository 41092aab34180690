import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<OctreeNative>();

export interface OctreeInput {
  readonly positions: NativeColumn;
  /** u8 per row, 1 = left out; null = all rows. */
  readonly skip: NativeColumn | null;
  /** In file order; "rgb" is the rgb16 column. */
  readonly attributes: readonly { readonly name: string; readonly label: string; readonly column: NativeColumn }[];
}

export interface OctreeBuildParams {
  /** Requested coordinate step, metres; coarser if the extent does not fit into 32 bits. */
  readonly scale: number;
  readonly leaf_capacity: number;
}

export interface OctreeBuilt {
  readonly point_count: number;
  readonly node_count: number;
  readonly depth: number;
  /** Coordinate step used, metres; coarser than requested for clouds beyond 2^30 steps. */
  readonly scale: readonly [number, number, number];
}

export interface OctreeNative {
  octreeBuildCost(
    pointCount: number,
    bytesPerPoint: number,
  ): { readonly scratch_bytes: number; readonly output_bytes: number };
  octreeContentHash(input: OctreeInput, params: OctreeBuildParams): NativeJob<string>;
  octreeBuild(input: OctreeInput, params: OctreeBuildParams, folder: string): NativeJob<OctreeBuilt>;
}

/** Hash of the octree's content, 40 hex digits; it changes with any point, attribute, name or label. */
export const octreeContentHash = (input: OctreeInput, params: OctreeBuildParams) =>
  addon.octreeContentHash(input, params);
/** Writes metadata.json, hierarchy.bin and octree.bin into an existing folder. */
export const octreeBuild = (input: OctreeInput, params: OctreeBuildParams, folder: string) =>
  addon.octreeBuild(input, params, folder);
/** Memory and disk space of a build. bytesPerPoint: 12 for the position plus the sizes of the attributes. */
export const octreeBuildCost = (pointCount: number, bytesPerPoint: number) =>
  addon.octreeBuildCost(pointCount, bytesPerPoint);
