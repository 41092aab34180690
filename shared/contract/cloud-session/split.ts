import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { Selection } from "../region.ts";
import { ChildSession } from "./child.ts";

/** Moves the hits outside the selection to a new session. Misses stay. Earlier edits can no longer be undone. */
export const SplitRequest = Selection.extend({}).meta({ id: "SplitRequest" });
export type SplitRequest = z.infer<typeof SplitRequest>;

const NothingKept = z
  .object({
    point_count: z.literal(0).describe("0: no hit remains"),
    cache_id: z.null().describe("null: no octree"),
    cache_dir: z.null().describe("null: no octree"),
  })
  .meta({ id: "NothingKept", description: "no hit remains in the session" });

export const SplitResponse = z
  .object({
    session_id: SessionId,
    kept: z.union([OctreeBlock, NothingKept]).describe("octree of the points that remain in the session"),
    leftover: ChildSession.nullable().describe("the new session; null if all hits were selected"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "SplitResponse" });
export type SplitResponse = z.infer<typeof SplitResponse>;
