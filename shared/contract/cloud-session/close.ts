import { z } from "zod";
import { SessionId } from "../fields.ts";

export const SessionParams = z.object({ id: SessionId });
export type SessionParams = z.infer<typeof SessionParams>;

/** Closing a session that is not open is not an error; `deleted` is then false. */
export const CloseSessionResponse = z
  .object({ session_id: SessionId, deleted: z.boolean().describe("false: no session with this id was open") })
  .meta({ id: "CloseSessionResponse" });
export type CloseSessionResponse = z.infer<typeof CloseSessionResponse>;
