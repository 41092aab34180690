import { z } from "zod";

/** Expected cost of a long or large run. The run starts when the request is sent again with acknowledge_cost. */
export const CostWarning = z
  .object({
    message: z.string().describe("cost as a sentence for the user"),
    estimated_seconds: z.number().describe("expected duration, seconds"),
    estimated_bytes: z.int().describe("expected memory, bytes"),
    budget_bytes: z.int().describe("memory that all runs together may use, bytes"),
    headroom_bytes: z.int().describe("budget_bytes - admitted_bytes, at least 0, bytes"),
    admitted_bytes: z.int().describe("memory reserved by the runs in progress, bytes"),
    over_time: z.boolean().describe("true: estimated_seconds is at or above the limit for a warning"),
    over_memory: z
      .boolean()
      .describe("true: estimated_bytes exceeds headroom_bytes; the run would wait for memory, or run alone"),
    session_count: z
      .int()
      .optional()
      .describe("extract_by_column: number of sessions it would create; absent if the number is no reason to ask"),
    nodes: z.int().optional().describe("segment trees: number of graph nodes"),
    node_guideline: z.int().optional().describe("segment trees: number of graph nodes above which is asked"),
    points: z.int().optional().describe("segment trees: number of points that are not ground"),
    decimate_res1: z.number().optional().describe("segment trees: voxel of stage 1, metres"),
  })
  .meta({ id: "CostWarning" });
export type CostWarning = z.infer<typeof CostWarning>;

/** Body of the 409: `{ detail: { cost_warning, message }, code: "conflict" }`. */
export const CostRefusal = z
  .object({
    detail: z
      .object({
        cost_warning: CostWarning.describe("expected cost of the run"),
        message: z.string().describe("same as cost_warning.message"),
      })
      .describe("cost for the user to confirm: send the request again with acknowledge_cost to start the run"),
    code: z.literal("conflict").optional().describe("error code"),
  })
  .meta({ id: "CostRefusal" });
export type CostRefusal = z.infer<typeof CostRefusal>;
