import { homedir } from "node:os";
import { posix, win32 } from "node:path";
import type { FastifyRequest } from "fastify";

/** Depth and length to which a body is searched; requests name paths in their top-level fields. */
const MAX_DEPTH = 3;
const MAX_ITEMS = 64;

/**
 * Replaces the paths that a request names by their file names, and the home folder by ~, in a text for the log.
 */
export function withoutPaths(request: Pick<FastifyRequest, "body" | "query">): (text: string) => string {
  const paths = [...pathsIn(request.body, 0), ...pathsIn(request.query, 0)];
  const known = [...new Set(paths.flatMap((path) => [path, posix.normalize(path), win32.normalize(path)]))];
  known.sort((a, b) => b.length - a.length); // a folder of another path comes later
  const home = homedir();
  return (text) => {
    const named = known.reduce((shown, path) => shown.replaceAll(path, win32.basename(path)), text);
    return home.length > 1 ? named.replaceAll(home, "~") : named;
  };
}

function pathsIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") return /[\\/]/.test(value) && win32.basename(value) !== value ? [value] : [];
  if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return [];
  const items = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : Object.values(value);
  return items.flatMap((item) => pathsIn(item, depth + 1));
}
