import { z } from "zod";
import { ChildSession } from "./child.ts";

/** No request body. Survivors, misses included; no undo stacks, no recovered misses. */
export const DuplicateResponse = z.object({
  session_id: z.string(),
  duplicate: ChildSession,
  warnings: z.array(z.string()).optional(),
});
export type DuplicateResponse = z.infer<typeof DuplicateResponse>;
