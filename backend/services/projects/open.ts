import { stat } from "node:fs/promises";
import type { OpenProjectTail } from "../../../shared/contract/project.ts";
import { AppError } from "../../../shared/errors.ts";
import { PROJECT_SCRATCH_BYTES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { CloudMeta, CloudState } from "../../sessions/cloud-session.ts";
import type { RestoredSession } from "../../sessions/restored-session.ts";
import { refuseName, userPath } from "../files/source.ts";
import { surviving } from "../octree/misses.ts";
import { buildOctrees, keepOctrees, octreeCost, overlayId } from "../octree/publish.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { Archive } from "./archive-read.ts";
import { type Manifest, readManifest, SCENE } from "./manifest.ts";
import { type InstalledOctrees, installOctrees } from "./octrees.ts";
import { withPathLock } from "./path-lock.ts";
import { readSessionFile, restoreSession } from "./restore-session.ts";

/** Admission per row of a session that is read: row lists and masks of its undo stacks. */
const BYTES_PER_ROW = 16;

/** The path of a project. Errors: not_found, invalid_argument. */
export async function checkOpenRequest(given: string, unknownKeys: readonly string[]) {
  const path = userPath(given);
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    refuseName(error, `path "${given}"`);
    return undefined;
  });
  if (!info) throw new AppError("not_found", `File not found: ${given}`);
  if (!info.isFile()) throw new AppError("invalid_argument", `path "${given}" is not a regular file`);
  return { path, warnings: unknownKeyWarnings(unknownKeys) };
}

/** A project on its way in. A failure leaves nothing of it. */
class Opening {
  readonly restored: RestoredSession[] = [];
  /** Octrees added to the cache. */
  readonly added: string[] = [];
  readonly warnings: string[] = [];
  readonly octreeMap = new Map<string, string>();
  sceneToken: string | undefined;

  constructor(
    readonly deps: Deps,
    readonly job: Job,
  ) {}

  async discard(): Promise<void> {
    for (const session of this.restored) await session.discard();
    if (this.sceneToken !== undefined) await this.deps.scenes.find(this.sceneToken)?.remove();
    this.job.releaseAdopted(); // the holds of the octrees
    await this.deps.octreeCache.discard(this.added);
  }
}

/**
 * Opens a project: new sessions with everything the old ones had, display octrees, the scene. Everything is read and
 * verified before anything is registered. Errors: invalid_file, naming the member; unsupported for a newer version;
 * no_space, io, canceled. Then nothing is registered and the cache is as before.
 */
export async function openProject(
  { path, warnings }: { readonly path: string; readonly warnings: readonly string[] },
  deps: Deps,
  job: Job,
): Promise<OpenProjectTail> {
  job.stage("Reading project", 0, 0.02);
  const opening = new Opening(deps, job);
  opening.warnings.push(...warnings);
  try {
    // A save of the same project waits, and replaces it afterwards.
    const manifest = await withPathLock(path, deps.config.dataDir, job, () => readAll(path, opening));
    return await open(manifest, opening);
  } catch (error) {
    await opening.discard();
    throw error;
  }
}

/** Everything of the archive; it is not needed afterwards. */
async function readAll(path: string, opening: Opening): Promise<Manifest> {
  const archive = await Archive.open(path);
  try {
    const manifest = await readManifest(archive);
    await readArchive({ archive, manifest }, opening);
    return manifest;
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_file" && (await archive.isReplaced()))
      throw new AppError("conflict", `The project "${path}" was replaced while it was read. Open it again.`);
    throw error;
  } finally {
    archive.close();
  }
}

interface Contents {
  readonly archive: Archive;
  readonly manifest: Manifest;
}

async function readArchive(contents: Contents, opening: Opening): Promise<void> {
  const { archive, manifest } = contents;
  const { deps, job } = opening;
  const rows = manifest.sessions.reduce((sum, { n }) => sum + n, 0);
  const { budget_bytes } = deps.admission.memory();
  const bytes = Math.min(budget_bytes, BYTES_PER_ROW * rows + PROJECT_SCRATCH_BYTES);
  await deps.admission.run(job, "Open project", bytes, async () => {
    await readSessions(contents, opening);
    opening.sceneToken = (await deps.scenes.add(cancelable(archive.chunks(SCENE), job))).token;
  });
  await installEmbedded(contents, opening);
}

