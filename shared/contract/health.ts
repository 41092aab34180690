import { z } from "zod";

const Version = z.string().describe("version of this service, as in its package.json");

export const RootResponse = z
  .object({ message: z.string().describe("a greeting"), version: Version })
  .meta({ id: "RootResponse" });
export type RootResponse = z.infer<typeof RootResponse>;

/** Nothing else: the supervisor compares `version` with its own. */
export const VersionResponse = z.object({ version: Version }).meta({ id: "VersionResponse" });
export type VersionResponse = z.infer<typeof VersionResponse>;

export const HealthResponse = z
  .object({
    status: z.literal("healthy").describe("the service answers"),
    service: z.string().describe("name of the service"),
    version: Version,
    memory: z
      .object({
        physical_bytes: z.int().describe("memory of the machine or container, 0 = unknown"),
        available_bytes: z.int().describe("free without swapping, 0 = unknown"),
        rss_bytes: z.int().describe("resident size of this process"),
        budget_bytes: z.int().describe("planning budget: pinned, or a fraction of physical_bytes"),
        budget_fraction: z.number().describe("fraction in use, 0.05..1"),
        budget_source: z.enum(["env", "fraction"]).describe("env: pinned by APP_MEMORY_BUDGET_BYTES"),
        admission_budget_bytes: z.int().describe("what admission uses now"),
        measured: z.boolean().describe("whether available_bytes is a precise measurement"),
      })
      .describe("memory of the machine and what operations may take of it"),
    admitted: z.int().describe("operations counted against the budget"),
    admitted_operations: z
      .array(
        z.object({
          label: z.string().describe("name of the operation"),
          bytes: z.number().describe("memory it was admitted with"),
          seconds: z.number().describe("since admission"),
        }),
      )
      .describe("one entry per admitted operation"),
  })
  .meta({ id: "HealthResponse" });
export type HealthResponse = z.infer<typeof HealthResponse>;
