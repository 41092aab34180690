import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { Box, Point } from "./geometry.ts";

export const CACHE_ID_PATTERN = /^[0-9a-f]{40}$/;
export const CacheId = z
  .string()
  .regex(CACHE_ID_PATTERN, "must be 40 lower-case hex digits")
  .describe("id of the octree: names its folder in the cache and its files under /octree");

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

export const OctreeFileParams = z.object({
  cache_id: z.string().describe("cache_id of an answer with an octree: 40 lower-case hex digits"),
  file: checkedByService(z.string(), z.enum(Object.keys(OCTREE_FILES) as OctreeFile[])).describe(
    "metadata.json: layout and attributes; hierarchy.bin: nodes; octree.bin: points (Potree 2)",
  ),
});

/** Element types of the Potree 2 layout. */
export const ELEMENT_TYPES = [
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "float",
  "double",
] as const;

export const OctreeAttribute = z
  .object({
    name: z.string().describe("as in metadata.json"),
    size: z.int().describe("bytes per point"),
    type: z.enum(ELEMENT_TYPES).describe("of one element"),
    num_elements: z.int().describe("elements per point, 3 for a position"),
    label: z.string().optional().describe("display name"),
    min: z.array(z.number()).optional().describe("smallest value of each element"),
    max: z.array(z.number()).optional().describe("largest value of each element"),
  })
  .meta({ id: "OctreeAttribute", description: "one attribute of the octree's points" });

/** The octree block of every answer that hands out an octree; its keys lie flat beside the others. */
export const OctreeBlock = z
  .object({
    cache_id: CacheId,
    cache_dir: z.string().describe("absolute folder of the octree's files"),
    version: z.string().describe("of the file layout: 2.0"),
    point_count: z.int().describe("points in the octree: surviving hits"),
    spacing: z.number().describe("root node spacing, metres"),
    scale: Point.describe("metres per integer step: coordinate = integer * scale + offset"),
    offset: Point.describe("metres, stored frame"),
    bounds: Box.describe("metres, stored frame, padded to a cube; for level of detail only"),
    tight_bounds: Box.describe("metres, stored frame, real extent"),
    attributes: z.array(OctreeAttribute).describe("attributes of a point, in the order of its record"),
    observed_classes: z
      .record(z.string(), z.array(z.int()))
      .optional()
      .describe("column -> its distinct values, for integer columns"),
    robust_bounds: Box.nullable().optional().describe("metres, stored frame, p1..p99 of editable points"),
    robust_attribute_ranges: z
      .record(z.string(), z.tuple([z.number(), z.number()]))
      .optional()
      .describe("column -> [p1, p99] of its values"),
    octree_stale: z.boolean().optional().describe("an edit landed while this octree was built"),
  })
  .meta({ id: "OctreeBlock" });
export type OctreeBlock = z.infer<typeof OctreeBlock>;
