import { join } from "node:path";
import { folderSummary } from "./folder-summary.ts";
import { reasonOf } from "./full-disk.ts";
import type { Lease } from "./process-lease.ts";
import { readSession, releaseSession, removeUnowned } from "./session-recovery.ts";
import { type SessionSummary, unopenedSummary } from "./session-summary.ts";
import { octreesOf } from "./stored-session.ts";

/** A session on the disk that is not open. */
export interface Unopened {
  readonly id: string;
  readonly folder: string;
  /** damaged: nothing of it can be recovered. unavailable: a later request may find it. */
  readonly state: "damaged" | "unavailable";
  /** Why it is not open, a sentence for the user; undefined if an earlier start found out. */
  readonly problem: string | undefined;
}

const SET_ASIDE = /^([0-9a-f]{8})\.\d+\.damaged$/;

/** The sessions of the data folder that could not be recovered: they are listed and can be removed. */
export class UnopenedSessions {
  readonly #root: string;
  readonly #lease: Lease;
  readonly #byFolder = new Map<string, Unopened>();

  constructor(root: string, lease: Lease) {
    this.#root = root;
    this.#lease = lease;
  }

  /** Adds a folder that an earlier start set aside; false if `name` is not that of one. */
  addSetAside(name: string): boolean {
    const id = SET_ASIDE.exec(name)?.[1];
    if (id !== undefined) this.#add({ id, folder: join(this.#root, name), state: "damaged", problem: undefined });
    return id !== undefined;
  }
  addDamaged(id: string, folder: string, error: unknown): void {
    this.#add({ id, folder, state: "damaged", problem: damagedFor(reasonOf(error)) });
  }
  /** Adds a session whose own window may still restart it. */
  addWaiting(id: string): void {
    const problem =
      "It belongs to another window, which may restart it until a day after the last change; then any backend takes it over.";
    this.#add({ id, folder: join(this.#root, id), state: "unavailable", problem });
  }
  /** Adds a session whose recovery failed, though its folder is intact. */
  addFailed(id: string, error: unknown): void {
    const problem = `It could not be read at the last attempt (${reasonOf(error)}). The next request tries again.`;
    this.#add({ id, folder: join(this.#root, id), state: "unavailable", problem });
  }
  /** Forgets what hindered the recovery of a session at its place. */
  forget(id: string): void {
    this.#byFolder.delete(join(this.#root, id));
  }

  /** Each with its problem. */
  async list(): Promise<(Unopened & { readonly problem: string })[]> {
    const all: (Unopened & { readonly problem: string })[] = [];
    for (const entry of [...this.#byFolder.values()]) all.push(await this.#explained(entry));
    return all;
  }

  async #explained(entry: Unopened): Promise<Unopened & { readonly problem: string }> {
    const known = { ...entry, problem: entry.problem ?? (await foundBefore(entry.folder)) };
    if (this.#byFolder.has(entry.folder)) this.#add(known);
    return known;
  }

  /** Why a session is not open; undefined if there is none of this id. */
  async problemOf(id: string): Promise<string | undefined> {
    const found = [...this.#byFolder.values()].find((entry) => entry.id === id);
    if (!found) return undefined;
    const { problem } = await this.#explained(found);
    return `${found.state === "damaged" ? "is damaged" : "is not available"}. ${problem}`;
  }

  /** Removes the folders of a session. False if there is none. Errors: conflict if another backend has opened it. */
  async remove(id: string): Promise<boolean> {
    const found = [...this.#byFolder.values()].filter((entry) => entry.id === id);
    for (const { folder } of found) {
      await removeUnowned(folder, this.#lease);
      this.#byFolder.delete(folder);
    }
    return found.length > 0;
  }

  /** Octrees that a session shows, as far as its journal can be read. */
  async octreesOf(id: string): Promise<string[]> {
    const found = [...this.#byFolder.values()].filter((entry) => entry.id === id);
    const summaries = await Promise.all(found.map(({ folder }) => folderSummary(folder)));
    return summaries.flatMap((summary) => (summary?.meta ? octreesOf({ meta: summary.meta }) : []));
  }

  async summaries(): Promise<SessionSummary[]> {
    const all: SessionSummary[] = [];
    for (const entry of await this.list()) {
      const summary = await folderSummary(entry.folder);
      if (summary) all.push(unopenedSummary(entry, summary));
      else this.#byFolder.delete(entry.folder); // removed by another backend
    }
    return all;
  }

  #add(entry: Unopened): void {
    this.#byFolder.set(entry.folder, entry);
  }
}

const damagedFor = (reason: string): string =>
  `Its files cannot be read (${reason}). They are kept on the disk; closing the session removes them.`;

/** What is damaged in a folder that was set aside. */
async function foundBefore(folder: string): Promise<string> {
  try {
    const read = await readSession(folder);
    if (read) releaseSession(read);
    return damagedFor("found by an earlier start");
  } catch (error) {
    return damagedFor(reasonOf(error));
  }
}
