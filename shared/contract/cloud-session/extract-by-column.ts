import { z } from "zod";
import { ChildSession } from "./child.ts";

export const DEFAULT_EXCLUDED_VALUES = [0];

export const ExtractByColumnRequest = z.object({
  slug: z.string().describe("categorical column; the rounded value counts"),
  exclude_values: z
    .array(z.int())
    .nullish()
    .transform((values) => values ?? DEFAULT_EXCLUDED_VALUES)
    .describe("values that get no session; default [0]"),
  rebuild_parent: z.boolean().default(false).describe("also build the octree of the session itself"),
  include_misses: z.boolean().default(false).describe("copy the misses to every new session"),
});
export type ExtractByColumnRequest = z.infer<typeof ExtractByColumnRequest>;

export const ExtractByColumnTail = z.object({
  session_id: z.string(),
  children: z.array(ChildSession.extend({ value: z.int() })).describe("by ascending value"),
  parent: ChildSession.optional(),
  warnings: z.array(z.string()).optional(),
});
export type ExtractByColumnTail = z.infer<typeof ExtractByColumnTail>;
