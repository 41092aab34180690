import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";
import { ChildSession } from "./child.ts";

/**
 * No request body. Copies the rows that are not deleted, including misses, but no undo steps and no recovered misses.
 */
export const DuplicateResponse = z
  .object({
    session_id: SessionId,
    duplicate: ChildSession.describe("the copy"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "DuplicateResponse" });
export type DuplicateResponse = z.infer<typeof DuplicateResponse>;
