import type {
  ScanSummary,
  ScanTriangulationFailure,
  ScanTriangulationRequest,
  ScanTriangulationSuccess,
} from "../../../shared/contract/triangulate-lidar.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_SCAN_TRIANGLES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/scan-meshes.ts";
import { narrowVertices, type VoxelBox } from "../../native/surfaces.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { coarseCoordinates, shiftOf } from "../run/float-steps.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { checkGrid, voxelBox } from "./grid.ts";
import { told } from "./method.ts";
import { estimateOf, NO_CANDIDATES, nothingLeft, triangleDiagnostics } from "./scan-diagnostics.ts";
import {
  readScan,
  rowsOf,
  SCAN_ROW_BYTES,
  type ScanPoints,
  type ScanSource,
  scanSources,
  scanSummary,
} from "./scan-points.ts";
import type { TriangulationFrame } from "./triangulate.ts";

/** A request whose sessions exist. */
export interface CheckedScans {
  readonly request: ScanTriangulationRequest;
  readonly sources: readonly ScanSource[];
  readonly shift: Triple;
  readonly unknown_keys: readonly string[];
}

export interface ScanTriangulationResult {
  readonly meta: ScanTriangulationSuccess | ScanTriangulationFailure;
  readonly buffers: TriangulationFrame["buffers"];
}

