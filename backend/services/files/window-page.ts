import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../shared/errors.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".map": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
/** A name of a file directly in the folder. */
const NAME = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9]+)+$/i;

/** A file of the window. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** Changes with the file. */
  readonly etag: string;
}

/** A file of the built window. Errors: not_found for another name, or if the window was not built. */
export async function windowFile(name: string): Promise<PageFile> {
  const missing = new AppError("not_found", `the window has no file ${JSON.stringify(name)}`);
  const type = TYPES[extname(name)];
  if (!NAME.test(name) || type === undefined) throw missing;
  const folder = windowFolder();
  if (folder === undefined) throw new AppError("not_found", "the window is not built; npm run build:ts builds it");
  const path = join(folder, name);
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) throw missing;
  const bytes = await readFile(path);
  return { bytes, type, etag: `"${info.size.toString(36)}-${Math.round(info.mtimeMs).toString(36)}"` };
}

/** dist/window in the nearest parent folder that has it, for code run from source and from a bundle. */
function windowFolder(): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, "dist", "window");
    if (existsSync(join(path, "index.html"))) return path;
    if (dirname(folder) === folder) return undefined;
  }
}
