import { z } from "zod";

/** What a long or large run is expected to take: a question, never a refusal. Sent again with acknowledge_cost it runs. */
export const CostWarning = z
  .object({
    message: z.string().describe("ready to show"),
    estimated_seconds: z.number().describe("expected duration, seconds"),
    estimated_bytes: z.int().describe("expected memory"),
    budget_bytes: z.int().describe("memory that runs may take together"),
    headroom_bytes: z.int().describe("budget_bytes less admitted_bytes, never below 0"),
    admitted_bytes: z.int().describe("memory promised to runs under way"),
    over_time: z.boolean().describe("estimated_seconds has reached the guideline"),
    over_memory: z.boolean().describe("estimated_bytes is above headroom_bytes: the run would wait, or run alone"),
  })
  .meta({ id: "CostWarning" });
export type CostWarning = z.infer<typeof CostWarning>;

/** Body of the 409: `{ detail: { cost_warning, message }, code: "conflict" }`. */
export const CostRefusal = z
  .object({
    detail: z
      .object({
        cost_warning: CostWarning.describe("what the run is expected to take"),
        message: z.string().describe("the same sentence as in cost_warning"),
      })
      .describe("a question for the user; the request runs when it is sent again with acknowledge_cost"),
    code: z.literal("conflict").optional().describe("name of the refusal"),
  })
  .meta({ id: "CostRefusal" });
export type CostRefusal = z.infer<typeof CostRefusal>;
