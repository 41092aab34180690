import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { Box, Point } from "./geometry.ts";

export const CACHE_ID_PATTERN = /^[0-9a-f]{40}$/;
export const CacheId = z
  .string()
  .regex(CACHE_ID_PATTERN, "must be 40 lower-case hex digits")
  .describe("id of the octree; names its folder in the cache and its URL below /octree");

/** Files that a viewer may request, with their content types. */
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
  cache_id: z.string().describe("octree id, 40 lower-case hex digits: the cache_id of a response"),
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
    name: z.string().describe("name in metadata.json"),
    size: z.int().describe("bytes per point"),
    type: z.enum(ELEMENT_TYPES).describe("type of an element"),
    num_elements: z.int().describe("elements per point, such as 3 for a position"),
    label: z.string().optional().describe("display name"),
    min: z.array(z.number()).optional().describe("smallest value of each element"),
    max: z.array(z.number()).optional().describe("largest value of each element"),
  })
  .meta({ id: "OctreeAttribute", description: "an attribute of the points in the octree" });

/** Fields of every response that contains an octree, at the same level as the other fields. */
export const OctreeBlock = z
  .object({
    cache_id: CacheId,
    cache_dir: z.string().describe("absolute path of the folder with the octree's files"),
    version: z.string().describe("version of the file layout: 2.0"),
    point_count: z.int().describe("points in the octree (hits that were not deleted)"),
    spacing: z.number().describe("point spacing of the root node, metres"),
    scale: Point.describe("metres per integer step: coordinate = integer * scale + offset"),
    offset: Point.describe("origin of the integer coordinates, metres, stored frame"),
    bounds: Box.describe("bounding cube of the nodes, metres, stored frame; for level of detail only"),
    tight_bounds: Box.nullable().describe("extent of the points, metres, stored frame; null without points"),
    attributes: z.array(OctreeAttribute).describe("attributes of a point, in record order"),
    observed_classes: z
      .record(z.string(), z.array(z.number()))
      .optional()
      .describe("distinct values of each integer column, by column name; none for a column with a value beyond 2^53"),
    robust_bounds: Box.nullable()
      .optional()
      .describe("1st to 99th percentile of the editable points per axis, metres, stored frame"),
    robust_attribute_ranges: z
      .record(z.string(), z.tuple([z.number(), z.number()]))
      .optional()
      .describe("[1st, 99th percentile] of the values of each column, by column name"),
    octree_stale: z.boolean().optional().describe("true: the cloud was edited while this octree was built"),
  })
  .meta({ id: "OctreeBlock" });
export type OctreeBlock = z.infer<typeof OctreeBlock>;
