import { z } from "zod";
import { AppError } from "../errors.ts";

/*
 * metadata.json of a Potree 2 octree (github.com/potree/PotreeConverter, "2.0" output): the keys that a reader needs.
 *
 * key                              meaning
 * version                          "2.0"
 * points                           points in the octree
 * projection                       free text, usually WKT or a proj string; often empty
 * hierarchy.firstChunkSize         bytes of the first chunk of hierarchy.bin
 * offset, scale                    coordinate = stored int32 * scale + offset, per axis
 * spacing                          point spacing of the root node; halves with every level
 * boundingBox                      the root node's cube
 * encoding                         "DEFAULT": fixed-stride records, no compression
 * attributes[]                     record layout, in order; coordinates come first as "position"
 */

/** Bytes per element of the types in a record. */
export const ELEMENT_BYTES = {
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float: 4,
  double: 8,
} as const;
export type ElementType = keyof typeof ELEMENT_BYTES;

/** Limit of the size of one point record. */
const MAX_RECORD_BYTES = 64 * 1024;
const MAX_ATTRIBUTES = 4096;
/** Bytes of one node in hierarchy.bin. */
export const HIERARCHY_RECORD_BYTES = 22;

export type Triple = readonly [number, number, number];
export interface Box {
  readonly min: Triple;
  readonly max: Triple;
}

export interface OctreeAttribute {
  readonly name: string;
  readonly description: string;
  readonly type: ElementType;
  readonly num_elements: number;
  /** Bytes from the start of a record. */
  readonly byte_offset: number;
  /** Per element; empty when the file has none. */
  readonly min: readonly number[];
  readonly max: readonly number[];
}

export interface OctreeMetadata {
  readonly name: string;
  readonly projection: string;
  readonly point_count: number;
  readonly first_chunk_bytes: number;
  readonly offset: Triple;
  readonly scale: Triple;
  readonly spacing: number;
  /** The root node's cube. */
  readonly bounds: Box;
  /** In record order; a repeated name keeps its first entry. */
  readonly attributes: readonly OctreeAttribute[];
  /** Bytes of one point record. */
  readonly record_bytes: number;
}

const triple = z.tuple([z.number(), z.number(), z.number()]);
const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const elementTypes = Object.keys(ELEMENT_BYTES) as [ElementType, ...ElementType[]];
const extrema = z
  .array(z.number().nullable())
  .optional()
  .transform((values) => (values ?? []).filter((value) => value !== null));

const Attribute = z.object({
  name: z.string().min(1),
  description: z.string().optional().default(""),
  size: count,
  numElements: count.min(1),
  elementSize: count,
  type: z.enum(elementTypes),
  min: extrema,
  max: extrema,
});

const Metadata = z.object({
  version: z.string().regex(/^2\./),
  name: z.string().optional().default(""),
  projection: z.string().optional().default(""),
  points: count,
  hierarchy: z.object({ firstChunkSize: count.min(HIERARCHY_RECORD_BYTES) }),
  offset: triple,
  scale: z.tuple([z.number().positive(), z.number().positive(), z.number().positive()]),
  spacing: z.number().positive(),
  boundingBox: z.object({ min: triple, max: triple }),
  encoding: z.literal("DEFAULT"),
  attributes: z.array(Attribute).min(1).max(MAX_ATTRIBUTES),
});

function invalid(rule: string): AppError {
  return new AppError("invalid_file", `metadata.json: ${rule}`);
}

/** Parses metadata.json. Errors: invalid_file, naming the key, its value and the rule. */
export function parseMetadata(text: string): OctreeMetadata {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid_file", "metadata.json: not JSON; build the octree again", undefined, { cause });
  }
  const parsed = Metadata.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalid(`${issue?.path.join(".") || "the document"}: ${issue?.message ?? "not valid"}`);
  }
  const file = parsed.data;
  const { min, max } = file.boundingBox;
  if (min.some((low, axis) => !(low <= (max[axis] ?? Number.NaN)))) {
    throw invalid(`boundingBox.min [${min}] is above boundingBox.max [${max}]`);
  }
  if (file.hierarchy.firstChunkSize % HIERARCHY_RECORD_BYTES !== 0) {
    throw invalid(
      `hierarchy.firstChunkSize ${file.hierarchy.firstChunkSize} is not a multiple of ${HIERARCHY_RECORD_BYTES}`,
    );
  }
  return {
    name: file.name,
    projection: file.projection,
    point_count: file.points,
    first_chunk_bytes: file.hierarchy.firstChunkSize,
    offset: file.offset,
    scale: file.scale,
    spacing: file.spacing,
    bounds: file.boundingBox,
    ...recordLayout(file.attributes),
  };
}

function recordLayout(list: readonly z.infer<typeof Attribute>[]) {
  const attributes = new Map<string, OctreeAttribute>();
  let at = 0;
  for (const { name, description, size, numElements, elementSize, type, min, max } of list) {
    if (elementSize !== ELEMENT_BYTES[type] || size !== numElements * elementSize) {
      throw invalid(`attribute "${name}": size ${size} is not ${numElements} elements of type ${type}`);
    }
    if (!attributes.has(name)) {
      attributes.set(name, { name, description, type, num_elements: numElements, byte_offset: at, min, max });
    }
    at += size;
    if (at > MAX_RECORD_BYTES) throw invalid(`a point record of more than ${MAX_RECORD_BYTES} bytes`);
  }
  const position = attributes.get("position");
  if (position?.type !== "int32" || position.num_elements !== 3) {
    throw invalid('the attribute "position" (int32, 3 elements) is missing');
  }
  return { attributes: [...attributes.values()], record_bytes: at };
}
