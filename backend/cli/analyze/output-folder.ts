import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";

/**
 * A folder that gets all of a run's files or none. Files are made in a hidden staging folder inside it and renamed into
 * place at the end; until then nothing that was there is touched.
 */
export class OutputFolder {
  readonly #names: string[] = [];

  private constructor(
    readonly path: string,
    private readonly staging: string,
    /** First folder that was made for this run. */
    private readonly created: string | undefined,
  ) {}

  /** Makes the folder when it is missing. Errors: invalid_argument when it cannot be made or written to. */
  static async open(path: string): Promise<OutputFolder> {
    const folder = resolve(path);
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
        `--out "${path}" must be a folder that can be written to (${reason}); name another one`,
        undefined,
        { cause },
      );
    }
  }

  /** Where a file of this name is made; it counts as one of the run's files from here on. */
  stage(name: string): string {
    this.#names.push(name);
    return join(this.staging, name);
  }

  /** Where it will be in the end. */
  final(name: string): string {
    return join(this.path, name);
  }

  async write(name: string, data: string | Uint8Array): Promise<void> {
    await writeFile(this.stage(name), data, { flag: "wx" });
  }

  /**
   * Renames every staged file into place, replacing files of the same name. If one rename fails, all are undone.
   * Errors: those of the file system; the folder is then as it was before.
   */
  async publish(): Promise<void> {
    const backup = join(this.staging, `old-${randomBytes(4).toString("hex")}`);
    await mkdir(backup);
    const undo: (() => Promise<void>)[] = [];
    try {
      for (const name of this.#names) {
        const target = this.final(name);
        if (await isThere(target)) {
          await rename(target, join(backup, name));
          undo.unshift(() => rename(join(backup, name), target));
        }
        await rename(join(this.staging, name), target);
        undo.unshift(() => rm(target));
      }
    } catch (error) {
      for (const step of undo) await step();
      throw error;
    }
    await rm(this.staging, { recursive: true, force: true });
  }

  /** Removes everything the run made, and the folder itself if the run created it. */
  async discard(): Promise<void> {
    await rm(this.staging, { recursive: true, force: true });
    await removeIfEmpty(this.path, this.created);
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

/** Takes away `folder` and the parents made with it, as long as nobody else put something in. */
async function removeIfEmpty(folder: string, created: string | undefined): Promise<void> {
  if (created === undefined) return;
  for (let path = folder; path.length >= created.length; path = resolve(path, "..")) {
    const isGone = await rmdir(path).then(
      () => true,
      () => false, // not empty any more: it belongs to someone else now
    );
    if (!isGone) return;
  }
}
