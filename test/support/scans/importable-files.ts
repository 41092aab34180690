import { readdirSync } from "node:fs";
import { extname, join } from "node:path";

const IMPORTABLE = /^\.(txt|csv|tsv|xyz|asc|pts|ptx|ply|pcd|las|laz|e57)$/i;

/** Every file below a folder whose extension an import accepts, malformed ones too, sorted. */
export function importableFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && IMPORTABLE.test(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
