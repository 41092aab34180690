import { createReadStream } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { SaveProjectRequest, SaveProjectTail } from "../../../shared/contract/project.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIB, PROJECT_SCRATCH_BYTES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { type StagedScene, unknownScene } from "../../sessions/scene-store.ts";
import { syncFolder } from "../../sessions/session-disk.ts";
import { type Destination, destination } from "../files/destination.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { type NewMember, writeArchive } from "./archive-write.ts";
import { columnFile } from "./column-member.ts";
import { FORMAT, MANIFEST, type Manifest, SCENE, VERSION } from "./manifest.ts";
import { chooseOctrees, type EmbeddedOctree, heldOctrees, octreeMembers } from "./octrees.ts";
import { withPathLock } from "./path-lock.ts";
import { rowCountOf, type SessionMembers, sessionFolder, sessionMembers } from "./session-members.ts";
import { snapshotOf, verifyFiles } from "./snapshot.ts";

/** A save whose request was checked. It owns the scene. */
export interface CheckedSave {
  readonly request: SaveProjectRequest;
  readonly target: Destination;
  readonly scene: StagedScene;
  readonly warnings: readonly string[];
}

/** Errors: not_found for the token, which is used up in any case; those of `destination`. */
export async function checkSaveRequest(
  request: SaveProjectRequest,
  unknownKeys: readonly string[],
  deps: Deps,
): Promise<CheckedSave> {
  const scene = deps.scenes.find(request.scene_token); // used up even if the request is refused
  try {
    const target = await destination(
      {
        dest_path: request.path,
        overwrite: request.overwrite,
        format: "project",
        extensions: [".proj"],
        field: "path",
        temporaryOf: (path) => deps.pendingFiles.partialProject(path),
      },
      deps,
    );
    if (!scene) throw unknownScene();
    return { request, target, scene, warnings: unknownKeyWarnings(unknownKeys) };
  } catch (error) {
    await scene?.remove();
    throw error;
  }
}

/**
 * Writes the sessions at one moment, the scene and the octrees that no session can rebuild into one archive. An earlier
 * project at the path stays until the new one is complete. Errors: no_space, io, conflict, canceled.
 */
export async function saveProject(checked: CheckedSave, deps: Deps, job: Job): Promise<SaveProjectTail> {
  try {
    return await withPathLock(checked.target.path, deps.config.dataDir, job, () => save(checked, deps, job));
  } finally {
    await checked.scene.remove();
  }
}

async function save({ request, target, scene, warnings }: CheckedSave, deps: Deps, job: Job): Promise<SaveProjectTail> {
  job.stage("Writing scene", 0, 0.02);
  const taken = await snapshotOf(request.session_ids, deps, job);
  const rows = taken.sessions.map(({ state }) => rowCountOf(state));
  // The masks and row lists that are made for the file, one after the other, and the blocks on their way.
  const bytes = 9 * Math.max(0, ...rows) + PROJECT_SCRATCH_BYTES;
  return deps.admission.run(job, "Save project", bytes, async () => {
    const sessions: SessionMembers[] = [];
    for (const [i, { id, state }] of taken.sessions.entries()) {
      job.stage(`Checking cloud ${i + 1}/${taken.sessions.length}`, 0.02, 0.05);
      await verifyFiles(id, state, job);
      sessions.push(await sessionMembers(id, state, job));
    }
    const states = taken.sessions.map(({ state }) => state);
    const { embed, regenerate } = chooseOctrees(states, request.octree_ids);
    const octrees = await heldOctrees(embed, deps.octreeCache, job);
    const plan = { sessions, octrees, regenerate, scene, app_version: deps.version };
    await requireSpace(target.path, plan);
    const size = await writeProject(target, plan, job);
    return {
      success: true,
      error: null,
      path: target.path,
      bytes: size,
      sessions: sessions.length,
      octrees: octrees.length,
      missing_sessions: [...taken.missing],
      ...(warnings.length + taken.warnings.length > 0 ? { warnings: [...warnings, ...taken.warnings] } : {}),
    };
  });
}

interface Plan {
  readonly sessions: readonly SessionMembers[];
  readonly octrees: readonly EmbeddedOctree[];
  readonly regenerate: ReadonlySet<string>;
  readonly scene: StagedScene;
  readonly app_version: string;
}

