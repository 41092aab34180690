import { z } from "zod";

export const CancelParams = z.object({
  run_id: z.string().describe("run id from the first marker of the run's stream, or from the header x-run-id"),
});

/** Canceling a run twice while it is in progress returns true both times. */
export const CancelResponse = z
  .object({
    canceled: z.boolean().describe("true: the run was asked to stop; false: it is unknown or has finished"),
    cancelled: z.boolean().describe("same as canceled, in British spelling"),
    run_id: z.string().describe("run id of the request"),
  })
  .meta({ id: "CancelResponse" });
export type CancelResponse = z.infer<typeof CancelResponse>;
