import { z } from "zod";
import { Box, Point } from "./geometry.ts";

export const CACHE_ID_PATTERN = /^[0-9a-f]{40}$/;
export const CacheId = z.string().regex(CACHE_ID_PATTERN, "must be 40 lower-case hex digits");

/** The files a viewer may fetch, with their content types. */
export const OCTREE_FILES = {
  "metadata.json": "application/json; charset=utf-8",
  "hierarchy.bin": "application/octet-stream",
  "octree.bin": "application/octet-stream",
} as const;
export type OctreeFile = keyof typeof OCTREE_FILES;

export function isOctreeFile(name: string): name is OctreeFile {
  return Object.hasOwn(OCTREE_FILES, name);
}

export const OctreeFileParams = z.object({ cache_id: z.string(), file: z.string() });

export const OctreeAttribute = z.object({
  name: z.string(),
  size: z.int().describe("bytes per point"),
  type: z.string().describe("int8..int64, uint8..uint64, float, double"),
  num_elements: z.int(),
  label: z.string().optional(),
  min: z.array(z.number()).optional(),
  max: z.array(z.number()).optional(),
});

/** The octree block of every answer that hands out an octree; its keys lie flat beside the others. */
export const OctreeBlock = z.object({
  cache_id: CacheId,
  cache_dir: z.string().describe("absolute folder"),
  version: z.string().describe("2.0"),
  point_count: z.int().describe("points in the octree: surviving hits"),
  spacing: z.number().describe("root node spacing, metres"),
  scale: Point.describe("coordinate = integer * scale + offset"),
  offset: Point.describe("metres, stored frame"),
  bounds: Box.describe("stored frame, padded to a cube; for level of detail only"),
  tight_bounds: Box.describe("stored frame, real extent"),
  attributes: z.array(OctreeAttribute),
  observed_classes: z.record(z.string(), z.array(z.int())).optional().describe("distinct values per integer column"),
  robust_bounds: Box.nullable().optional().describe("stored frame, p1..p99 of editable points"),
  robust_attribute_ranges: z.record(z.string(), z.tuple([z.number(), z.number()])).optional(),
  octree_stale: z.boolean().optional().describe("an edit landed while this octree was built"),
});
export type OctreeBlock = z.infer<typeof OctreeBlock>;
