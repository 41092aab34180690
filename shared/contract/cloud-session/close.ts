import { z } from "zod";

export const SessionParams = z.object({ id: z.string().describe("session id; an opaque text") });
export type SessionParams = z.infer<typeof SessionParams>;

/** `deleted` is false for an id that is not open; closing twice is no error. */
export const CloseSessionResponse = z.object({ session_id: z.string(), deleted: z.boolean() });
export type CloseSessionResponse = z.infer<typeof CloseSessionResponse>;
