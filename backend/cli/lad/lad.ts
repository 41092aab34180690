import { writeFile } from "node:fs/promises";
import { profileOf } from "../../../shared/client/lad-profile.ts";
import type { LadSuccess } from "../../../shared/contract/lad-compute.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_LAD_VOXELS } from "../../../shared/limits.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, shown } from "../run/folder-run.ts";
import { type CloudPart, checkInputs, readCloud, requireKind } from "../run/inputs.ts";
import { groundBelow, holdsGround, raisedGrid, terrainOf } from "./ground.ts";
import { type LadSession, ladSessions } from "./misses.ts";
import type { LadOptions } from "./options.ts";
import { ladFigures, profileFigure } from "./pictures.ts";
import { isLevel, ladFacts, PROFILE_FILE, VOXEL_FILE, VOXEL_SPACE_FILE, writeResults } from "./results.ts";
import { profileCsv, voxelCsv, voxelSpace } from "./tables.ts";

/**
 * Inverts the leaf area density of scans and writes report, pictures, tables and voxel files, all of them or, after a
 * cancel or failure, none. Errors: those of the options, the files and the client.
 */
export async function lad(files: readonly string[], options: LadOptions, deps: AnalyzeDeps): Promise<void> {
  const inputs = await checkInputs(files, options.reading);
  for (const input of inputs) requireKind(input, "cloud", "<scans>");
  await runInFolder(options, deps, async (run) => {
    const clock = new Stopwatch();
    const scans: CloudPart[] = [];
    for (const input of inputs) scans.push(await readCloud(input, options.reading, run));
    clock.lap("import");
    const answer = await invert(scans, options, run);
    clock.lap("invert");
    run.progress.stage("Drawing pictures");
    const profile = profileOf(answer);
    const figures = [
      await profileFigure(profile, isLevel(answer) ? "the floor of the grid" : "the ground"),
      ...(await ladFigures(answer, options.pictureSize)),
    ];
    clock.lap("draw");
    run.progress.stage("Writing the report");
    await run.out.write(PROFILE_FILE, profileCsv(profile, answer));
    await writeFile(run.out.stage(VOXEL_FILE), voxelCsv(answer), { signal: run.signal });
    if (isLevel(answer)) await writeFile(run.out.stage(VOXEL_SPACE_FILE), voxelSpace(answer), { signal: run.signal });
    const results = await writeResults({ scans, answer, profile }, figures, options, run, {
      versions: await describeVersions(run.client, run.signal),
      seconds: clock.seconds(),
    });
    const facts = [...ladFacts({ scans, answer, profile }), ...results.outputs];
    deps.stdout.write(options.json ? jsonDocument(results.document) : terminalTable(facts, results.document.warnings));
  });
}

const bad = (message: string) => new AppError("invalid_argument", message);

async function invert(scans: readonly CloudPart[], options: LadOptions, run: FolderRun): Promise<LadSuccess> {
  const grid = gridOf(scans, options);
  const stated = scans.map(({ tail }) => tail.scan_params?.origin ?? tail.scan_origin ?? firstPose(tail));
  const missing = stated.filter((origin) => !origin).length;
  const given = [...options.origins];
  if (given.length !== missing && given.length !== scans.length) {
    const names = scans.filter((_, i) => !stated[i]).map(({ file }) => file.name);
    throw bad(
      missing > 0
        ? `${names.join(", ")} ${names.length === 1 ? "states" : "state"} no scanner position: give --origin x,y,z for each (${given.length} of ${missing} given)`
        : `--origin is given ${given.length} times, but the scans state their positions`,
    );
  }
  const all = given.length === scans.length;
  const origins = stated.map((origin): Triple => (all || !origin ? given.shift() : origin) ?? [0, 0, 0]);
  const told: string[] = [];
  const sessions: LadSession[] = [];
  for (const [i, scan] of scans.entries())
    sessions.push(...(await ladSessions(scan, origins[i] as Triple, run, (warning) => told.push(warning))));
  run.progress.stage("Inverting Beer's law");
  const level = await inverted(sessions, options, { grid }, run);
  const answer = options.level || !holdsGround(level) ? level : await aboveGround(level, sessions, options, run, told);
  return { ...answer, warnings: [...told, ...answer.warnings] };
}

