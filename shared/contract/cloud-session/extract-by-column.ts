import { z } from "zod";
import { MAX_UNASKED_CHILDREN } from "../../limits.ts";
import { SessionId, Warnings } from "../fields.ts";
import { ChildSession } from "./child.ts";

export const DEFAULT_EXCLUDED_VALUES = [0];

export const ExtractByColumnRequest = z
  .object({
    slug: z.string().describe("name of a column with classes; values are rounded"),
    exclude_values: z
      .array(z.int())
      .nullish()
      .transform((values) => values ?? DEFAULT_EXCLUDED_VALUES)
      .describe("classes for which no session is created; default [0]"),
    rebuild_parent: z.boolean().default(false).describe("true: also rebuild the octree of the original session"),
    acknowledge_cost: z
      .boolean()
      .default(false)
      .describe(
        `true: run although more than ${MAX_UNASKED_CHILDREN} sessions are created. false: such a run is answered 409 with a cost warning before it starts`,
      ),
    include_misses: z
      .boolean()
      .default(false)
      .describe("true: copy the misses to every new session; with scan_index, to that of their scan"),
  })
  .meta({ id: "ExtractByColumnRequest" });
export type ExtractByColumnRequest = z.infer<typeof ExtractByColumnRequest>;

export const ExtractByColumnTail = z
  .object({
    session_id: SessionId,
    children: z
      .array(ChildSession.extend({ value: z.int().describe("class of the points in this session") }))
      .describe("one new session per class, in ascending order of class"),
    parent: ChildSession.optional().describe("with rebuild_parent: the original session"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExtractByColumnTail" });
export type ExtractByColumnTail = z.infer<typeof ExtractByColumnTail>;
