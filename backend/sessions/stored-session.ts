import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import type { CloudSession, CloudState } from "./cloud-session.ts";
import type { FileProof } from "./file-proof.ts";
import { isNoSpace, reasonOf, type WithRoom } from "./full-disk.ts";
import { ReadOnlyFolder } from "./read-only-folder.ts";
import { SessionDisk } from "./session-disk.ts";

/** An open session and its copy on the disk. */
export interface Stored {
  readonly session: CloudSession;
  /** Undefined if the journal is off or the disk was full at creation. */
  disk?: SessionDisk | ReadOnlyFolder | undefined;
  /** An attempt to open a read-only folder for edits. */
  opening?: Promise<SessionDisk> | undefined;
  /** Why the session would not survive a crash. */
  readonly unsavedReason?: string | null;
  /** Of a session that a restart brought back. */
  readonly proof?: FileProof | undefined;
}

/** The folder of a session, if it is open for edits. */
export const writtenDisk = (stored: Stored | undefined): SessionDisk | undefined =>
  stored?.disk instanceof SessionDisk ? stored.disk : undefined;

/** Octrees that a state needs: current, drawn or miss overlay. */
export const octreesOf = ({ meta }: Pick<CloudState, "meta">): string[] =>
  [meta.octree_cache_id, meta.rendered_octree_cache_id, meta.miss_octree_cache_id].filter((id) => id !== null);

/** Why edits to an open session are not saved; undefined if they are. */
export function hindrance({ disk }: Stored): string | undefined {
  if (disk instanceof ReadOnlyFolder) return sentence(disk.cause);
  return disk?.journal.broken === undefined ? undefined : sentence(disk.journal.broken);
}

const sentence = (cause: unknown): string =>
  `The cloud cannot be changed, because its files cannot be written (${reasonOf(cause)}). It can be read, and it can be changed again as soon as the disk has space and may be written.`;

/** The error of an edit to a read-only session. */
function readOnly(cause: unknown): AppError {
  if (cause instanceof AppError && cause.code === "conflict") return cause;
  return new AppError(isNoSpace(cause) ? "no_space" : "io", sentence(cause), undefined, { cause });
}

/**
 * The folder of a session, opened for edits if it was read-only; undefined if it has none.
 * Errors: no_space, conflict, io: it cannot be opened.
 */
export async function openForEdits(stored: Stored, withRoom: WithRoom, log: Logger): Promise<SessionDisk | undefined> {
  const { session, disk } = stored;
  if (!(disk instanceof ReadOnlyFolder)) return disk;
  stored.opening ??= withRoom(() => disk.open()).finally(() => {
    stored.opening = undefined;
  });
  try {
    const opened = await stored.opening;
    if (session.closed) await opened.close();
    else if (stored.disk === disk) {
      stored.disk = opened;
      opened.flushLater();
      log.info({ session: session.id }, "session can be edited again");
    }
    return opened;
  } catch (error) {
    throw readOnly(error);
  }
}
