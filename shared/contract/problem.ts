import { z } from "zod";
import { errorCodes } from "../errors.ts";

const ErrorCode = z.enum(errorCodes).describe("name of the failure; it decides the status");

const Issue = z
  .looseObject({
    type: z.string().describe("kind of the issue: missing, invalid_type, ..."),
    loc: z
      .array(z.union([z.string(), z.number()]))
      .describe("where: body, query or path, then keys and list positions"),
    msg: z.string().describe("the rule that is broken"),
  })
  .meta({ id: "ValidationIssue", description: "one broken rule of a request" });

/** Body of every error answer. */
export const Problem = z
  .object({
    detail: z
      .union([
        z.string().describe("a sentence for the user"),
        z.array(Issue).describe("422: one entry per issue, at most 50"),
        z
          .looseObject({ message: z.string().optional().describe("the refusal as a sentence for the user") })
          .describe("a structured refusal"),
      ])
      .describe("a sentence for the user; 422: one entry per issue; a structured refusal: an object"),
    message: z.string().optional().describe("422: the issues in one sentence"),
    code: ErrorCode.optional(),
  })
  .loose()
  .meta({ id: "Problem", description: "what went wrong: show `detail` when it is text, else `message`" });
export type Problem = z.infer<typeof Problem>;

/** What a failed run ends with: behind the error marker of a stream, or behind the keepalive of a plain answer. */
export const FailureTail = z
  .looseObject({
    success: z.literal(false).describe("the run gave no result"),
    error: z.string().describe("why, a sentence for the user"),
    code: ErrorCode,
    canceled: z.literal(true).optional().describe("plain JSON only: the run was canceled"),
    cancelled: z.literal(true).optional().describe("the same as canceled"),
  })
  .meta({ id: "RunFailure", description: "a run that failed or was canceled after its answer had begun" });
export type FailureTail = z.infer<typeof FailureTail>;
