import { createReadStream, createWriteStream } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { MIB } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import type { CloudMeta, CloudState } from "../../sessions/cloud-session.ts";
import type { OctreeCache } from "../../sessions/octree-cache.ts";
import { isComplete, isWhole } from "../../sessions/octree-folder.ts";
import { type Archive, damagedProject } from "./archive-read.ts";
import type { NewMember } from "./archive-write.ts";

/** The files of an octree. A viewer needs the first three. */
export const OCTREE_MEMBERS = ["metadata.json", "hierarchy.bin", "octree.bin", "attribute_labels.json"] as const;
/** Ids of the cache. Files of others may have ids of another length. */
const LOCAL_ID = /^[0-9a-f]{40}$/;

export const octreeMember = (id: string, file: string): string => `octrees/${id}/${file}`;

/** What of the octrees of sessions a project embeds and what it leaves to a rebuild. */
export interface OctreeChoice {
  readonly embed: ReadonlySet<string>;
  readonly regenerate: ReadonlySet<string>;
}

/** True if a rebuild from the columns of the session gives its octree again. */
export const isRebuilt = (meta: CloudMeta): boolean =>
  meta.octree_cache_id !== null &&
  meta.rendered_octree_cache_id === null &&
  meta.octree_pose === null &&
  !meta.octree_lacks_labels;

/**
 * Octrees that the session rebuilds are left out: the current one and that of the misses. Every other one that is shown is
 * embedded: one of deleted points or of old labels, a moved one, and those of `others`.
 */
export function chooseOctrees(states: readonly CloudState[], others: readonly string[]): OctreeChoice {
  const embed = new Set<string>();
  const regenerate = new Set<string>();
  for (const { meta } of states) {
    const target = isRebuilt(meta) ? regenerate : embed;
    const shown = meta.rendered_octree_cache_id ?? meta.octree_cache_id;
    for (const id of [shown, meta.octree_cache_id, meta.miss_octree_cache_id]) if (id !== null) target.add(id);
  }
  for (const id of others) if (!regenerate.has(id)) embed.add(id);
  for (const id of embed) regenerate.delete(id);
  return { embed, regenerate };
}

/** An octree of the cache that is written into a project. */
export interface EmbeddedOctree {
  readonly id: string;
  readonly files: readonly { readonly name: string; readonly path: string; readonly bytes: number }[];
}

/** Those of the octrees that are in the cache, protected from eviction until the run ends. */
export async function heldOctrees(ids: Iterable<string>, cache: OctreeCache, job: Job): Promise<EmbeddedOctree[]> {
  const list = [...ids].filter((id) => LOCAL_ID.test(id));
  for (const id of list) job.adopt(cache.hold(id));
  await cache.writePins();
  const found: EmbeddedOctree[] = [];
  for (const id of list) {
    const folder = await cache.path(id);
    if (folder === undefined || !(await isWhole(folder))) continue; // evicted or damaged: built when it is first shown
    const files = [];
    for (const name of OCTREE_MEMBERS) {
      const path = join(folder, name);
      files.push({ name, path, bytes: (await stat(path)).size });
    }
    found.push({ id, files });
  }
  return found;
}

export const octreeMembers = (octree: EmbeddedOctree, written: (bytes: number) => void): NewMember[] =>
  octree.files.map(({ name, path }) => ({
    name: octreeMember(octree.id, name),
    deflated: false,
    content: () => counted(createReadStream(path, { highWaterMark: 1 << 20 }), written),
  }));

async function* counted(chunks: AsyncIterable<Buffer>, written: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    written(chunk.length);
  }
}

/** Of metadata.json and attribute_labels.json: an attribute takes a few hundred bytes. */
const MAX_OCTREE_JSON_BYTES = 16 * MIB;

/** What became of the embedded octrees. */
export interface InstalledOctrees {
  /** Octrees of the file that are in the cache now, under the same id. */
  readonly ids: readonly string[];
  /** Those that were not there before. */
  readonly added: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Installs embedded octrees into the cache; one that is there stays as it is. Each appears complete or not at all. They are
 * protected until the run ends. Errors: invalid_file, naming the member; no_space; canceled. What was added stays in the
 * cache: the caller discards it.
 */
export async function installOctrees(
  archive: Archive,
  ids: readonly string[],
  { cache, added }: { readonly cache: OctreeCache; readonly added: string[] },
  job: Job,
): Promise<InstalledOctrees> {
  const installed: string[] = [];
  const warnings: string[] = [];
  for (const [i, id] of ids.entries()) {
    job.advance(i / ids.length);
    if (!LOCAL_ID.test(id)) {
      warnings.push(`The display octree ${id} is of another kind; it is built when its cloud is first shown.`);
      continue;
    }
    job.adopt(cache.hold(id));
    const { cached } = await cache.getOrBuild(id, (staging) => unpack(archive, id, staging, job), job.signal);
    if (!cached) added.push(id);
    installed.push(id);
  }
  return { ids: installed, added, warnings };
}

async function unpack(archive: Archive, id: string, staging: string, job: Job): Promise<void> {
  for (const name of OCTREE_MEMBERS) {
    const member = octreeMember(id, name);
    if (!archive.has(member) && name === "attribute_labels.json") {
      await writeFile(join(staging, name), "{}");
      continue;
    }
    if (name.endsWith(".json") && archive.bytesOf(member) > MAX_OCTREE_JSON_BYTES)
      throw damagedProject(`${member} is larger than ${MAX_OCTREE_JSON_BYTES} bytes`);
    await pipeline(archive.chunks(member), createWriteStream(join(staging, name), { flags: "wx" }), {
      signal: job.signal,
    }).catch((error: unknown) => {
      job.checkpoint();
      throw error;
    });
  }
  if (!(await isComplete(staging))) {
    const name = octreeMember(id, "metadata.json");
    throw damagedProject(`${name} does not describe the files beside it`);
  }
}
