import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseHierarchy } from "../../shared/octree/potree2.ts";
import { parseMetadata } from "../../shared/octree/potree2-metadata.ts";

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

/** Whether all files of a complete folder can be read and fit each other: a disk may lose more than the end of a file. */
export async function isWhole(folder: string): Promise<boolean> {
  try {
    const read = (name: string) => readFile(join(folder, name));
    const [text, labels, hierarchy] = await Promise.all([
      read("metadata.json"),
      read("attribute_labels.json"),
      read("hierarchy.bin"),
    ]);
    JSON.parse(labels.toString());
    const metadata = parseMetadata(text.toString());
    const nodes = parseHierarchy(hierarchy, metadata);
    return nodes.reduce((sum, node) => sum + node.point_count, 0) === metadata.point_count;
  } catch {
    return false; // missing, torn or of other bytes
  }
}

interface OctreeFileSize {
  readonly ino: bigint;
  readonly size: number;
}

/** What an octree takes on the disk. */
interface OctreeUsage {
  readonly id: string;
  readonly files: readonly OctreeFileSize[];
  /** Time of the last use, milliseconds. */
  readonly used: number;
}

/** Closes a folder of an earlier version to other users. A folder of another user stays as it is. */
async function makePrivate(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const info = await stat(folder).catch(() => undefined); // removed meanwhile
  if (info && (info.mode & 0o077) !== 0 && info.uid === process.getuid?.()) await chmod(folder, PRIVATE);
}

async function fileSizes(folder: string): Promise<OctreeFileSize[]> {
  const files: OctreeFileSize[] = [];
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    const info = await stat(join(folder, name), { bigint: true }).catch(() => undefined);
    if (info) files.push({ ino: info.ino, size: Number(info.size) });
  }
  return files;
}

/** Time of the last use, milliseconds; 0 if it is unknown. */
export async function lastUse(folder: string): Promise<number> {
  return (await stat(join(folder, "metadata.json")).catch(() => undefined))?.mtimeMs ?? 0;
}

/** Octrees seen in the cache: the files of an octree do not change, so each folder is looked at once. */
export class SeenOctrees {
  readonly #seen = new Map<string, readonly OctreeFileSize[]>();

  /** Looks at octrees that are new in the cache, closes them to other users, and forgets those that have gone. */
  async look(root: string, ids: readonly string[]): Promise<void> {
    const there = new Set(ids);
    for (const id of this.#seen.keys()) if (!there.has(id)) this.#seen.delete(id);
    for (const id of ids) {
      if (this.#seen.has(id)) continue;
      await makePrivate(join(root, id));
      this.#seen.set(id, await fileSizes(join(root, id)));
    }
  }
  forget(id: string): void {
    this.#seen.delete(id);
  }
  filesOf(id: string): readonly OctreeFileSize[] {
    return this.#seen.get(id) ?? [];
  }
  totalBytes(): number {
    return totalBytes(this.#seen.values());
  }
}

/** Bytes of all files, each file that several octrees share counted once. */
function totalBytes(octrees: Iterable<readonly OctreeFileSize[]>): number {
  const sizes = new Map<bigint, number>();
  for (const files of octrees) for (const { ino, size } of files) sizes.set(ino, size);
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/**
 * The octrees to remove, so that the rest takes at most `maxBytes`: the least recently used of those that are `free`.
 * Translated octrees share octree.bin by hard links (docs/adr/0015): its size counts once, until the last is removed.
 */
export function beyond(entries: readonly OctreeUsage[], maxBytes: number, free: (id: string) => boolean): string[] {
  const names = new Map<bigint, number>();
  for (const { files } of entries) for (const { ino } of files) names.set(ino, (names.get(ino) ?? 0) + 1);
  let total = totalBytes(entries.map(({ files }) => files));
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
