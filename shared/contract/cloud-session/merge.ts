import { z } from "zod";
import { MissOctreeCacheId, Warnings, WorldShift } from "../fields.ts";
import { ChildSession } from "./child.ts";

export const MergeRequest = z
  .object({
    session_ids: z
      .array(z.string())
      .describe(
        "at least two different sessions; the first determines the stored frame of the result. Where some count the returns of a pulse from 0 and others from 1, target_index of the result counts from 1. Scans keep their scanner positions; where some of different positions have one scan_index, or none, scan_index of the result numbers them anew, and beam_origins are filled with the position of a scanner that stood still",
      ),
  })
  .meta({ id: "MergeRequest" });
export type MergeRequest = z.infer<typeof MergeRequest>;

export const MergeResponse = z
  .object({
    merged: ChildSession.extend({
      world_shift: WorldShift,
      source_units: z
        .string()
        .nullable()
        .describe("common source_units of the sessions; null = they differ, or none given"),
      source_unit_scale: z.number().nullable().describe("metres per source unit; null = they differ, or none given"),
      has_misses: z.boolean().describe("true: some rows are misses (sky points)"),
      miss_octree_cache_id: MissOctreeCacheId,
    }).describe("the new session"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "MergeResponse" });
export type MergeResponse = z.infer<typeof MergeResponse>;
