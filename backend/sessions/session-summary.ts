import type { SessionSummary } from "../../shared/contract/cloud-session/sessions.ts";
import { AppError } from "../../shared/errors.ts";
import { type CloudSession, type CloudState, ownedColumns } from "./cloud-session.ts";
import { bytesOf, type FolderSummary, sourceName } from "./folder-summary.ts";
import { isNoSpace, reasonOf } from "./full-disk.ts";
import { ReadOnlyFolder } from "./read-only-folder.ts";
import type { SessionDisk } from "./session-disk.ts";

export type { SessionSummary };

/** An open session and its copy on the disk. */
export interface Stored {
  readonly session: CloudSession;
  /** Undefined if the journal is off or the disk was full at creation. */
  disk?: SessionDisk | ReadOnlyFolder | undefined;
  /** An attempt to open a read-only folder for edits. */
  opening?: Promise<SessionDisk> | undefined;
  /** Why the session would not survive a crash. */
  readonly unsavedReason?: string | null;
}

/** Octrees that a state needs: current, drawn or miss overlay. */
export const octreesOf = ({ meta }: Pick<CloudState, "meta">): string[] =>
  [meta.octree_cache_id, meta.rendered_octree_cache_id, meta.miss_octree_cache_id].filter((id) => id !== null);

const sentence = (cause: unknown): string =>
  `The cloud cannot be changed, because its files cannot be written (${reasonOf(cause)}). It can be read, and it can be changed again as soon as the disk has space and may be written.`;

/** The error of an edit to a read-only session. */
export function readOnly(cause: unknown): AppError {
  if (cause instanceof AppError && cause.code === "conflict") return cause;
  return new AppError(isNoSpace(cause) ? "no_space" : "io", sentence(cause), undefined, { cause });
}

/** Why edits to an open session are not saved. */
function hindrance({ disk }: Stored): string | undefined {
  if (disk instanceof ReadOnlyFolder) return sentence(disk.cause);
  return disk?.journal.broken === undefined ? undefined : sentence(disk.journal.broken);
}

export async function summaryOf(stored: Stored): Promise<SessionSummary> {
  const { session, disk, unsavedReason } = stored;
  const { state } = session;
  const losses = state.meta.recovery_losses ?? [];
  const hindered = hindrance(stored);
  const inMemory = [...ownedColumns(state)].filter(({ file }) => file === null);
  const memory_bytes = inMemory.reduce((sum, { native }) => sum + native.bytes, 0);
  return {
    session_id: session.id,
    source_name: sourceName(state.meta),
    state: hindered !== undefined ? "read_only" : losses.length > 0 ? "damaged" : "ready",
    is_open: true,
    problems: [...(hindered === undefined ? [] : [hindered]), ...losses, ...(unsavedReason ? [unsavedReason] : [])],
    total_count: state.columns.get("positions")?.length ?? 0,
    disk_bytes: disk ? await bytesOf(disk.folder) : 0,
    memory_bytes,
    last_used: new Date(performance.timeOrigin + session.lastUsed).toISOString(),
  };
}

export const unopenedSummary = (
  { id, state, problem }: { id: string; state: "damaged" | "unavailable"; problem: string },
  { meta, total_count, disk_bytes, changed }: FolderSummary,
): SessionSummary => ({
  session_id: id,
  source_name: sourceName(meta),
  state,
  is_open: false,
  problems: [problem],
  total_count,
  disk_bytes,
  memory_bytes: 0,
  last_used: new Date(changed).toISOString(),
});
