import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, extname, isAbsolute, join, normalize, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";

export type SourceKind = "ascii" | "ply" | "pcd" | "las" | "e57" | "ptx";

/** Formats that may hold several scanner positions. */
export const SCAN_KINDS: ReadonlySet<SourceKind> = new Set(["e57", "ptx"]);

const KIND_OF: Readonly<Record<string, SourceKind>> = {
  ".xyz": "ascii",
  ".txt": "ascii",
  ".csv": "ascii",
  ".tsv": "ascii",
  ".pts": "ascii",
  ".asc": "ascii",
  ".ply": "ply",
  ".pcd": "pcd",
  ".las": "las",
  ".laz": "las",
  ".e57": "e57",
  ".ptx": "ptx",
};

export const READABLE_EXTENSIONS = Object.keys(KIND_OF).map((extension) => extension.slice(1));

/** A user's path: `~` expanded, absolute, normalized. Errors: invalid_argument for a relative one. */
export function userPath(path: string): string {
  const expanded =
    path === "~" || path.startsWith("~/") || path.startsWith("~\\") ? join(homedir(), path.slice(1)) : path;
  if (!isAbsolute(expanded)) throw new AppError("invalid_argument", `"${path}" is not an absolute path`);
  if (expanded.includes("\0")) throw new AppError("invalid_argument", "a path cannot contain a NUL character");
  return normalize(resolve(expanded));
}

/** Why the system refuses a path, whatever lies there. */
const REFUSALS: Readonly<Record<string, string>> = {
  ENAMETOOLONG: "its name is longer than the system allows",
  ELOOP: "it goes through too many symbolic links",
  EINVAL: "the system does not accept such a name",
  EILSEQ: "the system does not accept such a name",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
};

/** Errors: invalid_argument, if a system call failed because of the path itself. */
export function refuseName({ code = "" }: NodeJS.ErrnoException, path: string): void {
  const why = REFUSALS[code];
  if (why === undefined) return;
  const shown = path.length > 300 ? `${path.slice(0, 300)}...` : path;
  throw new AppError("invalid_argument", `${shown}: ${why}`);
}

/** Lower-case extension with its dot, "" when there is none. */
export const extensionOf = (path: string): string => extname(path).toLowerCase();

/** Which reader opens a file. Errors: invalid_argument, naming the extension and the supported ones. */
export function kindOfFile(path: string): SourceKind {
  const extension = extensionOf(path);
  const kind = KIND_OF[extension];
  if (kind) return kind;
  throw new AppError(
    "invalid_argument",
    `${basename(path)}: the extension "${extension}" is not a point cloud format; use one of ${READABLE_EXTENSIONS.join(", ")}`,
  );
}

/** A readable regular file at a user's path. Errors: not_found, invalid_argument. */
export async function sourceFile(path: string): Promise<string> {
  const full = userPath(path);
  const info = await stat(full).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") throw new AppError("not_found", `File not found: ${path}`);
    refuseName(error, path);
    throw new AppError("io", `${path}: ${error.message}`, undefined, { cause: error });
  });
  if (!info.isFile()) throw new AppError("invalid_argument", `${path} is not a regular file`);
  return full;
}
