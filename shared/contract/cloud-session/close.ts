import { z } from "zod";
import { SessionId } from "../fields.ts";

export const SessionParams = z.object({ id: SessionId });
export type SessionParams = z.infer<typeof SessionParams>;

/** `deleted` is false for an id that is not open; closing twice is no error. */
export const CloseSessionResponse = z
  .object({ session_id: SessionId, deleted: z.boolean().describe("false: no session of that id was open") })
  .meta({ id: "CloseSessionResponse" });
export type CloseSessionResponse = z.infer<typeof CloseSessionResponse>;
