import type { LadCell, LadRequest, LadSuccess, LadTail } from "../../../shared/contract/lad-compute.ts";
import { AppError } from "../../../shared/errors.ts";
import { DEFAULT_MIN_VOXEL_HITS, DEFAULT_OCCLUSION_EDGES } from "../../../shared/limits.ts";
import type { LazyList } from "../../../shared/wire/json-values.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/lad.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { cellList, voxelSummary, voxelValues } from "./cells.ts";
import { checkLadGrid, isRaised, type LadGrid, lengthOf, resolveGrid } from "./grid.ts";
import { meshG, type ProjectionPlan, prescribedG, projectionPlan, type VoxelG } from "./projection.ts";
import { scanWarnings } from "./scan-warnings.ts";
import { type CheckedScan, checkScan, type ReadScan, readScan, tracedBeams } from "./scans.ts";
import { triangulatedG, triangulationBytes } from "./triangulation.ts";

/** Per voxel: solution and its copy, sums copied out, filled values. */
const VOXEL_BYTES = 2 * 17 + 88 + 9 + 8;

/** A request whose sources, grid and G are known to make sense. */
export interface CheckedLad {
  readonly request: LadRequest;
  readonly scans: readonly CheckedScan[];
  readonly projection: ProjectionPlan;
  readonly unknown_keys: readonly string[];
}

/** The answer; its cells are made while it is written. */
type LadAnswer = Omit<LadSuccess, "cells"> & { readonly cells: LazyList | LadCell[] };
type LadFailure = Extract<LadTail, { success: false }>;