/** Once more, with the columns raised onto the ground that the voxels hold. */
async function aboveGround(
  level: LadSuccess,
  sessions: readonly LadSession[],
  options: LadOptions,
  run: FolderRun,
  told: string[],
): Promise<LadSuccess> {
  run.progress.stage("Looking for the ground");
  const ground = await groundBelow(sessions, level, run);
  if (typeof ground === "string") {
    told.push(ground);
    return level;
  }
  const grid = raisedGrid(level, ground);
  checkVoxels(grid, options);
  run.progress.stage("Inverting Beer's law above the ground");
  return inverted(sessions, options, { grid, terrain_follow: true, dem: terrainOf(ground) }, run);
}

type Place = Pick<Parameters<FolderRun["client"]["ladCompute"]>[0], "grid" | "terrain_follow" | "dem">;

function inverted(
  sessions: readonly LadSession[],
  options: LadOptions,
  place: Place,
  run: FolderRun,
): Promise<LadSuccess> {
  const { multi, projection, lmax, minHits, leafWidth, leafIntensity, occlusion, fill, wood, views } = options;
  return run.client.ladCompute(
    {
      scans: sessions.map(({ session_id, origin, label }) => ({
        session_id,
        origin: [...origin] as [number, number, number],
        return_type: multi ? "multi" : "single",
        leaf_intensity: leafIntensity ?? null,
        label,
      })),
      ...place,
      ...projection,
      ...(lmax === undefined ? {} : { lmax }),
      min_voxel_hits: minHits ?? null,
      ...(leafWidth === undefined ? {} : { element_width: leafWidth }),
      ...(leafIntensity === undefined ? {} : { return_weights: "energy" as const }),
      occlusion_threshold_m: occlusion ?? null,
      fill_occluded: fill,
      ...(wood ? { wood_split: {} } : {}),
      ...(views ? { capture_recapture: views } : {}),
    },
    shown(run),
  );
}

/** Where the trajectory of a scan with beam origins begins. */
function firstPose({ scan_params }: CloudPart["tail"]): Triple | undefined {
  const pose = scan_params?.trajectory?.poses[0];
  return pose && [pose.x, pose.y, pose.z];
}

interface Counts {
  readonly nx: number;
  readonly ny: number;
  readonly nz: number;
}

/** Errors: invalid_argument for more voxels than the service takes. */
function checkVoxels({ nx, ny, nz }: Counts, { voxel }: Pick<LadOptions, "voxel">): void {
  if (nx * ny * nz <= MAX_LAD_VOXELS) return;
  const edge = voxel * Math.cbrt((nx * ny * nz) / MAX_LAD_VOXELS);
  throw bad(
    `--voxel ${voxel} makes ${nx} x ${ny} x ${nz} voxels (limit ${MAX_LAD_VOXELS}); ${(edge * 1.02).toPrecision(3)} fits`,
  );
}

/** Voxels of one edge over the box, or over the hits of all scans from whole multiples of the edge on. */
function gridOf(scans: readonly CloudPart[], { box, voxel }: LadOptions) {
  const { min, max } = box ?? hitsOf(scans);
  const axes = [0, 1, 2] as const;
  const low = axes.map((axis) => (box ? min[axis] : Math.floor(min[axis] / voxel) * voxel));
  const counts = axes.map((axis) => Math.max(1, Math.ceil((max[axis] - (low[axis] ?? 0)) / voxel - 1e-9)));
  const [nx = 1, ny = 1, nz = 1] = counts;
  checkVoxels({ nx, ny, nz }, { voxel });
  const size = counts.map((count) => count * voxel) as [number, number, number];
  const center = axes.map((axis) => (low[axis] ?? 0) + (size[axis] ?? 0) / 2) as [number, number, number];
  return { center, size, nx, ny, nz };
}

function hitsOf(scans: readonly CloudPart[]) {
  const corners = scans.flatMap(({ tail: { tight_bounds, world_shift } }) => {
    const [x, y, z] = world_shift ?? [0, 0, 0];
    return tight_bounds
      ? [tight_bounds.min, tight_bounds.max].map((corner): Triple => [corner[0] + x, corner[1] + y, corner[2] + z])
      : [];
  });
  const along = (pick: (...values: number[]) => number): Triple => [
    pick(...corners.map(([x]) => x)),
    pick(...corners.map(([, y]) => y)),
    pick(...corners.map(([, , z]) => z)),
  ];
  return { min: along(Math.min), max: along(Math.max) };
}
