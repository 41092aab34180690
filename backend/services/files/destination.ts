import type { Stats } from "node:fs";
import { constants } from "node:fs";
import { copyFile, link, lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, normalize, sep } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import { remove, rename } from "../../file-moves.ts";
import { refuseName } from "./source.ts";
import { isWrittenFormat } from "./written-format.ts";

/** What a request says about the file to write. */
export interface Wish {
  readonly dest_path: string;
  /** True: replace whatever is there, except the service's own files and folders. */
  readonly overwrite: boolean;
  readonly format: string;
  /** Extensions of the format, with a dot, in lower case; the usual one first. */
  readonly extensions: readonly string[];
  /** Name of the request's field. */
  readonly field?: "dest_path" | "path";
  /** Name of the incomplete file; default: a hidden one beside the destination. */
  readonly temporaryOf?: (path: string) => string;
}

/** A file that a run may write. */
export interface Destination {
  readonly path: string;
  /** A name in the same folder, for the incomplete file. */
  readonly temporary: string;
  /** Call before the file is written. The result removes what is left under `temporary`; call it in the end. */
  begin(): Promise<() => Promise<void>>;
  /** Moves the complete file from `temporary` to `path`. Errors: those of `destination`, again. */
  replace(): Promise<void>;
  /** Call before replace(), for a file that must not be replaced without others: keeps what is at `path` now. */
  keepOld(): Promise<OldFile>;
}

/** What was at a destination before it was replaced; a killed process leaves either the old or the new file there. */
export interface OldFile {
  /** Puts it back; where there was nothing, nothing stays. */
  putBack(): Promise<void>;
  /** Call in the end, after putBack() too. */
  drop(): Promise<void>;
}

/** What the rule needs to know of the service. */
export type DestinationDeps = Pick<Deps, "config" | "sessions" | "pendingFiles">;

/**
 * The one rule for files that exports write. Errors: invalid_argument for a path that names no file, whose extension
 * does not fit the format, or that lies in the service's own folders; conflict for an existing file of the user, unless
 * its content is a format that the service writes or the request says overwrite.
 */
export async function destination(wish: Wish, deps: DestinationDeps): Promise<Destination> {
  const { dest_path } = wish;
  if (!isAbsolute(dest_path) || dest_path.includes("\0")) throw wrong(wish, "is not an absolute path");
  const path = normalize(dest_path);
  const [usual] = wish.extensions;
  if (!wish.extensions.includes(extname(path).toLowerCase())) {
    throw wrong(wish, `does not fit the format ${wish.format}; use the extension ${usual}`);
  }
  const check = async () => {
    const there = await existing(wish, path);
    await refuseOwn(wish, path, deps);
    if (there && !wish.overwrite) await refusePrecious(wish, path, there, deps);
  };
  await check();
  const temporary = wish.temporaryOf?.(path) ?? join(dirname(path), deps.pendingFiles.partialName());
  const replace = async () => {
    await check(); // the file may be new
    await rename(temporary, path);
  };
  return {
    path,
    temporary,
    begin: () => deps.pendingFiles.add(temporary),
    replace,
    keepOld: () => keepOld(path, deps),
  };
}

/** A second name for the file of a path, or a copy where the disk has no such names. */
async function keepOld(path: string, { pendingFiles }: DestinationDeps): Promise<OldFile> {
  const aside = join(dirname(path), pendingFiles.partialName());
  const drop = await pendingFiles.add(aside);
  try {
    if (!(await lstat(path).catch(() => undefined))) return { putBack: () => remove(path), drop };
    await link(path, aside).catch(() => copyFile(path, aside, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE));
  } catch (error) {
    await drop();
    throw error;
  }
  return { putBack: () => rename(aside, path), drop };
}

/** The wished path with its field, for sentences. */
const named = ({ field = "dest_path", dest_path }: Wish): string => `${field} "${dest_path}"`;
const wrong = (wish: Wish, why: string) => new AppError("invalid_argument", `${named(wish)} ${why}`);

/** What the path names, links not followed; undefined if nothing. */
async function existing(wish: Wish, path: string): Promise<Stats | undefined> {
  const there = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    refuseName(error, named(wish));
    return undefined;
  });
  const target = there?.isSymbolicLink() ? await stat(path).catch(() => undefined) : there;
  if (target?.isDirectory()) throw wrong(wish, "is a folder; give a file name in it");
  return there;
}

/** Refuses the folders in which the service keeps sessions and octrees, whatever way leads there. */
async function refuseOwn(wish: Wish, path: string, { config }: DestinationDeps): Promise<void> {
  const folder = await realpath(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    refuseName(error, named(wish));
    return undefined;
  });
  const parent = folder === undefined ? undefined : await stat(folder).catch(() => undefined);
  if (folder === undefined || !parent?.isDirectory()) {
    throw new AppError("invalid_argument", `the folder of ${named(wish)} does not exist; create it first`);
  }
  for (const own of [config.dataDir, config.octreeCacheRoot]) {
    const root = await realpath(own).catch(() => own);
    if (join(folder, basename(path)) === root || `${folder}${sep}`.startsWith(root.endsWith(sep) ? root : root + sep))
      throw wrong(wish, "lies in the folders of the service's own data; choose another folder");
  }
}

/** Errors: conflict. */
async function refusePrecious(wish: Wish, path: string, there: Stats, { sessions }: DestinationDeps): Promise<void> {
  const kept = (what: string) => new AppError("conflict", `${named(wish)} ${what}; send overwrite: true to replace it`);
  if (there.isSymbolicLink()) throw kept("is a link");
  if (!there.isFile()) throw kept("is not a regular file");
  for (const session of sessions.list()) {
    const source = session.state.meta.source_path;
    const of = source === null ? undefined : await stat(source).catch(() => undefined);
    if (of && of.ino === there.ino && of.dev === there.dev) throw kept("is the source file of an open session");
  }
  const ours = await isWrittenFormat(path).catch(() => false); // a file that cannot be read is not replaced unasked
  if (!ours) throw kept("exists, and its content is none of the formats that are written here");
}
