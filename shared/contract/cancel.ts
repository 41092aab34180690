import { z } from "zod";

export const CancelParams = z.object({ run_id: z.string().describe("from the first marker of the run's stream") });

/** `canceled` is false for an unknown or finished run; asking twice while it runs is true twice. */
export const CancelResponse = z.object({ canceled: z.boolean(), run_id: z.string() });
export type CancelResponse = z.infer<typeof CancelResponse>;
