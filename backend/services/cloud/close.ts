import type { CloseSessionResponse } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";

/** Frees a session, its files and the octrees that no other session or backend needs. */
export async function closeCloud(
  session_id: string,
  { sessions, octreeCache }: Pick<Deps, "sessions" | "octreeCache">,
): Promise<CloseSessionResponse> {
  const octrees = await sessions.octreesOf(session_id);
  const deleted = await sessions.delete(session_id);
  await octreeCache.writePins();
  if (deleted) await octreeCache.discard(octrees);
  return { session_id, deleted };
}
