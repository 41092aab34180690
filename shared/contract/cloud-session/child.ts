import { z } from "zod";
import { OctreeBlock } from "../octree.ts";

/** A new session and its octree. */
export const ChildSession = OctreeBlock.extend({ session_id: z.string() });
export type ChildSession = z.infer<typeof ChildSession>;
