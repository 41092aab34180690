import { z } from "zod";

export const CancelParams = z.object({
  run_id: z.string().describe("from the first marker of the run's stream, or from the header x-run-id"),
});

/** Asking twice while the run is under way is true twice. */
export const CancelResponse = z
  .object({
    canceled: z.boolean().describe("false for an unknown or finished run"),
    cancelled: z.boolean().describe("the same as canceled, for clients that spell it so"),
    run_id: z.string().describe("the id that was asked for"),
  })
  .meta({ id: "CancelResponse" });
export type CancelResponse = z.infer<typeof CancelResponse>;
