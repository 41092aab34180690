import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";

/** A file that another one names, or why it cannot be used. */
export type Reference = { readonly path: string } | { readonly problem: string };

/** Whether a path lies in a folder; both are real paths. */
function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * The file that a mesh file or library names: relative to the folder of the mesh, else by its last part in that folder.
 * Names come from strangers: a file outside of the folder, also through a link, and one that is not a regular file, is
 * refused.
 */
export async function referencedFile(meshPath: string, written: string): Promise<Reference> {
  const folder = await realpath(dirname(meshPath));
  const name = written.replaceAll("\\", "/");
  if (name.includes("\0") || name.length > 4096) return { problem: "is not a file name" };
  const last = basename(name);
  if (last === "" || last === "." || last === "..") return { problem: "is not a file name" };
  const isRooted = name.startsWith("/") || /^[A-Za-z]:/.test(name);
  let problem = "was not found in the folder of the mesh";
  for (const candidate of isRooted ? [last] : [name, last]) {
    const found = await realpath(join(folder, candidate)).catch(() => undefined);
    if (found === undefined) continue;
    if (!isInside(found, folder)) problem = "lies outside of the folder of the mesh";
    else if (!(await stat(found)).isFile()) problem = "is not a regular file";
    else return { path: found };
  }
  return { problem };
}
