import type {
  TriangulateFailure,
  TriangulateRequest,
  TriangulateSuccess,
} from "../../../shared/contract/triangulate.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/surfaces.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { coarseCoordinates, shiftOf } from "../run/float-steps.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { checkGrid, voxelBox } from "./grid.ts";
import {
  cropOf,
  type MeshPoints,
  type MeshSource,
  meshSources,
  READ_BYTES,
  readMeshPoints,
  rowsOf,
} from "./mesh-points.ts";
import { type Method, told } from "./method.ts";
import { methodOf } from "./methods.ts";
import { farWarnings, reliefWarnings } from "./relief.ts";

/** A request whose sessions exist. */
export interface CheckedTriangulation {
  readonly request: TriangulateRequest;
  readonly sources: readonly MeshSource[];
  readonly shift: Triple;
  readonly unknown_keys: readonly string[];
}

export interface TriangulationFrame {
  readonly meta: TriangulateSuccess | TriangulateFailure;
  readonly buffers: Readonly<
    Record<string, { readonly dtype: "f32" | "u32"; readonly length: number; readonly data: ColumnRef }>
  >;
}

/** Errors: not_found, invalid_argument for sources and a wrong shift. Later failures are reported in the frame. */
export async function checkTriangulateRequest(
  request: TriangulateRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedTriangulation> {
  const shift = shiftOf(request.world_shift);
  if (!shift) throw new AppError("invalid_argument", "world_shift must be three finite numbers");
  return { request, sources: await meshSources(request, deps), shift, unknown_keys };
}

/** What a failure can tell of its run. */
interface Known {
  points_used?: number;
  /** The points were read. */
  meshing?: boolean;
}

/** Mesh of the points of a request. A failure is reported in the frame; a cancel is thrown. */
export async function triangulate(checked: CheckedTriangulation, deps: Deps, job: Job): Promise<TriangulationFrame> {
  const { request, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  const known: Known = {};
  try {
    const { meta, buffers } = await meshed(checked, known, deps, job);
    const warnings = [...named, ...(meta.warnings ?? [])];
    return { meta: { ...meta, ...(warnings.length > 0 ? { warnings } : {}) }, buffers };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const meta: TriangulateFailure = {
      success: false,
      error: known.meshing ? `Triangulation failed: ${message}` : message,
      code,
      method_used: request.method,
      num_triangles: 0,
      num_vertices: 0,
      ...(known.points_used === undefined ? {} : { points_used: known.points_used }),
      ...(named.length > 0 ? { warnings: named } : {}),
    };
    return { meta, buffers: {} };
  }
}

async function meshed({ request, sources, shift }: CheckedTriangulation, known: Known, deps: Deps, job: Job) {
  const method = methodOf(request.method);
  method.check(request);
  const crop = cropOf(request);
  if (request.grid) checkGrid(request.grid);
  const rows = rowsOf(request, sources);
  const read = await deps.admission.run(job, "Triangulation: points", READ_BYTES * rows, () =>
    readMeshPoints(request, sources, { crop, with_origins: method.uses_origins }, known, job),
  );
  const count = read.points.length;
  known.meshing = true;
  const { budget_bytes } = deps.admission.memory();
  const bytes =
    Math.max(
      method.bytes(count, { ...request, budget_bytes, origins: null }),
      native.cleanMeshBytes(count, 2 * count),
      native.meshReliefBytes(count, 2 * count),
      native.farAreaBytes(count),
    ) +
    FRAME_BYTES * count;
  return deps.admission.run(job, "Triangulation", READ_BYTES * count + bytes, () =>
    mesh(request, method, budget_bytes, read, shift, job),
  );
}

/** Bytes per point of the mesh: twice as many triangles as vertices, doubles and the buffers of the frame. */
const FRAME_BYTES = 24 + 2 * 12 + 2 * 12 + 2 * 16;

async function mesh(
  request: TriangulateRequest,
  method: Method,
  budget_bytes: number,
  read: MeshPoints,
  shift: Triple,
  job: Job,
): Promise<{ readonly meta: TriangulateSuccess; readonly buffers: TriangulationFrame["buffers"] }> {
  const raw = await method.mesh(read.points, { ...request, budget_bytes, origins: read.origins }, job);
  job.stage("Cleaning up mesh", 0.85, 0.95);
  const clean = await job.track(() => native.cleanMesh(raw));
  const vertices = job.adopt(new ColumnRef(clean.vertices));
  let indices = job.adopt(new ColumnRef(clean.indices));
  if (indices.length === 0) throw new AppError("invalid_argument", "no triangles were produced");
  const surface = { vertices: vertices.native, indices: indices.native };
  const normals = job.adopt(new ColumnRef(await job.track(() => native.meshNormals(surface))));
  job.stage("Computing surface area", 0.95, 0.97);
  let area = await job.track(() => native.meshArea(surface));
  const far = await job.track(() => native.farArea(surface, read.points));
  const relief = { ...(await job.track(() => native.meshRelief(surface))), far_share: far.share };
  let cells: ColumnRef | null = null;
  if (request.grid) {
    job.stage("Binning into grid", 0.97, 1);
    const box = voxelBox(request.grid, job);
    const binned = await job.track(() => native.binTriangles(surface, box));
    indices = job.adopt(new ColumnRef(binned.indices));
    cells = job.adopt(new ColumnRef(binned.cell_ids));
    area = await job.track(() => native.meshArea({ vertices: vertices.native, indices: indices.native }));
  }
  job.stage("Finalizing", 1, 1);
  const narrow = await job.track(() => native.narrowVertices(vertices.native, shift));
  const warnings = [
    ...read.warnings,
    ...raw.warnings,
    ...cleanUp(clean),
    ...reliefWarnings(relief, request.method, read.points.length),
    ...farWarnings(far, request.method),
    ...coarseCoordinates(narrow.largest),
  ];
  return {
    meta: {
      success: true,
      error: null,
      method_used: request.method,
      num_triangles: indices.length / 3,
      num_vertices: vertices.length,
      surface_area: area,
      relief,
      points_used: read.points.length,
      downsampled: read.downsampled,
      ...raw.details,
      world_shift: [...shift],
      ...(warnings.length > 0 ? { warnings } : {}),
    },
    buffers: {
      vertices: buffer(job.adopt(new ColumnRef(narrow.vertices)), "f32"),
      indices: buffer(indices, "u32"),
      normals: buffer(normals, "f32"),
      ...(cells && cells.length > 0 ? { triangle_cell_ids: buffer(cells, "u32") } : {}),
    },
  };
}

const buffer = (data: ColumnRef, dtype: "f32" | "u32") => ({ dtype, length: data.length, data });

function cleanUp(clean: native.CleanMesh): string[] {
  const removed = [...told(clean.flat_count, "without area"), ...told(clean.repeated_count, "repeated")];
  const { crowded_edge_count, copied_vertex_count } = clean;
  return [
    ...(removed.length > 0 ? [`The clean-up removed triangles: ${removed.join(", ")}.`] : []),
    ...(crowded_edge_count > 0
      ? [
          `The mesh was cut at ${crowded_edge_count} edges of more than two triangles; ${copied_vertex_count} vertices were copied.`,
        ]
      : []),
    ...told(clean.turned_count, "triangles were turned to face the same way as those beside them."),
  ];
}