/** Errors: not_found; invalid_argument for sources, a grid and a G that make no inversion. */
export async function checkLadRequest(
  request: LadRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedLad> {
  checkLadGrid(request);
  const projection = projectionPlan(request);
  const scans: CheckedScan[] = [];
  for (const [i, scan] of request.scans.entries()) scans.push(await checkScan(scan, i, deps));
  return { request, scans, projection, unknown_keys };
}

/** Leaf area density of every voxel (contract lad 1). A failure is reported in the tail; a cancel is thrown. */
export async function ladCompute(checked: CheckedLad, deps: Deps, job: Job): Promise<LadAnswer | LadFailure> {
  const named = unknownKeyWarnings(checked.unknown_keys);
  try {
    job.stage("Reading scans", 0.05, 0.05);
    const grid = await resolveGrid(checked.request, deps, job);
    const answer = await deps.admission.run(job, "Leaf area density", bytesOf(checked, grid.cells), () =>
      inverted(checked, grid, job),
    );
    return { ...answer, warnings: [...named, ...answer.warnings] };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return { success: false, error: message, code, ...(named.length > 0 ? { warnings: named } : {}) };
  }
}

function bytesOf({ scans, request, projection }: CheckedLad, cells: number): number {
  const rows = scans.map(({ source }) => {
    if (source.from === "inline") return source.rows;
    if (source.from === "file") return 0;
    const { columns, misses } = source.session.state;
    return (columns.get("positions")?.length ?? 0) + (misses.get("positions")?.length ?? 0);
  });
  const files = scans.map(({ source }) => (source.from === "file" ? source.bytes : 0));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const mesh = 8 * lengthOf(request.mesh_vertices) + (4 + 16) * lengthOf(request.mesh_indices);
  const triangles = projection.from === "triangulation" ? triangulationBytes(rows) : mesh;
  return native.traceBeamsBytes(sum(rows), cells) + VOXEL_BYTES * cells + sum(files) + triangles;
}

async function readScans(scans: readonly CheckedScan[], job: Job): Promise<ReadScan[]> {
  const read: ReadScan[] = [];
  for (const [i, scan] of scans.entries()) {
    const end = 0.05 + (0.3 * (i + 1)) / scans.length;
    job.stage(`Reading scan ${i + 1} of ${scans.length}`, 0.05 + (0.3 * i) / scans.length, end);
    read.push(await readScan(scan, job));
  }
  return read;
}

async function inverted(checked: CheckedLad, grid: LadGrid, job: Job): Promise<LadAnswer> {
  const { request, projection } = checked;
  const scans = await readScans(checked.scans, job);
  job.stage("Building voxel grid", 0.45, projection.from === "values" ? 0.8 : 0.55, [
    { name: "Tracing beams", weight: 1 },
    { name: "Summing up voxels", weight: 2 },
  ]);
  const traced = await tracedBeams(scans, grid, job);
  const sums = job.adopt(new ColumnRef(traced.sums)).native;
  requireMisses(scans, traced);
  const g = await voxelG(request, projection, { traced, scans }, grid, job);
  job.stage("Inverting Beer's law", 0.8, 0.9);
  const params = inversionParams(request, grid);
  const found = await job.track(() => native.invertBeams(sums, g.column, params));
  for (const column of [found.lad, found.variance, found.state]) job.adopt(new ColumnRef(column));
  job.stage("Collecting voxel results", 0.92, 0.92);
  const filled = request.fill_occluded ? await fill(found, grid, job) : null;
  const values = await voxelValues(sums, { ...found, ...filled }, g);
  const meta = scans.flatMap(({ notes }) => (notes.meta ? [notes.meta] : []));
  job.stage("Done", 1, 1);
  return {
    ...head(request, grid),
    ...voxelSummary(grid, values),
    ...groupInterval(found.totals),
    cells: cellList(grid, values),
    total_leaf_area: found.totals.leaf_area_m2,
    is_multi_return: scans.some(({ notes }) => notes.declared_multi),
    return_mode: traced.scans.some(({ grouped }) => grouped) ? "multi" : "single",
    gtheta_profile: g.profile && [...g.profile],
    occlusion_threshold_m: params.occlusion_threshold_m,
    under_sampled_count: found.totals.occluded_count,
    filled_count: filled?.filled_count ?? 0,
    fill_method_used: filled?.method ?? null,
    crs_epsg: meta.find(({ crs_epsg }) => crs_epsg !== null)?.crs_epsg ?? null,
    warnings: [...g.warnings, ...warningsOf(request, scans, traced, grid, found.totals, params)],
  };
}

/** Errors: invalid_argument, naming the scans without misses. */
function requireMisses(scans: readonly ReadScan[], { scans: counts }: native.TracedBeams): void {
  const without = scans.filter((_, i) => (counts[i]?.miss_count ?? 0) === 0).map(({ notes }) => notes.name);
  if (without.length === 0) return;
  const [names, verb] = [without.slice(0, 10).join(", "), without.length === 1 ? "has" : "have"];
  throw new AppError(
    "invalid_argument",
    `${names} ${verb} no miss points, so transmitted beams cannot be counted: run Backfill Misses first, or re-import a format that keeps misses.`,
  );
}

async function voxelG(
  request: LadRequest,
  projection: ProjectionPlan,
  { traced, scans }: { readonly traced: native.TracedBeams; readonly scans: readonly ReadScan[] },
  grid: LadGrid,
  job: Job,
): Promise<VoxelG> {
  if (projection.from === "values") return prescribedG(projection.values, traced, grid.box.nz, job);
  const reused = projection.from === "mesh";
  job.stage(reused ? "Reusing triangulation" : "Triangulating hit points", 0.55, 0.8);
  return reused ? meshG(request, grid, job) : triangulatedG(request, scans, grid, job);
}

const inversionParams = (request: LadRequest, { box, edges }: LadGrid): native.InversionParams => ({
  voxel_size: edges,
  nx: box.nx,
  ny: box.ny,
  nz: box.nz,
  min_beams: request.min_voxel_hits ?? DEFAULT_MIN_VOXEL_HITS,
  element_width_m: request.element_width,
  occlusion_threshold_m:
    request.occlusion_threshold_m ?? (DEFAULT_OCCLUSION_EDGES * (edges[0] + edges[1] + edges[2])) / 3,
});

async function fill(found: native.InvertedBeams, { box }: LadGrid, job: Job): Promise<native.FilledVoxels> {
  job.stage("Filling occluded voxels", 0.95, 1);
  const { lad, variance, state } = found;
  const filled = await job.track(() => native.fillOccluded({ lad, variance, state }, box));
  for (const column of [filled.lad, filled.state]) job.adopt(new ColumnRef(column));
  return filled;
}

function head({ grid: asked, element_width }: LadRequest, grid: LadGrid) {
  const { center, size, rotation } = asked;
  const corner = (sign: 1 | -1): [number, number, number] => [
    center[0] + (sign * size[0]) / 2,
    center[1] + (sign * size[1]) / 2,
    center[2] + (sign * size[2]) / 2,
  ];
  return {
    success: true as const,
    error: null,
    nx: grid.box.nx,
    ny: grid.box.ny,
    nz: grid.box.nz,
    grid_center: center,
    grid_size: size,
    grid_rotation: rotation,
    bounds: [corner(-1), corner(1)] as LadSuccess["bounds"],
    terrain_follow: isRaised(grid),
    dropped_columns: grid.dropped_columns,
    method_used: "lidar" as const,
    element_width,
    confidence_level: 0.95,
    had_miss_points: true as const,
    gapfilled_misses: 0 as const,
  };
}

function groupInterval({ group_count, group_mean, group_half_width }: native.InvertedBeams["totals"]) {
  const valid = group_count > 0;
  return {
    group_ci_valid: valid,
    group_lad_mean: valid ? group_mean : null,
    group_lad_ci_lower: valid ? Math.max(0, group_mean - group_half_width) : null,
    group_lad_ci_upper: valid ? group_mean + group_half_width : null,
  };
}

function warningsOf(
  request: LadRequest,
  scans: readonly ReadScan[],
  traced: native.TracedBeams,
  grid: LadGrid,
  { occluded_count }: native.InvertedBeams["totals"],
  { min_beams, occlusion_threshold_m }: native.InversionParams,
): string[] {
  const told = scans.flatMap(({ notes }, i) => {
    const counts = traced.scans[i];
    return counts ? scanWarnings(notes, counts) : [];
  });
  const given = request.gtheta !== null || request.gtheta_spec !== null;
  if (given && !request.gtheta_override) told.push("gtheta and gtheta_spec are not used: gtheta_override is false.");
  if (request.min_voxel_hits === null || request.min_voxel_hits === undefined)
    told.push(`min_voxel_hits was not given: voxels need ${min_beams} beams.`);
  if (grid.dropped_columns > 0) {
    told.push(`${grid.dropped_columns} of ${grid.box.nx * grid.box.ny} columns of the grid are left out.`);
  }
  if (traced.beam_count === 0) told.push("No beam reaches the grid: are the scans and the grid in the same frame?");
  if (occluded_count > 0) {
    const share = ((100 * occluded_count) / grid.cells).toFixed(1);
    told.push(
      `${occluded_count} voxels (${share} %) are occluded: fewer than ${min_beams} beams reach them, or less than ${Number(occlusion_threshold_m.toPrecision(6))} m of path.`,
    );
  }
  return told;
}
