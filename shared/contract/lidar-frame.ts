import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { MissOctreeCacheId, SessionId, Warnings } from "./fields.ts";
import { Point } from "./geometry.ts";
import { OctreeBlock } from "./octree.ts";

const ScanSession = OctreeBlock.partial()
  .extend({
    session_id: SessionId,
    point_count: z.int().describe("rows of the session: hits and misses"),
    has_misses: z.boolean().describe("whether the session has misses"),
    miss_count: z.int().describe("number of misses"),
    miss_slug: z.literal("is_miss").describe("column that marks the misses"),
    scan_origin: Point.describe("position of the scanner, metres, true world; the first one of a moving scanner"),
    miss_octree_cache_id: MissOctreeCacheId,
  })
  .meta({
    id: "ScanSession",
    description: "session of a scan; the octree's fields are absent if it could not be built",
  });

const ScannedCloud = z
  .object({
    scanner_id: z.string().describe("id of the scanner in the request"),
    num_points: z.int().describe("number of hits; 0 is valid"),
    has_colors: z.boolean().describe("whether there is a buffer of colours"),
    scalar_fields: z.array(z.string()).describe("names of the scalar buffers: entry j belongs to s{i}.scalar{j}"),
    session: ScanSession.optional().describe(
      "its session; absent without any recorded pulse, or if it could not be made",
    ),
  })
  .meta({ id: "ScannedCloud", description: "what a scanner recorded" });

/** Meta of the frame. */
export const LidarScanSuccess = z
  .object({
    success: z.literal(true).describe("the scene was scanned"),
    error: z.null().describe("null: success"),
    scanners: z.array(ScannedCloud).describe("clouds in the order of the scanners of the request"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "LidarScanSuccess", description: "synthetic scans" });
export type LidarScanSuccess = z.infer<typeof LidarScanSuccess>;
export type ScannedCloud = LidarScanSuccess["scanners"][number];

export const LidarScanFailure = z
  .object({
    success: z.literal(false).describe("there is no scan"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "LidarScanFailure", description: "failure: there is no scan" });
export type LidarScanFailure = z.infer<typeof LidarScanFailure>;

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);

/** Buffers of scanner 0; those of scanner i begin with s{i}. */
const LidarScanBuffers = z
  .object({
    "s0.points": buffer("f32 (3 num_points) x, y, z of each hit, metres, true world; s1.points for the next scanner"),
    "s0.colors": buffer("f32 (3 num_points) red, green, blue, 0..1; with has_colors"),
    "s0.scalar0": buffer("f32 (num_points) values of scalar_fields[0]; s0.scalar1 for the next field"),
  })
  .meta({ id: "LidarScanBuffers", description: "arrays of the frame; absent on failure" });

/** Form in which the documentation shows the PHB1 frame. */
export const LidarScanFrame = z
  .object({
    meta: z.discriminatedUnion("success", [LidarScanSuccess, LidarScanFailure]).describe("scalars of the frame"),
    buffers: LidarScanBuffers,
  })
  .meta({ id: "LidarScanFrame", description: "PHB1 frame: scalars and arrays" });
