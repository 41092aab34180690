import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";
import { Selection } from "../region.ts";
import { ChildSession } from "./child.ts";

/** Copies the points that pass, and every miss, to a new session. */
export const ExtractRequest = Selection.extend({}).meta({ id: "ExtractRequest" });
export type ExtractRequest = z.infer<typeof ExtractRequest>;

export const ExtractResponse = z
  .object({
    session_id: SessionId,
    extracted: ChildSession.nullable().describe("the new session; null when no hit passed"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExtractResponse" });
export type ExtractResponse = z.infer<typeof ExtractResponse>;