async function writeProject(target: Destination, plan: Plan, job: Job): Promise<number> {
  const end = await target.begin();
  try {
    const members = projectMembers(plan, job);
    const size = await writeArchive(target.temporary, members, job.signal).catch((error: unknown) => {
      job.checkpoint();
      throw error;
    });
    job.stage("Finishing", 0.99, 1); // the last cancel point
    await target.replace();
    await syncFolder(dirname(target.path));
    return size;
  } finally {
    await end();
  }
}

/** All members in the order of the file, the manifest first. */
function projectMembers(plan: Plan, job: Job): NewMember[] {
  const rest = [
    sceneMember(plan.scene, job),
    ...cloudMembers(plan.sessions, job),
    ...displayMembers(plan.octrees, job),
  ];
  const manifest: Manifest = {
    format: FORMAT,
    version: VERSION,
    app_version: plan.app_version,
    created: new Date().toISOString(),
    members: rest.map(({ name }) => name),
    sessions: plan.sessions.map(({ key, n }) => ({ key, n })),
    octrees: plan.octrees.map(({ id }) => id),
    regenerate: [...plan.regenerate],
  };
  return [jsonMember(MANIFEST, manifest), ...rest];
}

const jsonMember = (name: string, value: unknown): NewMember => ({
  name,
  deflated: true,
  content: async function* () {
    yield Buffer.from(JSON.stringify(value));
  },
});

const sceneMember = ({ path }: StagedScene, job: Job): NewMember => ({
  name: SCENE,
  deflated: true,
  content: async function* () {
    job.stage("Writing scene", 0.05, 0.05);
    yield* createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>;
  },
});

/** Progress from 0.05 to 0.8, by the bytes of the columns. */
function cloudMembers(sessions: readonly SessionMembers[], job: Job): NewMember[] {
  const bytesOf = ({ columns }: SessionMembers) => columns.reduce((sum, { bytes }) => sum + bytes, 1);
  const total = sessions.reduce((sum, session) => sum + bytesOf(session), 0);
  let before = 0;
  return sessions.flatMap((session, i) => {
    const bytes = bytesOf(session);
    const from = 0.05 + (0.75 * before) / total;
    const to = Math.min(0.8, 0.05 + (0.75 * (before + bytes)) / total);
    before += bytes;
    let done = 0;
    const description = jsonMember(`${sessionFolder(session.key)}/session.json`, session.file);
    const first: NewMember = {
      ...description,
      content: () => {
        job.stage(`Saving cloud ${i + 1}/${sessions.length}`, from, to);
        return description.content();
      },
    };
    const columns = session.columns.map((column): NewMember => {
      const at = done;
      done += column.bytes;
      const written = (part: number) => job.advance((at + part) / bytes);
      return { name: `${column.name}.pz`, deflated: false, content: () => columnFile(column, job, written) };
    });
    return [first, ...columns];
  });
}

/** Progress from 0.8 to 0.98. */
function displayMembers(octrees: readonly EmbeddedOctree[], job: Job): NewMember[] {
  const total = octrees.reduce((sum, { files }) => sum + files.reduce((all, { bytes }) => all + bytes, 0), 1);
  let done = 0;
  const written = (bytes: number) => {
    if (done === 0) job.stage("Saving display octrees", 0.8, 0.98);
    done += bytes;
    job.advance(done / total);
  };
  return octrees.flatMap((octree) => octreeMembers(octree, written));
}

/** Samples may be less even than their columns: a save is refused only if half of the estimate does not fit. */
const CERTAIN_SHARE = 0.5;

/** Refuses a save that cannot fit, before anything is written. Errors: no_space. */
async function requireSpace(path: string, { sessions, octrees, scene }: Plan): Promise<void> {
  const columns = sessions
    .flatMap(({ columns: list }) => list)
    .map(({ bytes, choice }) => bytes * (choice?.ratio ?? 0));
  const files = octrees.flatMap(({ files: list }) => list).map(({ bytes }) => bytes);
  const needed = Math.round([...columns, ...files, scene.bytes / 20].reduce((sum, bytes) => sum + bytes, 0));
  const { bavail, bsize } = await statfs(dirname(path));
  const free = bavail * bsize;
  if (needed * CERTAIN_SHARE <= free) return;
  const mib = (bytes: number) => Math.ceil(bytes / MIB);
  throw new AppError(
    "no_space",
    `The project needs about ${mib(needed)} MiB, and the disk of ${dirname(path)} has ${mib(free)} MiB left. Free some space or choose another folder.`,
  );
}
