import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Only the user may look into a folder of the cache: octrees show scans. Without effect on Windows. */
export const PRIVATE = 0o700;

/** metadata.json is written last. The file sizes it implies reveal pages lost when the machine crashed. */
export async function isComplete(folder: string): Promise<boolean> {
  try {
    const metadata = JSON.parse(await readFile(join(folder, "metadata.json"), "utf8")) as {
      points: number;
      attributes: { size: number }[];
    };
    const stride = metadata.attributes.reduce((sum, attribute) => sum + attribute.size, 0);
    const [points, hierarchy] = await Promise.all([
      stat(join(folder, "octree.bin")),
      stat(join(folder, "hierarchy.bin")),
    ]);
    return points.size === metadata.points * stride && hierarchy.size > 0;
  } catch {
    return false; // missing or torn: not a usable octree
  }
}

/** What an octree takes on the disk. */
export interface OctreeUsage extends Usage {
  readonly id: string;
}

interface Usage {
  readonly files: readonly { readonly ino: bigint; readonly size: number }[];
  /** Time of the last use, milliseconds. */
  readonly used: number;
}

/** Closes a folder of an earlier version to other users. A folder of another user stays as it is. */
export async function makePrivate(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const info = await stat(folder).catch(() => undefined); // removed meanwhile
  if (info && (info.mode & 0o077) !== 0 && info.uid === process.getuid?.()) await chmod(folder, PRIVATE);
}

export async function usage(folder: string): Promise<Usage> {
  const files: { ino: bigint; size: number }[] = [];
  let used = 0;
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    const info = await stat(join(folder, name), { bigint: true }).catch(() => undefined);
    if (!info) continue;
    files.push({ ino: info.ino, size: Number(info.size) });
    if (name === "metadata.json") used = Number(info.mtimeMs);
  }
  return { files, used };
}

/**
 * The octrees to remove, so that the rest takes at most `maxBytes`: the least recently used of those that are `free`.
 * Translated octrees share octree.bin by hard links (docs/adr/0015): its size counts once, until the last is removed.
 */
export function beyond(entries: readonly OctreeUsage[], maxBytes: number, free: (id: string) => boolean): string[] {
  const names = new Map<bigint, number>();
  for (const { files } of entries) for (const { ino } of files) names.set(ino, (names.get(ino) ?? 0) + 1);
  const sizes = new Map(entries.flatMap(({ files }) => files.map(({ ino, size }) => [ino, size] as const)));
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const chosen: string[] = [];
  for (const { id, files } of [...entries].sort((a, b) => a.used - b.used)) {
    if (total <= maxBytes) break;
    if (!free(id)) continue;
    chosen.push(id);
    for (const { ino, size } of files) {
      const left = (names.get(ino) ?? 0) - 1;
      names.set(ino, left);
      if (left === 0) total -= size;
    }
  }
  return chosen;
}
