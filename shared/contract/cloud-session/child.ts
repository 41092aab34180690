import type { z } from "zod";
import { SessionId } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

/** A session and its octree. */
export const ChildSession = OctreeBlock.extend({ session_id: SessionId }).meta({
  id: "ChildSession",
  description: "a session and its octree",
});
export type ChildSession = z.infer<typeof ChildSession>;
