import type { Logger } from "pino";
import type { CloudMeta, CloudSession } from "./cloud-session.ts";
import type { Birth } from "./journal-records.ts";
import { type SessionDisk, syncFolder } from "./session-disk.ts";
import type { StagedSession } from "./staged-session.ts";

/** A staged session and its description. */
export interface Child {
  readonly staged: StagedSession;
  readonly meta: CloudMeta;
}

/** The folder of a session that is open for edits. */
type DiskOf = (id: string) => SessionDisk | undefined;

/** Gives the folders of children their final names. A failure removes all of them. */
export async function placeAll(
  children: readonly Child[],
  root: string | null,
  log: Logger,
): Promise<(SessionDisk | undefined)[]> {
  const disks: (SessionDisk | undefined)[] = [];
  const placed = () => disks.filter((disk) => disk !== undefined);
  try {
    for (const { staged } of children) disks.push(await staged.place(log));
  } catch (error) {
    for (const disk of placed()) await disk.destroy();
    throw error;
  }
  await syncPlaced(root, placed());
  return disks;
}

/** Makes folders placed in the root survive a crash of the machine. A failure removes all of them. */
export async function syncPlaced(root: string | null, placed: readonly SessionDisk[]): Promise<void> {
  if (root === null || placed.length === 0) return;
  try {
    await syncFolder(root);
  } catch (error) {
    for (const disk of placed) await disk.destroy();
    throw error;
  }
}

/**
 * Confirms the children in their own journals, after the answer. Until then, and after a failure, the parent's
 * journal confirms them; they also survive a parent that is deleted meanwhile. Never rejects.
 */
export async function confirmBorn(
  { parent, token }: Birth,
  born: readonly CloudSession[],
  diskOf: DiskOf,
  log: Logger,
): Promise<void> {
  try {
    await settled(born.map((child) => confirmOne(child, diskOf)));
    diskOf(parent)?.forgetBirths(token);
  } catch (error) {
    log.warn({ err: error, session: parent }, "children not confirmed; their parent's journal confirms them");
  }
}

async function confirmOne(child: CloudSession, diskOf: DiskOf): Promise<void> {
  try {
    await diskOf(child.id)?.journal.append({ type: "confirmed" });
  } catch (error) {
    if (!child.closed) throw error; // a child deleted meanwhile needs no confirmation
  }
}

/** Waits for all, even if one fails, then throws the first failure: nothing is left running. */
async function settled(work: readonly Promise<unknown>[]): Promise<void> {
  for (const end of await Promise.allSettled(work)) if (end.status === "rejected") throw end.reason;
}
