import { copyFile, link, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { rename } from "../file-moves.ts";
import type { JournalContents } from "./journal.ts";
import { namedFiles } from "./journal-files.ts";
import type { JournalRecord } from "./journal-records.ts";
import { JOURNAL, syncFolder } from "./session-disk.ts";

const changes = (records: readonly JournalRecord[]): number => records.filter(({ type }) => type === "commit").length;

/** What is lost if only the first `count` records of a journal are applied; undefined if nothing acknowledged is. */
export function lossOf({ records, damage }: JournalContents, count: number): string | undefined {
  const unread = changes(records.slice(count));
  if (!damage && count === records.length) return undefined;
  const behind = damage ? changes(damage.behind) : 0;
  const cause = damage
    ? `The journal of this session is damaged on the disk from byte ${damage.at} on`
    : "A column file of this session is damaged on the disk";
  const lost = unread + behind;
  const known =
    lost > 0
      ? `${lost} later ${lost === 1 ? "change that is" : "changes that are"} still readable`
      : "no later change is readable";
  return `${cause}: the cloud is as it was before the damage, and edits made after that are missing (${known}). The damaged files are kept in the session's folder.`;
}

/** A new folder inside a session's folder, for what is damaged. */
export const asideOf = (folder: string): string =>
  join(folder, `${new Date().toISOString().replace(/\D/g, "")}.damaged`);

/** Keeps the journal as it is under a second name. */
export async function keepJournal(folder: string, aside: string): Promise<void> {
  await mkdir(aside);
  await keep(join(folder, JOURNAL), join(aside, JOURNAL));
  await syncFolder(aside);
  await syncFolder(folder);
}

/** When the shorter journal is in place: moves the column files that only records behind the first `count` name. */
export async function moveLost(
  folder: string,
  aside: string,
  { records, damage }: JournalContents,
  count: number,
): Promise<void> {
  const needed = namedFiles(records.slice(0, count));
  for (const file of namedFiles([...records.slice(count), ...(damage?.behind ?? [])])) {
    if (!needed.has(file)) await rename(join(folder, file), join(aside, file)).catch(ifMissing);
  }
  await syncFolder(folder); // later edits go to the new journal: a crash of the machine must not bring the old one back
}

/** A second name for a file, without a copy where the file system can. */
async function keep(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await copyFile(from, to); // no hard links here, as on exFAT; a failure that is not about them repeats
  }
}

/** The damaged file may be one that is missing. */
function ifMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