/** Errors: not_found, invalid_argument for sources and a wrong shift. Later failures are reported in the frame. */
export async function checkScans(
  request: ScanTriangulationRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedScans> {
  const shift = shiftOf(request.world_shift);
  if (!shift) throw new AppError("invalid_argument", "world_shift must be three finite numbers");
  return { request, sources: await scanSources(request.scans, deps), shift, unknown_keys };
}

const GRID_MESSAGE =
  "No grid was given: all points inside their bounding box are triangulated. Remove ground and trunks first, or give a grid.";

/** The grid that crops and bins; null without one. Errors: invalid_argument. */
export function gridOf({ grid, bin_grid }: ScanTriangulationRequest, job: Job): VoxelBox | null {
  if (grid) checkGrid(grid);
  if (bin_grid) checkGrid(bin_grid);
  const used = bin_grid ?? grid;
  return used ? voxelBox(used, job) : null;
}

/** One cell that contains every point a mesh can have. */
const ONE_CELL: VoxelBox = {
  center: [0, 0, 0],
  size: [2 ** 102, 2 ** 102, 2 ** 102],
  nx: 1,
  ny: 1,
  nz: 1,
  rotation_deg: 0,
  offsets: null,
  kept: null,
};

/** Mesh of the surfaces that scans see. A failure is reported in the frame; a cancel is thrown. */
export async function triangulateScans(checked: CheckedScans, deps: Deps, job: Job): Promise<ScanTriangulationResult> {
  const { request, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  const grid_warning = !request.grid && !request.bin_grid;
  const common = { method_used: "lidar", grid_warning, grid_message: grid_warning ? GRID_MESSAGE : null } as const;
  const known: Known = { drops: NO_CANDIDATES, origins: [] };
  try {
    const { meta, buffers, warnings } = await meshed(checked, known, deps, job);
    const all = [...named, ...warnings];
    return { meta: { ...common, ...meta, ...(all.length > 0 ? { warnings: all } : {}) }, buffers };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const warnings = [...named, ...known.origins];
    const meta: ScanTriangulationFailure = {
      ...common,
      success: false,
      error: message,
      code,
      diagnostics: triangleDiagnostics(known.drops),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
    return { meta, buffers: {} };
  }
}

/** Bytes per point of the rest of the run: twice as many triangles as points; vertices, cells and the frame's buffers. */
const FRAME_BYTES = 24 + 12 + 2 * (2 * 20 + 25);

async function meshed({ request, sources, shift }: CheckedScans, known: Known, deps: Deps, job: Job) {
  const moving = sources.findIndex(({ entry }) => entry.trajectory);
  if (moving >= 0) {
    throw new AppError(
      "invalid_argument",
      `scans[${moving}] has a trajectory: a moving scan has no directions from one place and cannot be triangulated. Use a triangulation of other scans, or a given G.`,
    );
  }
  const grid = gridOf(request, job);
  const scans = await deps.admission.run(job, "Angular triangulation: points", SCAN_ROW_BYTES * rowsOf(sources), () =>
    readScans(sources, grid, job),
  );
  known.origins.push(...scans.flatMap(({ warnings }) => warnings));
  const total = scans.reduce((sum, { points }) => sum + points.length, 0);
  const most = Math.max(...scans.map(({ points }) => points.length));
  const bytes =
    native.scanTriangulationBytes(most) + native.scanMeshBytes(total, 2 * total) + (24 + FRAME_BYTES) * total;
  const mesh = await deps.admission.run(job, "Angular triangulation", bytes + 24 * total, () =>
    triangulated(request, sources, scans, grid, shift, known, job),
  );
  return { ...mesh, warnings: [...known.origins, ...mesh.warnings] };
}

interface Known {
  drops: native.TriangleDrops;
  /** About their origins. */
  readonly origins: string[];
}

async function readScans(sources: readonly ScanSource[], grid: VoxelBox | null, job: Job): Promise<ScanPoints[]> {
  job.stage("Reading scans", 0.05, 0.1);
  const scans: ScanPoints[] = [];
  for (const source of sources) scans.push(await readScan(source, { grid, for_directions: true }, job));
  if (scans.every(({ hit_count }) => hit_count === 0)) {
    throw new AppError("invalid_argument", "The scans have no surviving hits: all points are misses or deleted.");
  }
  if (scans.every(({ points }) => points.length === 0)) {
    throw new AppError("invalid_argument", "There are no candidate triangles: no points lie inside the grid.");
  }
  return scans;
}

async function triangulated(
  request: ScanTriangulationRequest,
  sources: readonly ScanSource[],
  scans: readonly ScanPoints[],
  grid: VoxelBox | null,
  shift: Triple,
  known: Known,
  job: Job,
): Promise<{
  readonly meta: Omit<ScanTriangulationSuccess, "method_used" | "grid_warning" | "grid_message">;
  readonly buffers: TriangulationFrame["buffers"];
  readonly warnings: string[];
}> {
  job.stage("Resolving grid", 0.1, 0.1);
  const candidates = await candidatesOf(scans, job);
  job.stage("Deduplicating vertices", 0.85, 0.93);
  const { lmax, max_aspect_ratio } = request;
  const mesh = await job.track(() => native.scanMesh(candidates.triangles, { lmax_m: lmax, max_aspect_ratio }));
  known.drops = mesh.drops;
  for (const column of candidates.columns) job.releaseEarly(column);
  const [vertices, indices, scan_ids] = [mesh.vertices, mesh.indices, mesh.scan_ids].map((column) =>
    job.adopt(new ColumnRef(column)),
  ) as [ColumnRef, ColumnRef, ColumnRef];
  if (mesh.drops.kept === 0) throw nothingLeft(mesh.drops, request);
  job.stage("Binning into grid", 0.93, 0.98);
  const payload = await job.track(() =>
    native.scanMeshPayload(
      { vertices: vertices.native, indices: indices.native, scan_ids: scan_ids.native },
      grid ?? ONE_CELL,
      MAX_SCAN_TRIANGLES,
    ),
  );
  for (const column of [indices, scan_ids]) job.releaseEarly(column);
  const triangles = job.adopt(new ColumnRef(payload.indices));
  const ids = job.adopt(new ColumnRef(payload.scan_ids));
  const cells = job.adopt(new ColumnRef(payload.cell_ids));
  if (triangles.length === 0) {
    throw new AppError("invalid_argument", "No triangle has its centroid in a cell of the grid.");
  }
  job.stage("Finalizing", 1, 1);
  const narrow = await job.track(() => narrowVertices(vertices.native, shift));
  const summaries = sources.map(({ entry }, i) => scanSummary(entry, scans[i] as ScanPoints, request));
  return {
    meta: {
      success: true,
      error: null,
      num_triangles: triangles.length / 3,
      num_vertices: vertices.length,
      surface_area: payload.surface_area,
      cap_lmax: payload.cap_lmax_m,
      cap_aspect: payload.cap_aspect,
      candidate_count: mesh.drops.candidates,
      dropped_outside: payload.outside_count,
      estimate: estimateOf(mesh),
      diagnostics: triangleDiagnostics(mesh.drops),
      scans: summaries,
      world_shift: [...shift],
    },
    buffers: {
      vertices: buffer(job.adopt(new ColumnRef(narrow.vertices)), "f32"),
      triangles: buffer(triangles, "u32"),
      triangle_scan_ids: buffer(ids, "u32"),
      triangle_cell_ids: buffer(cells, "u32"),
    },
    warnings: [
      ...scanWarnings(summaries, scans),
      ...told(candidates.repeated, "hits lie in exactly the direction of another one of their scan and were left out."),
      ...told(payload.capped_count, `triangles were left out: a frame has at most ${MAX_SCAN_TRIANGLES}.`),
      ...coarseCoordinates(narrow.largest),
    ],
  };
}

const buffer = (data: ColumnRef, dtype: "f32" | "u32") => ({ dtype, length: data.length, data });

/** Triangulates every scan; the run owns `columns`. */
async function candidatesOf(scans: readonly ScanPoints[], job: Job) {
  const triangles: native.ScanTriangles[] = [];
  const columns: ColumnRef[] = [];
  let repeated = 0;
  for (const [i, { points, origin, is_multi_return }] of scans.entries()) {
    const label = scans.length === 1 ? "Triangulating" : `Triangulating scan ${i + 1} of ${scans.length}`;
    job.stage(label, 0.1 + (0.7 * i) / scans.length, 0.1 + (0.7 * (i + 1)) / scans.length);
    const found = await job.track(() => native.triangulateScan(points, origin));
    const indices = job.adopt(new ColumnRef(found.indices));
    columns.push(indices);
    triangles.push({ points, indices: indices.native, origin, is_multi_return });
    repeated += found.repeated_count;
  }
  return { triangles, columns, repeated };
}

function scanWarnings(summaries: readonly ScanSummary[], scans: readonly ScanPoints[]): string[] {
  const empty = summaries.flatMap(({ points_used }, i) => (points_used === 0 ? [`${i}`] : []));
  const unusable = scans.reduce((sum, { unusable_count }) => sum + unusable_count, 0);
  return [
    ...(empty.length > 0 ? [`Scans without a hit to triangulate: ${empty.slice(0, 20).join(", ")}.`] : []),
    ...told(unusable, "points are not finite, or beyond 2^100 m, and were left out."),
  ];
}
