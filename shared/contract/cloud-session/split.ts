import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { Selection } from "../region.ts";
import { ChildSession } from "./child.ts";

/** The points that pass stay, the others move to a new session. Misses stay. An undo boundary. */
export const SplitRequest = Selection.extend({}).meta({ id: "SplitRequest" });
export type SplitRequest = z.infer<typeof SplitRequest>;

const NothingKept = z
  .object({
    point_count: z.literal(0).describe("no hit stays"),
    cache_id: z.null().describe("no octree"),
    cache_dir: z.null().describe("no octree"),
  })
  .meta({ id: "NothingKept", description: "no hit stays in the session" });

export const SplitResponse = z
  .object({
    session_id: SessionId,
    kept: z.union([OctreeBlock, NothingKept]).describe("the octree of what stays in the session"),
    leftover: ChildSession.nullable().describe("the new session; null when every point passed"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "SplitResponse" });
export type SplitResponse = z.infer<typeof SplitResponse>;
