import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../shared/errors.ts";

/** A folder of resources/: in the nearest parent folder that contains it, for code run from source and from a bundle. */
export function resourceFolder(name: string): string {
  const found = findResourceFolder(name);
  if (found === undefined) throw new AppError("internal", `the folder resources/${name} is missing`);
  return found;
}

/** Like resourceFolder; undefined if there is none. */
export function findResourceFolder(name: string): string | undefined {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const unpacked = folder.replace(/app\.asar(?=$|[\\/])/, "app.asar.unpacked"); // like the addon
    const path = join(unpacked, "resources", name);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}
