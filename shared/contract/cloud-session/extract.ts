import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";
import { Selection } from "../region.ts";
import { ChildSession } from "./child.ts";

/** Copies the selected hits and all misses to a new session. */
export const ExtractRequest = Selection.extend({}).meta({ id: "ExtractRequest" });
export type ExtractRequest = z.infer<typeof ExtractRequest>;

export const ExtractResponse = z
  .object({
    session_id: SessionId,
    extracted: ChildSession.nullable().describe("the new session; null if no hit was selected"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExtractResponse" });
export type ExtractResponse = z.infer<typeof ExtractResponse>;
