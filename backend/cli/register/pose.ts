import type { ListRequest } from "../../../shared/client/list-request.ts";
import type { MeshRegisterRequest } from "../../../shared/contract/c2m.ts";
import type { IcpSuccess } from "../../../shared/contract/icp.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { inverted, type WorldMesh } from "../meshes/mesh.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { CloudPart, MeshPart, Part } from "../run/inputs.ts";
import type { RegisterOptions } from "./options.ts";

/** A pose between two parts. */
export interface Pose {
  /** From the moving to the fixed part, 4 x 4 row-major, true world coordinates, metres. */
  readonly matrix: readonly number[];
  readonly answer: IcpSuccess;
  /** True: a cloud was to be moved onto a mesh, and the mesh was moved onto the cloud; the motion is turned round. */
  readonly is_inverted: boolean;
}

/** Origins closer than this become one: float32 then keeps 0.06 mm. */
const CLOSE_M = 512;

/** Finds the motion of one part onto another. Errors: those of the client. */
export async function findPose(moving: Part, fixed: Part, options: RegisterOptions, run: FolderRun): Promise<Pose> {
  run.progress.stage("Registering");
  const { maxDistance, iterations, method, initial } = options;
  const tuning = {
    method,
    initial,
    max_correspondence_distance: maxDistance,
    ...(iterations === undefined ? {} : { max_iterations: iterations }),
  };
  if (moving.kind === "cloud" && fixed.kind === "cloud") {
    const request = { ...tuning, target_source: sourceOf(fixed), source_source: sourceOf(moving) };
    const answer = await run.client.cloudRegister(request, shown(run));
    return { matrix: answer.transformation_matrix, answer, is_inverted: false };
  }
  if (moving.kind === "mesh" && fixed.kind === "mesh") return meshOntoMesh(moving, fixed, tuning, run);
  const is_inverted = moving.kind === "cloud";
  const [mesh, cloud] = (is_inverted ? [fixed, moving] : [moving, fixed]) as [MeshPart, CloudPart];
  const { origin } = mesh.mesh;
  const request: ListRequest<typeof MeshRegisterRequest> = {
    ...tuning,
    source: sourceOf(cloud, origin),
    mesh_vertices: mesh.mesh.vertices,
    mesh_indices: mesh.mesh.indices,
  };
  const answer = await run.client.meshRegister(request, shown(run));
  const matrix = inWorld(answer.transformation_matrix, origin, origin);
  return { matrix: is_inverted ? inverted(matrix) : matrix, answer, is_inverted };
}

type Tuning = Pick<
  ListRequest<typeof MeshRegisterRequest>,
  "method" | "initial" | "max_correspondence_distance" | "max_iterations"
>;

async function meshOntoMesh(moving: MeshPart, fixed: MeshPart, tuning: Tuning, run: FolderRun): Promise<Pose> {
  const near = Math.hypot(...moving.mesh.origin.map((value, k) => value - (fixed.mesh.origin[k] ?? 0))) <= CLOSE_M;
  const source = near ? rebased(moving.mesh, fixed.mesh.origin) : moving.mesh;
  const request = {
    ...tuning,
    target_vertices: fixed.mesh.vertices,
    target_indices: fixed.mesh.indices,
    source_vertices: source.vertices,
    source_indices: source.indices,
  };
  const answer = await run.client.meshPairRegister(request, shown(run));
  return {
    matrix: inWorld(answer.transformation_matrix, fixed.mesh.origin, source.origin),
    answer,
    is_inverted: false,
  };
}

/** The hits of a session, minus `origin`. */
const sourceOf = ({ tail }: CloudPart, [x, y, z]: Triple = [0, 0, 0]) => ({
  session_id: tail.session_id,
  translation: [-x, -y, -z],
});

/** A motion between local frames as one in true world coordinates. */
export function inWorld(matrix: readonly number[], target: Triple, source: Triple): number[] {
  const out = [...matrix];
  for (let row = 0; row < 3; row += 1) {
    const turned = source.reduce((sum, value, k) => sum + (matrix[4 * row + k] ?? 0) * value, 0);
    out[4 * row + 3] = (matrix[4 * row + 3] ?? 0) + (target[row] ?? 0) - turned;
  }
  return out;
}

const rebased = (mesh: WorldMesh, origin: Triple): WorldMesh => ({
  ...mesh,
  origin,
  vertices: mesh.vertices.map((value, i) => value + ((mesh.origin[i % 3] ?? 0) - (origin[i % 3] ?? 0))),
});
