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

/** A request with what is known besides. */
export interface MeshRequest extends TriangulateRequest {
  /** Memory that all operations together may take, bytes. */
  readonly budget_bytes: number;
  /** vec3d, where the beam of each point came from; null = not known. */
  readonly origins: NativeColumn | null;
}

/** How a mesh is made of points (vec3d). */
export interface Method {
  /** Whether the places of the scanner tell the sides of the surface. */
  readonly uses_origins: boolean;
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
