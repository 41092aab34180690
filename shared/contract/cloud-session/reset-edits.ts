import { z } from "zod";
import { EditCounts } from "./counts.ts";

export const ResetEditsRequest = z
  .object({
    edit_count: z
      .int()
      .nullish()
      .default(null)
      .describe("number of deletions to keep, oldest first; null = none; more than there are = all"),
  })
  .meta({ id: "ResetEditsRequest" });
export type ResetEditsRequest = z.infer<typeof ResetEditsRequest>;

export const ResetEditsResponse = EditCounts;
export type ResetEditsResponse = z.infer<typeof ResetEditsResponse>;
