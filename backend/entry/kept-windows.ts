import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const INSTANCE = /^window-[1-9]\d{0,3}$/;

/**
 * The windows of earlier runs of the app whose sessions are still there: kept by the user, or left by a crash. In the
 * order of their numbers, at most `limit`. Whether a backend may take them over is found by its recovery.
 */
export async function keptWindows(dataDir: string, limit: number): Promise<string[]> {
  const root = join(dataDir, "sessions");
  const names = await readdir(root).catch(() => []); // no session was ever made
  const owners = await Promise.all(names.map((name) => ownerOf(join(root, name, "owner.json"))));
  const kept = new Set(owners.filter((owner) => owner !== undefined && INSTANCE.test(owner)));
  return [...(kept as Set<string>)].sort((a, b) => numberOf(a) - numberOf(b)).slice(0, limit);
}

const numberOf = (instance: string): number => Number(instance.slice("window-".length));

/** Undefined for a file that is missing, torn or of something else. */
async function ownerOf(path: string): Promise<string | undefined> {
  try {
    const { instance } = JSON.parse(await readFile(path, "utf8")) as { instance?: unknown };
    return typeof instance === "string" ? instance : undefined;
  } catch {
    return undefined;
  }
}