async function open(manifest: Manifest, opening: Opening): Promise<OpenProjectTail> {
  const { deps, job } = opening;
  await rebuildOctrees(manifest, opening); // admission was released: a build asks for its own
  job.checkpoint(); // the last cancel point
  const sessions = await deps.sessions.registerRestored(opening.restored);
  opening.restored.length = 0;
  if (job.canceled) {
    for (const { id } of sessions) await deps.sessions.delete(id); // canceled meanwhile: no client knows the ids
    job.checkpoint();
  }
  await keepOctrees(deps);
  const sceneToken = opening.sceneToken as string;
  return {
    success: true,
    error: null,
    scene_token: sceneToken,
    session_map: Object.fromEntries(manifest.sessions.map(({ key }, i) => [key, sessions[i]?.id ?? ""])),
    octree_map: Object.fromEntries(opening.octreeMap),
    warnings: opening.warnings,
    app_version: manifest.app_version,
  };
}

async function* cancelable(chunks: AsyncIterable<Buffer>, job: Job): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    job.checkpoint();
    yield chunk;
  }
}

async function readSessions({ archive, manifest }: Contents, { deps, job, restored }: Opening): Promise<void> {
  const files = [];
  for (const session of manifest.sessions) files.push(await readSessionFile(archive, session));
  const total = manifest.sessions.reduce((sum, { n }) => sum + n, 1);
  let before = 0;
  for (const [i, file] of files.entries()) {
    const at = (rows: number) => 0.1 + (0.3 * rows) / total;
    job.stage(`Opening cloud ${i + 1}/${files.length}`, at(before), at(before + file.n));
    before += file.n;
    const session = await deps.sessions.restore();
    restored.push(session);
    await restoreSession(file, { archive, version: manifest.version, session, job }, (share) => job.advance(share));
  }
}

async function installEmbedded({ archive, manifest }: Contents, opening: Opening): Promise<void> {
  const { deps, job } = opening;
  if (manifest.octrees.length === 0) return;
  job.stage("Installing display octrees", 0.4, 0.5);
  const target = { cache: deps.octreeCache, added: opening.added };
  const installed: InstalledOctrees = await installOctrees(archive, manifest.octrees, target, job);
  for (const id of installed.ids) opening.octreeMap.set(id, id);
  opening.warnings.push(...installed.warnings);
}

/** Builds the octrees that the project left out, unless the cache has them. A failed build is a warning. */
async function rebuildOctrees(manifest: Manifest, opening: Opening): Promise<void> {
  const { deps, job } = opening;
  const wanted = new Set<string>();
  for (const id of manifest.regenerate) {
    job.adopt(deps.octreeCache.hold(id));
    if (await deps.octreeCache.path(id)) opening.octreeMap.set(id, id);
    else wanted.add(id);
  }
  const due = opening.restored.filter(({ state }) => idsOf(state.meta).some((id) => wanted.has(id)));
  for (const [i, session] of due.entries()) {
    const at = (n: number) => 0.5 + (0.48 * n) / due.length;
    job.stage(`Building display for cloud ${i + 1}/${due.length}`, at(i), at(i + 1));
    try {
      await rebuildOne(opening, session, wanted);
    } catch (error) {
      job.checkpoint();
      opening.warnings.push(
        `The display of cloud ${i + 1} of ${due.length} could not be built: ${(error as Error).message}. It is built when the cloud is first shown.`,
      );
    }
  }
}

const idsOf = ({ octree_cache_id, miss_octree_cache_id }: CloudMeta): string[] =>
  [octree_cache_id, miss_octree_cache_id].filter((id) => id !== null);

async function rebuildOne(opening: Opening, session: RestoredSession, wanted: ReadonlySet<string>): Promise<void> {
  const { deps, job, octreeMap, added, warnings } = opening;
  const state: CloudState = { ...session.state, version: 0 };
  const { meta } = state;
  const quiet = job.quiet();
  const mask = await surviving(state, quiet);
  const window = { from: 0, to: 1, overlay: meta.miss_octree_cache_id !== null };
  const built = await deps.admission.run(job, "Octree", octreeCost(state, mask), () =>
    buildOctrees(state, mask, deps, window, quiet),
  );
  const octree_cache_id = built.octree.cache_id;
  const miss_octree_cache_id = overlayId(built, meta.miss_octree_cache_id);
  const replaced = (before: string | null, now: string | null) => {
    if (before !== null && now !== null) octreeMap.set(before, now);
    if (now !== null && wanted.has(now)) added.push(now);
  };
  replaced(meta.octree_cache_id, octree_cache_id);
  if (built.overlay?.cache_id) replaced(meta.miss_octree_cache_id, miss_octree_cache_id);
  warnings.push(...(built.overlay?.warnings ?? []));
  session.state = { ...session.state, meta: { ...meta, octree_cache_id, miss_octree_cache_id } };
}
