import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";
import { ChildSession } from "./child.ts";

export const DEFAULT_EXCLUDED_VALUES = [0];

export const ExtractByColumnRequest = z
  .object({
    slug: z.string().describe("categorical column; the rounded value counts"),
    exclude_values: z
      .array(z.int())
      .nullish()
      .transform((values) => values ?? DEFAULT_EXCLUDED_VALUES)
      .describe("values that get no session; default [0]"),
    rebuild_parent: z.boolean().default(false).describe("also build the octree of the session itself"),
    include_misses: z.boolean().default(false).describe("copy the misses to every new session"),
  })
  .meta({ id: "ExtractByColumnRequest" });
export type ExtractByColumnRequest = z.infer<typeof ExtractByColumnRequest>;

export const ExtractByColumnTail = z
  .object({
    session_id: SessionId,
    children: z
      .array(ChildSession.extend({ value: z.int().describe("class of its points") }))
      .describe("one session per class, by ascending value"),
    parent: ChildSession.optional().describe("with rebuild_parent: the session itself"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExtractByColumnTail" });
export type ExtractByColumnTail = z.infer<typeof ExtractByColumnTail>;
