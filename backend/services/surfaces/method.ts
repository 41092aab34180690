import type { TriangulateRequest, TriangulateSuccess } from "../../../shared/contract/triangulate.ts";
import type { Job, PhaseWeight } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type * as native from "../../native/surfaces.ts";

/** A mesh before its clean-up; the run owns the columns. */
export interface RawMesh extends native.SurfaceMesh {
  readonly warnings: readonly string[];
  /** Further fields of the answer. */
  readonly details: Partial<TriangulateSuccess>;
}

/** A request, and the memory that all operations together may take, bytes. */
export interface MeshRequest extends TriangulateRequest {
  readonly budget_bytes: number;
}

/** How a mesh is made of points (vec3d). */
export interface Method {
  /** Memory that mesh() needs besides the points, bytes. */
  bytes(points: number, request: MeshRequest): number;
  /** Throws invalid_argument for options that do not make sense. */
  check(request: TriangulateRequest): void;
  mesh(points: NativeColumn, request: MeshRequest, job: Job): Promise<RawMesh>;
}

/** Shows that a method meshes; native phases that `phases` does not name show the label of the stage. */
export const meshingStage = (name: string, job: Job, phases: readonly PhaseWeight[] = []): void =>
  job.stage(`Meshing (${name})`, 0.45, 0.85, phases);

/** A warning about a number of things, if there are any. */
export const told = (count: number, text: string): string[] => (count > 0 ? [`${count} ${text}`] : []);
