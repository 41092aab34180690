import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { expect } from "vitest";
import { decodeJournal } from "../../../backend/sessions/journal-codec.ts";
import { openSession, readSession, releaseSession } from "../../../backend/sessions/session-recovery.ts";
import { appOfTest, type TestApp } from "../app/app.ts";
import { eventually } from "../run/stopwatch.ts";

/** No process has this id: the owner of the folder is dead. */
export const DEAD = JSON.stringify({ pid: 2 ** 30, start_time: "1", instance: "default" });

/** A copy of a session's folder as a process that died left it, everything flushed unless `synced` is false. */
export async function deadCopy(made: TestApp, id: string, synced = true): Promise<string> {
  const journal = join(made.sessions, id, "journal.log");
  const flushed = () => decodeJournal(readFileSync(journal)).records.some(({ type }) => type === "synced");
  if (synced) await eventually(() => expect(flushed()).toBe(true)); // written behind the answer
  const template = mkdtempSync(join(tmpdir(), "journal-"));
  cpSync(join(made.sessions, id), template, { recursive: true });
  writeFileSync(join(template, "owner.json"), DEAD);
  return template;
}

/** The app of one test over a data folder with copies of the session, each changed by its own function. */
export async function restartWith(
  template: string,
  changes: Record<string, (folder: string) => void>,
): Promise<TestApp> {
  const folder = mkdtempSync(join(tmpdir(), "restart-"));
  for (const [name, change] of Object.entries(changes)) {
    const session = join(folder, "data", "sessions", name);
    cpSync(template, session, { recursive: true });
    change(session);
  }
  const made = await appOfTest({}, folder);
  await made.deps.sessions.recovered();
  return made;
}

/** Reads a session's folder and opens it for edits, as a restart does. */
export async function readSessionFolder(folder: string, log: Logger) {
  const read = await readSession(folder);
  if (!read) return undefined;
  try {
    return { disk: await openSession(folder, read, log), state: read.state, loss: read.loss };
  } catch (error) {
    releaseSession(read);
    throw error;
  }
}

/** Status of an octree rebuild: 404 when the session is not back. */
export const rebuildStatus = async (made: TestApp, session: string) =>
  (await made.app.inject({ method: "POST", url: `/api/cloud/session/${session}/rebuild_octree` })).statusCode;

export const untouched = () => undefined;
