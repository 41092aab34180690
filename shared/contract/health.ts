import { z } from "zod";

export const RootResponse = z.object({ message: z.string(), version: z.string() });
export type RootResponse = z.infer<typeof RootResponse>;

/** Nothing else: the supervisor compares `version` with its own. */
export const VersionResponse = z.object({ version: z.string() });
export type VersionResponse = z.infer<typeof VersionResponse>;

export const HealthResponse = z.object({
  status: z.literal("healthy"),
  service: z.string(),
  version: z.string(),
  memory: z.object({
    physical_bytes: z.int().describe("memory of the machine or container, 0 = unknown"),
    available_bytes: z.int().describe("free without swapping, 0 = unknown"),
    rss_bytes: z.int().describe("resident size of this process"),
    budget_bytes: z.int().describe("planning budget: pinned, or a fraction of physical_bytes"),
    budget_fraction: z.number().describe("fraction in use, 0.05..1"),
    budget_source: z.enum(["env", "fraction"]),
    admission_budget_bytes: z.int().describe("what admission uses now"),
    measured: z.boolean().describe("whether available_bytes is a precise measurement"),
  }),
  admitted: z.int().describe("operations counted against the budget"),
  admitted_operations: z.array(
    z.object({ label: z.string(), bytes: z.number(), seconds: z.number().describe("since admission") }),
  ),
});
export type HealthResponse = z.infer<typeof HealthResponse>;
