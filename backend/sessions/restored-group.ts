import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { z } from "zod";
import { remove, rename } from "../file-moves.ts";
import { type Lease, leaseAlive } from "./process-lease.ts";
import type { RestoredSession } from "./restored-session.ts";
import { removeFolder, type SessionDisk, syncFolder } from "./session-disk.ts";
import { STAGING } from "./staged-session.ts";

/*
 * Sessions that appear together, also if the process or the machine fails meanwhile. A note in the root names them:
 *
 * | file | what the next start does |
 * |---|---|
 * | none | removes the staged folders |
 * | `<id of the first>.placing` | gives the folders that are still staged their final names |
 * | `<id of the first>.undoing` | removes all folders |
 *
 * A note appears complete, by a rename, and goes when there is nothing left to do.
 */

const PLACING = ".placing";
const UNDOING = ".undoing";
const NOTE = /^[0-9a-f]{8}(\.placing|\.undoing)$/;
/** A note that is being written by the process of the number. */
const UNFINISHED = /^[0-9a-f]{8}\.(\d+)\.note$/;

const Note = z.object({
  ids: z.array(z.string().regex(/^[0-9a-f]{8}$/)),
  owner: z.object({ pid: z.int().positive(), start_time: z.string().nullable(), instance: z.string() }),
});

/**
 * Gives the folders of all sessions their final names: all of them or, after a failure or a crash, none. The caller discards
 * the sessions after a failure. Errors: no_space, io.
 */
export async function placeRestored(
  sessions: readonly RestoredSession[],
  root: string | null,
  owner: Lease,
  log: Logger,
): Promise<(SessionDisk | undefined)[]> {
  for (const session of sessions) await session.describe();
  const [first] = sessions;
  if (root === null || !first) return sessions.map(() => undefined);
  const note = join(root, first.id);
  await writeNote(note, root, { ids: sessions.map(({ id }) => id), owner });
  const disks: SessionDisk[] = [];
  try {
    for (const session of sessions) {
      const disk = await session.place(log);
      if (disk) disks.push(disk);
    }
    await syncFolder(root);
  } catch (error) {
    await undo(note, { disks, sessions }, log);
    throw error;
  }
  await remove(`${note}${PLACING}`).catch((error: unknown) =>
    log.warn({ err: error, note }, "note of sessions that were opened together not removed; the next start does it"),
  );
  return disks;
}

async function writeNote(note: string, root: string, content: z.infer<typeof Note>): Promise<void> {
  const unfinished = `${note}.${process.pid}.note`;
  try {
    await writeFile(unfinished, JSON.stringify(content), { flag: "wx", mode: 0o600, flush: true });
    await rename(unfinished, `${note}${PLACING}`); // from here on, a restart completes what is missing
    await syncFolder(root);
  } catch (error) {
    await remove(`${note}${PLACING}`);
    await remove(unfinished);
    throw error;
  }
}

interface Begun {
  readonly disks: readonly SessionDisk[];
  readonly sessions: readonly RestoredSession[];
}

async function undo(note: string, { disks, sessions }: Begun, log: Logger): Promise<void> {
  await rename(`${note}${PLACING}`, `${note}${UNDOING}`).catch(
    (
      error: unknown, // from here on, a restart removes the rest
    ) => log.error({ err: error, note }, "a crash before the sessions of a project are removed would leave some"),
  );
  for (const disk of disks) await disk.destroy();
  for (const session of sessions) await session.discard();
  for (const kind of [PLACING, UNDOING]) await remove(`${note}${kind}`);
}

/** Completes what ended processes began, before sessions are listed. Never rejects for a note that cannot be completed. */
export async function finishPlacing(root: string, log: Logger): Promise<void> {
  for (const name of await readdir(root)) {
    const writer = UNFINISHED.exec(name)?.[1];
    const kind = NOTE.exec(name)?.[1];
    try {
      if (kind !== undefined) await finish(root, join(root, name), kind);
      else if (writer !== undefined && !isRunning(Number(writer))) await remove(join(root, name));
    } catch (error) {
      log.error({ err: error, name }, "sessions that were opened together not completed; the next start tries again");
    }
  }
}

const isRunning = (pid: number): boolean => leaseAlive({ pid, start_time: null, instance: "" });

async function finish(root: string, note: string, kind: string): Promise<void> {
  const { ids, owner } = Note.parse(JSON.parse(await readFile(note, "utf8")));
  if (leaseAlive(owner)) return; // it is at it
  for (const id of ids) {
    const [staged, folder] = [join(root, `${id}${STAGING}`), join(root, id)];
    if (kind === PLACING) await rename(staged, folder).catch(ifThere);
    else {
      await removeFolder(folder);
      await remove(staged);
    }
  }
  await syncFolder(root);
  await remove(note);
}

/** Placed before the crash, or by another backend that starts. */
function ifThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
