import { z } from "zod";
import { SessionId } from "../fields.ts";

export const SessionParams = z.object({ id: SessionId });
export type SessionParams = z.infer<typeof SessionParams>;

/** Damaged and unavailable sessions can be closed too. An unknown id is not an error; `deleted` is then false. */
export const CloseSessionResponse = z
  .object({ session_id: SessionId, deleted: z.boolean().describe("false: there was no session with this id") })
  .meta({ id: "CloseSessionResponse" });
export type CloseSessionResponse = z.infer<typeof CloseSessionResponse>;
