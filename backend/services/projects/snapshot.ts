import { stat } from "node:fs/promises";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { damagedColumnFiles } from "../../native/core/column-files.ts";
import { type CloudSession, type CloudState, ownedColumns } from "../../sessions/cloud-session.ts";

/** States of sessions at one moment; their columns stay alive until the run ends. */
export interface Snapshot {
  readonly sessions: readonly { readonly id: string; readonly state: CloudState }[];
  /** Ids that are not open. */
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
}

/** Captures sessions, each id once. Errors: canceled; conflict if files of one are damaged. */
export async function snapshotOf(
  ids: readonly string[],
  { sessions }: Pick<Deps, "sessions">,
  job: Job,
): Promise<Snapshot> {
  const found: CloudSession[] = [];
  const missing: string[] = [];
  const warnings: string[] = [];
  for (const id of new Set(ids)) {
    try {
      const session = await sessions.get(id);
      await session.read(job, async () => undefined); // waits until its files are proven
      found.push(session);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "not_found") throw error;
      missing.push(id);
      if (!error.message.startsWith("Cloud session not found")) warnings.push(error.message);
    }
  }
  const open = found.filter((session) => !session.closed);
  for (const { id, closed } of found) if (closed) missing.push(id);
  // From here to the end nothing waits: no edit lands between two states.
  const captured = open.map((session) => ({ id: session.id, state: session.state }));
  for (const { state } of captured) for (const column of ownedColumns(state)) job.adopt(column.retain());
  return { sessions: captured, missing, warnings };
}

/**
 * Compares the column files of a state with their checksums, so that damage on the disk does not go into the project.
 * Errors: conflict; canceled.
 */
export async function verifyFiles(id: string, state: CloudState, job: Job): Promise<void> {
  const files = [...ownedColumns(state)].flatMap(({ file }) => (file === null ? [] : [file]));
  const damaged = await job.track(() => damagedColumnFiles(files));
  for (const i of damaged) {
    const there = await stat(files[i] as string).catch(() => undefined);
    if (!there) continue; // replaced meanwhile; its mapping is whole
    const cause = new Error(`damaged: ${files[i]}`);
    const why = `A file of the cloud ${id} is damaged on the disk; the project was not written.`;
    throw new AppError("conflict", why, undefined, { cause });
  }
}
