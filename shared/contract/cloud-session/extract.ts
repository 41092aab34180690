import { z } from "zod";
import { Selection } from "../region.ts";
import { ChildSession } from "./child.ts";

/** Copies the points that pass, and every miss, to a new session. */
export const ExtractRequest = Selection;
export type ExtractRequest = z.infer<typeof ExtractRequest>;

export const ExtractResponse = z.object({
  session_id: z.string(),
  extracted: ChildSession.nullable().describe("null when no hit passed"),
  warnings: z.array(z.string()).optional(),
});
export type ExtractResponse = z.infer<typeof ExtractResponse>;
