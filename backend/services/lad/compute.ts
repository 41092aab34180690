import type { LadCell, LadRequest, LadSuccess, LadTail } from "../../../shared/contract/lad-compute.ts";
import { DEFAULT_MIN_VOXEL_HITS, DEFAULT_OCCLUSION_EDGES } from "../../../shared/limits.ts";
import type { LazyList } from "../../../shared/wire/json-values.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { captureRecaptureBytes, lostHitsBytes } from "../../native/capture-recapture.ts";
import { type TracedBeams, traceBeamsBytes } from "../../native/lad.ts";
import * as native from "../../native/lad-inversion.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { cellList, voxelSummary, voxelValues, woodValues } from "./cells.ts";
import { clumpsOf, eighthsAtOnce } from "./clumps.ts";
import { fewLeaves } from "./few-leaves.ts";
import { checkLadGrid, isRaised, type LadGrid, lengthOf, resolveGrid } from "./grid.ts";
import { elementGain } from "./leaf-size.ts";
import { lostHitWarnings } from "./lost-hits.ts";
import { opaqueFloor } from "./opaque-floor.ts";
import { type ProjectionPlan, projectionPlan } from "./projection.ts";
import { fillWarnings, resultWarnings } from "./result-warnings.ts";
import { checkSentOnce, repeatedPulses } from "./scans/repeated.ts";
import { type CheckedScan, checkScan, type ReadScan, readScan } from "./scans/scans.ts";
import { tracedAlike, tracedByEnergy } from "./traced.ts";
import { triangulationBytes } from "./triangulation.ts";
import { checkViews, leafAreaByViews } from "./views.ts";
import {
  checkWoodSplit,
  labelledScans,
  labelWarnings,
  voxelLabels,
  woodLabelBytes,
  woodTotals,
} from "./wood-labels.ts";

/** Per voxel: solution and its copy, views, sums copied out, filled values. */
const VOXEL_BYTES = 2 * 25 + 24 + 88 + 9 + 8;

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
  checkWoodSplit(request);
  checkViews(request);
  const projection = projectionPlan(request);
  const scans: CheckedScan[] = [];
  for (const [i, scan] of request.scans.entries()) scans.push(await checkScan(scan, i, deps));
  checkSentOnce(scans);
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
  const labels = request.wood_split ? woodLabelBytes(sum(rows), cells) : 0;
  const eighths = request.check_clumping ? traceBeamsBytes(sum(rows), eighthsAtOnce(cells)) : 0;
  const views = request.capture_recapture ? captureRecaptureBytes(rows) : 0;
  const largest = lostHitsBytes(Math.max(...rows));
  const again = request.gtheta_per_beam || projection.from === "triangulation" ? traceBeamsBytes(sum(rows), cells) : 0;
  return (
    traceBeamsBytes(sum(rows), cells) +
    largest +
    again +
    views +
    VOXEL_BYTES * cells +
    sum(files) +
    triangles +
    labels +
    eighths
  );
}

async function readScans({ scans, request }: CheckedLad, job: Job): Promise<ReadScan[]> {
  const read: ReadScan[] = [];
  for (const [i, scan] of scans.entries()) {
    const end = 0.05 + (0.3 * (i + 1)) / scans.length;
    job.stage(`Reading scan ${i + 1} of ${scans.length}`, 0.05 + (0.3 * i) / scans.length, end);
    read.push(await readScan(scan, job));
  }
  return request.wood_split ? labelledScans(read, request.wood_split, job) : read;
}

async function inverted(checked: CheckedLad, grid: LadGrid, job: Job): Promise<LadAnswer> {
  const { request, projection } = checked;
  const scans = await readScans(checked, job);
  const repeated = await repeatedPulses(scans, job);
  const lost = await lostHitWarnings(scans, job.quiet());
  const energy = request.return_weights === "energy";
  const {
    traced,
    g,
    optical,
    scans: beams,
    ...weighed
  } = energy
    ? await tracedByEnergy(request, projection, scans, grid, job)
    : await tracedAlike(request, projection, scans, grid, job);
  const { native: sums } = job.adopt(new ColumnRef(traced.sums));
  const reach = traced.reach && job.adopt(new ColumnRef(traced.reach)).native;
  job.stage("Inverting Beer's law", 0.8, 0.86);
  const labels = request.wood_split ? await voxelLabels(scans, grid, job) : null;
  const few = await fewLeaves(request, beams, g, grid, job);
  const element_gain = await elementGain(request.element_width, grid.edges, job);
  const params = { ...inversionParams(request, grid, reach), labels, optical, measured: g.error, few };
  const found = await job.track(() => native.invertBeams(sums, g.column, params));
  for (const column of [found.lad, found.variance, found.state, found.wad, found.error])
    if (column) job.adopt(new ColumnRef(column));
  const clumps = await clumpsOf(request, { beams, sums, g, element_gain, optical }, grid, params, job);
  const by_views = await leafAreaByViews(request, scans, { ...g, common_error: found.common_g_error }, grid, job);
  job.stage("Collecting voxel results", 0.92, 0.92);
  const filled = request.fill_occluded ? await fill(found, grid, job) : null;
  const values = await voxelValues(sums, { ...found, ...filled }, g, await woodValues(found.wad, labels));
  const { floor, warnings: floor_warnings } = await opaqueFloor(beams, values, grid, job.quiet());
  const meta = scans.flatMap(({ notes }) => (notes.meta ? [notes.meta] : []));
  job.stage("Done", 1, 1);
  const summary = voxelSummary(grid, values);
  return {
    ...head(request, grid),
    ...summary,
    ...groupInterval(found.totals),
    ...woodTotals(values, found.totals),
    cells: cellList(grid, values),
    total_leaf_area: found.totals.leaf_area_m2,
    is_multi_return: scans.some(({ notes }) => notes.declared_multi),
    return_mode: traced.scans.some(({ grouped }) => grouped) ? "multi" : "single",
    return_weights: request.return_weights,
    hit_cosine: weighed.hit_cosine,
    gtheta_profile: g.profile && [...g.profile],
    gtheta_per_beam: optical !== null,
    element_gain,
    gtheta_common_error: g.error && found.common_g_error,
    occlusion_threshold_m: params.occlusion_threshold_m,
    under_sampled_count: found.totals.occluded_count,
    occluded_leaf_area: found.totals.occluded_leaf_area_m2,
    opaque_floor: floor,
    filled_count: filled?.filled_count ?? 0,
    fill_method_used: filled?.method ?? null,
    clumping_check: clumps.check && {
      voxel_count: clumps.check.voxel_count,
      leaf_area: clumps.check.whole_m2,
      leaf_area_half_edges: clumps.check.eighths_m2,
      expected_rise: clumps.check.expected_rise,
    },
    capture_recapture: by_views.area,
    crs_epsg: meta.find(({ crs_epsg }) => crs_epsg !== null)?.crs_epsg ?? null,
    warnings: [
      ...repeated,
      ...lost,
      ...g.warnings,
      ...weighed.warnings,
      ...floor_warnings,
      ...clumps.warnings,
      ...by_views.warnings,
      ...labelWarnings(scans, request.wood_split, values),
      ...(filled ? fillWarnings(summary.filled_leaf_area, found.totals) : []),
      ...resultWarnings(request, scans, traced, grid, found.totals, params, element_gain),
      ...grid.device.told,
    ],
  };
}

const inversionParams = (
  request: LadRequest,
  { box, edges }: LadGrid,
  reach: TracedBeams["reach"],
): native.InversionParams => ({
  reach,
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
