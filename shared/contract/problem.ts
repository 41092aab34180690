import { z } from "zod";
import { errorCodes } from "../errors.ts";

/** Body of every error answer. */
export const Problem = z
  .object({
    detail: z
      .union([
        z.string(),
        z.array(z.looseObject({ type: z.string(), loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })),
        z.looseObject({ message: z.string().optional() }),
      ])
      .describe("a sentence for the user; 422: one entry per issue; a structured refusal: an object"),
    message: z.string().optional().describe("422: the issues in one sentence"),
    code: z.enum(errorCodes).optional(),
  })
  .loose();
export type Problem = z.infer<typeof Problem>;

/** The tail of a run that failed behind its error marker. */
export const FailureTail = z.object({ success: z.literal(false), error: z.string(), code: z.enum(errorCodes) });
export type FailureTail = z.infer<typeof FailureTail>;
