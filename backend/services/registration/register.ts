import type { CloudRegisterRequest } from "../../../shared/contract/c2c.ts";
import type { MeshRegisterRequest } from "../../../shared/contract/c2m.ts";
import type { IcpTail } from "../../../shared/contract/icp.ts";
import type { MeshPairRegisterRequest } from "../../../shared/contract/m2m.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/registration.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { icpTail, MissingInput, registered, rigidStart, type Side } from "./icp.ts";
import { checkMesh, isEmptyMesh, type MeshLists, meshOf } from "./mesh.ts";
import { type CheckedPoints, type ComparedPoints, checkPoints, withPoints } from "./points.ts";

/** Mesh samples: contract terrain sections 3.3 and 3.5. One seed: one input gives one pose. */
const SAMPLES_PER_VERTEX = 10;
const LEAST_SAMPLES = 1000;
const MOST_SAMPLES = 50_000;
const SEED = 1;

export type CheckedRun = (job: Job) => Promise<IcpTail>;

const sampleCount = (vertices: number) =>
  Math.min(MOST_SAMPLES, Math.max(SAMPLES_PER_VERTEX * vertices, LEAST_SAMPLES));

function sideOf({ positions, skip, shift, stride, warnings }: ComparedPoints): Side {
  return { positions, skip, shift, stride, warnings };
}

async function sampledSide(mesh: MeshLists, count: number, job: Job): Promise<Side> {
  const columns = await meshOf(mesh, job);
  const samples = await job.quiet().track(() => native.meshSamples(columns, count, SEED));
  const positions = job.adopt(new ColumnRef(samples)).native;
  return { positions, skip: null, shift: [0, 0, 0], stride: 1, warnings: [] };
}

const twoStarts = (initial: string) =>
  new AppError(
    "invalid_argument",
    `initial ${JSON.stringify(initial)} and init_transform exclude each other: send init_transform alone to begin there`,
  );

/** Cloud onto cloud. Errors, before the run: not_found; invalid_argument. */
export async function cloudRegistration(
  request: CloudRegisterRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedRun> {
  const { target_points, target_source, source_points, source_source, init_transform, initial } = request;
  if (init_transform && initial) throw twoStarts(initial);
  const target = await checkPoints(target_points ?? null, target_source ?? null, "target_points", deps);
  const source = await checkPoints(source_points ?? null, source_source ?? null, "source_points", deps);
  const failed = "Cloud-to-cloud ICP registration failed: ";
  return (job) =>
    icpTail(failed, unknownKeyWarnings(unknown_keys), job, async () => {
      const start = rigidStart(init_transform);
      job.stage("Reading points", 0.05, 0.15);
      return withPoints(target, job, (fixed) =>
        withPoints(source, job, (moving) => {
          if (fixed.count === 0) throw new MissingInput("No target points provided");
          if (moving.count === 0) throw new MissingInput("No source points provided");
          return registered({ fixed: sideOf(fixed), moving: sideOf(moving) }, request, start, deps, job);
        }),
      );
    });
}

/** Mesh onto cloud. Errors, before the run: not_found; invalid_argument. */
export async function meshRegistration(
  request: MeshRegisterRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedRun> {
  const points: CheckedPoints = await checkPoints(request.points ?? null, request.source ?? null, "points", deps);
  const mesh: MeshLists = { name: "mesh", vertices: request.mesh_vertices, indices: request.mesh_indices };
  await checkMesh(mesh);
  return (job) =>
    icpTail("ICP registration failed: ", unknownKeyWarnings(unknown_keys), job, async () => {
      job.stage("Reading points", 0.05, 0.1);
      return withPoints(points, job, async (fixed) => {
        if (fixed.count === 0) throw new MissingInput("No points provided");
        if (isEmptyMesh(mesh)) throw new MissingInput("No mesh data provided");
        job.stage("Sampling mesh", 0.1, 0.15);
        const moving = await sampledSide(mesh, sampleCount(mesh.vertices.length / 3), job);
        return registered({ fixed: sideOf(fixed), moving }, request, null, deps, job);
      });
    });
}

/** Mesh onto mesh. Errors, before the run: invalid_argument. */
export async function meshPairRegistration(
  request: MeshPairRegisterRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedRun> {
  const target: MeshLists = { name: "target", vertices: request.target_vertices, indices: request.target_indices };
  const source: MeshLists = { name: "source", vertices: request.source_vertices, indices: request.source_indices };
  for (const mesh of [target, source]) await checkMesh(mesh);
  return (job) =>
    icpTail("Mesh-to-mesh ICP registration failed: ", unknownKeyWarnings(unknown_keys), job, async () => {
      job.stage("Reading meshes", 0.05, 0.1);
      if (isEmptyMesh(target)) throw new MissingInput("No target mesh data provided");
      if (isEmptyMesh(source)) throw new MissingInput("No source mesh data provided");
      job.stage("Sampling meshes", 0.1, 0.15);
      const count = sampleCount(Math.max(target.vertices.length, source.vertices.length) / 3);
      const fixed = await sampledSide(target, count, job);
      const moving = await sampledSide(source, count, job);
      return registered({ fixed, moving }, request, null, deps, job);
    });
}
