import { stat } from "node:fs/promises";
import { dirname, isAbsolute, normalize } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { refuseName } from "./source.ts";

/** The file that dest_path names. Errors: invalid_argument. */
export async function destination(path: string): Promise<string> {
  if (!isAbsolute(path) || path.includes("\0"))
    throw new AppError("invalid_argument", `dest_path "${path}" is not an absolute path`);
  const full = normalize(path);
  const there = await stat(full).catch((error: NodeJS.ErrnoException) => {
    refuseName(error, `dest_path "${path}"`);
    return undefined;
  });
  if (there?.isDirectory())
    throw new AppError("invalid_argument", `dest_path "${path}" is a folder; give a file name in it`);
  if (there && !there.isFile()) throw new AppError("invalid_argument", `dest_path "${path}" is not a regular file`);
  const parent = await stat(dirname(full)).catch(() => undefined);
  if (!parent?.isDirectory())
    throw new AppError("invalid_argument", `the folder of dest_path "${path}" does not exist; create it first`);
  return full;
}
