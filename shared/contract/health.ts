import { z } from "zod";

const Version = z.string().describe("version of this service, from its package.json");

export const RootResponse = z
  .object({ message: z.string().describe("a greeting"), version: Version })
  .meta({ id: "RootResponse" });
export type RootResponse = z.infer<typeof RootResponse>;

/** Contains only `version`, which a supervisor compares with the version it expects. */
export const VersionResponse = z.object({ version: Version }).meta({ id: "VersionResponse" });
export type VersionResponse = z.infer<typeof VersionResponse>;

export const HealthResponse = z
  .object({
    status: z.literal("healthy").describe("always healthy when the service answers"),
    service: z.string().describe("name of the service"),
    version: Version,
    memory: z
      .object({
        physical_bytes: z.int().describe("memory of the machine or container, bytes; 0 = unknown"),
        available_bytes: z.int().describe("memory available without swapping, bytes; 0 = unknown"),
        rss_bytes: z.int().describe("resident memory of this process, bytes"),
        budget_bytes: z
          .int()
          .describe("memory budget for operations, bytes: a fixed setting or a fraction of physical_bytes"),
        budget_fraction: z.number().describe("fraction of physical_bytes used as budget, 0.05..1"),
        budget_source: z
          .enum(["env", "fraction"])
          .describe("env: set by APP_MEMORY_BUDGET_BYTES; fraction: budget_fraction * physical_bytes"),
        admission_budget_bytes: z.int().describe("budget currently used to admit operations, bytes"),
        measured: z.boolean().describe("true: available_bytes is a precise measurement"),
      })
      .describe("memory of the machine, and how much of it operations may use"),
    admitted: z.int().describe("number of operations that hold part of the budget"),
    admitted_operations: z
      .array(
        z.object({
          label: z.string().describe("name of the operation"),
          bytes: z.number().describe("memory reserved for the operation, bytes"),
          seconds: z.number().describe("seconds since it was admitted"),
        }),
      )
      .describe("one entry per admitted operation"),
    waiting: z.int().describe("number of runs that wait"),
    waiting_runs: z
      .array(
        z.object({
          run_id: z.string().describe("id of the run, for /api/cancel/{run_id}"),
          label: z.string().describe("method and path of the request"),
          waits_for: z
            .enum(["memory", "session"])
            .describe("memory: for part of the budget; session: for other edits of the same session"),
          seconds: z.number().describe("seconds since it began to wait"),
        }),
      )
      .describe("one entry per run that waits, in the order of their begin"),
  })
  .meta({ id: "HealthResponse" });
export type HealthResponse = z.infer<typeof HealthResponse>;
