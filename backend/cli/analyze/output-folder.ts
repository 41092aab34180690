import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { earlierFiles, filesThere } from "./earlier-run.ts";

const SUMMARY = "summary.json";

/**
 * A folder that receives all files of a run or none. Files are written to a hidden staging folder inside it and moved
 * to their places at the end; until then, existing files are not touched.
 */
export class OutputFolder {
  readonly #names: string[] = [];
  /** Places outside of the folder, by the name in it. */
  readonly #elsewhere = new Map<string, string>();

  private constructor(
    readonly path: string,
    private readonly staging: string,
    /** The topmost folder that this run created, if any. */
    private readonly created: string | undefined,
  ) {}

  /**
   * Creates the folder if it is missing. `option`: the one that names it. Errors: invalid_argument if it cannot be created or
   * written to, or holds `guarded`, a file of an earlier run.
   */
  static async open(path: string, guarded?: string, option = "--out"): Promise<OutputFolder> {
    const folder = resolve(path);
    if (guarded !== undefined && (await isThere(join(folder, guarded)))) {
      throw new AppError(
        "invalid_argument",
        `${option} "${path}" holds ${guarded} of an earlier run; choose another folder, or replace it with --force`,
      );
    }
    try {
      const created = await mkdir(folder, { recursive: true });
      try {
        return new OutputFolder(folder, await mkdtemp(join(folder, ".analyze-")), created);
      } catch (error) {
        await removeIfEmpty(folder, created);
        throw error;
      }
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AppError(
        "invalid_argument",
        `${option} "${path}" must be a writable folder (${reason}); choose another one`,
        undefined,
        { cause },
      );
    }
  }

  /** Staging path for a file of this name, which `publish` will move to its place. */
  stage(name: string): string {
    this.#names.push(name);
    return join(this.staging, name);
  }

  /** Staging path for a file that `publish` will move to `target`, a place on the same file system. */
  stageElsewhere(target: string): string {
    const name = `elsewhere-${this.#elsewhere.size}`;
    this.#elsewhere.set(name, target);
    return this.stage(name);
  }

  /** Path of the file after `publish`. */
  final(name: string): string {
    return this.#elsewhere.get(name) ?? join(this.path, name);
  }

  async write(name: string, data: string | Uint8Array): Promise<void> {
    await writeFile(this.stage(name), data, { flag: "wx" });
  }

  /**
   * Moves every staged file to its place, replacing files of the same name. If one move fails, all are undone.
   * Returns the names of files that an earlier run left in the folder, by its summary, and this one did not replace.
   * Errors: those of the file system; the folder is then unchanged.
   */
  publish(): Promise<string[]> {
    return publishAll([this]);
  }

  /** Moves the staged files; what undoes it goes to `undo`, the latest first. */
  async move(undo: (() => Promise<void>)[]): Promise<void> {
    const backup = join(this.staging, `old-${randomBytes(4).toString("hex")}`);
    await mkdir(backup);
    for (const name of this.#names) {
      const target = this.final(name);
      if (await isThere(target)) {
        await rename(target, join(backup, name));
        undo.unshift(() => rename(join(backup, name), target));
      }
      await rename(join(this.staging, name), target);
      undo.unshift(() => rm(target));
    }
  }

  /** Names of files that the run before this one wrote and this one does not; to be asked before they are moved. */
  async earlier(): Promise<string[]> {
    if (!this.#names.includes(SUMMARY)) return []; // the run whose summary stays is not replaced
    const names = await earlierFiles(this.path, SUMMARY);
    return names.filter((name) => !this.#names.includes(name));
  }

  /** Removes what `move` left. */
  async tidy(): Promise<void> {
    await rm(this.staging, { recursive: true, force: true });
  }

  /** Removes the staged files, and the folder if the run created it. */
  async discard(): Promise<void> {
    await rm(this.staging, { recursive: true, force: true });
    await removeIfEmpty(this.path, this.created);
  }
}

/**
 * Publishes several folders, all of their files or none. Returns the names of what earlier runs left in them.
 * Errors: those of the file system; all folders are then unchanged.
 */
export async function publishAll(folders: readonly OutputFolder[]): Promise<string[]> {
  const undo: (() => Promise<void>)[] = [];
  const earlier = await Promise.all(folders.map((folder) => folder.earlier()));
  try {
    for (const folder of folders) await folder.move(undo);
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
  for (const folder of folders) await folder.tidy();
  const left = await Promise.all(folders.map(({ path }, i) => filesThere(path, earlier[i] ?? [])));
  return left.flat();
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
      throw error;
    },
  );
}

/** Removes `folder` and the parents created with it, as long as they are empty. */
async function removeIfEmpty(folder: string, created: string | undefined): Promise<void> {
  if (created === undefined) return;
  for (let path = folder; path.length >= created.length; path = resolve(path, "..")) {
    const isGone = await rmdir(path).then(
      () => true,
      () => false, // not empty: another program uses it
    );
    if (!isGone) return;
  }
}
