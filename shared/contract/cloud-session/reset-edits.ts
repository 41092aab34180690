import { z } from "zod";
import { EditCounts } from "./counts.ts";

export const ResetEditsRequest = z
  .object({
    edit_count: z
      .int()
      .nullish()
      .default(null)
      .describe("delete steps to keep, oldest first; null = none; beyond the stack = all of them"),
  })
  .meta({ id: "ResetEditsRequest" });
export type ResetEditsRequest = z.infer<typeof ResetEditsRequest>;

export const ResetEditsResponse = EditCounts;
export type ResetEditsResponse = z.infer<typeof ResetEditsResponse>;
