import { z } from "zod";
import { errorCodes } from "../errors.ts";

const ErrorCode = z.enum(errorCodes).describe("error code; it determines the status");

const Issue = z
  .looseObject({
    type: z.string().describe("kind of issue, such as missing or invalid_type"),
    loc: z
      .array(z.union([z.string(), z.number()]))
      .describe("location: body, query, path or header, followed by keys and list indices"),
    msg: z.string().describe("the violated rule"),
  })
  .meta({ id: "ValidationIssue", description: "a violated rule of a request" });

/** Body of every error response. */
export const Problem = z
  .object({
    detail: z
      .union([
        z.string().describe("a sentence for the user"),
        z.array(Issue).describe("422: one entry per issue, at most 50"),
        z
          .looseObject({ message: z.string().optional().describe("the error as a sentence for the user") })
          .describe("a structured error, such as a cost warning"),
      ])
      .describe("normally a sentence for the user; 422: one entry per issue; structured errors: an object"),
    message: z.string().optional().describe("422: the issues in one sentence"),
    code: ErrorCode.optional(),
  })
  .loose()
  .meta({
    id: "Problem",
    description: "error: show `detail` if it is a string, otherwise `message`, or `detail.message`",
  });
export type Problem = z.infer<typeof Problem>;

/** End of a failed run: it follows the error marker of a stream, or the keepalive spaces of plain JSON. */
export const FailureTail = z
  .looseObject({
    success: z.literal(false).describe("the run has no result"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: ErrorCode,
    canceled: z.literal(true).optional().describe("plain JSON only: the run was canceled"),
    cancelled: z.literal(true).optional().describe("same as canceled, in British spelling"),
  })
  .meta({ id: "RunFailure", description: "a run that failed or was canceled after the response had started" });
export type FailureTail = z.infer<typeof FailureTail>;
