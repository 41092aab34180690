import type { DemSuccess } from "../../../shared/contract/dem.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { Bounds } from "../../native/files/readers.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import { firstReturns } from "./first-returns.ts";
import { type DemPlan, rasterFrame } from "./grid.ts";
import { boundsOf, groundRows } from "./ground-rows.ts";

/** A surface on its grid, before it becomes a mesh. */
export interface DemSurface {
  readonly frame: native.RasterFrame;
  /** Values of grid_z: z, or the canopy height of a CHM. */
  readonly grid: NativeColumn;
  /** z of the mesh. */
  readonly drape: NativeColumn;
  readonly voids: number;
  readonly points_used: number;
  readonly sources: Pick<DemSuccess, "ground_source" | "surface_source" | "slope_correction" | "warning">;
  /** Ground rows of a DTM, for the terrain without gaps. */
  readonly ground_skip: NativeColumn | null;
  /** The terrain below a canopy: its z, ground rows, and z of other rows; null of other surfaces. */
  readonly under: {
    readonly z: NativeColumn;
    readonly skip: NativeColumn | null;
    readonly regrid: (skip: NativeColumn, job: Job) => Promise<NativeColumn>;
  } | null;
  /** Hits per cell; null if the surface did not need them. */
  readonly counts: native.CellCounts | null;
  /** Rows whose number decides the values: those of a mask, 0 = kept. */
  readonly rows: NativeColumn | null;
  /** The same grid of other rows; the run owns it. */
  readonly regrid: (skip: NativeColumn, job: Job) => Promise<NativeColumn>;
}

const FEWEST_POINTS = 3;

/** How the value of a cell is computed from its ground points. */
export const ofGround = ({ percentile, slope_correction }: DemPlan) =>
  ({ percentile, at_centers: slope_correction }) as const;

/** Computes the grid that the plan describes. Errors: invalid_argument, naming the broken rule. */
export function makeSurface(cloud: DemCloud, plan: DemPlan, job: Job): Promise<DemSurface> {
  if (cloud.hit_count < FEWEST_POINTS) throw tooFewPoints();
  if (plan.surface === "dtm") return terrain(cloud, plan, job);
  return plan.surface === "dsm" ? topOfCanopy(cloud, plan, job) : canopy(cloud, plan, job);
}

const tooFewPoints = () => new AppError("invalid_argument", "A DEM needs at least three points.");

async function terrain(cloud: DemCloud, plan: DemPlan, job: Job): Promise<DemSurface> {
  job.stage("Extracting ground points (CSF)", 0.05, 0.15);
  const ground = await groundRows(cloud, plan.segment, job);
  job.stage("Gridding terrain (DTM)", 0.15, 0.55);
  const frame = await frameOf(cloud, [ground.skip], plan, job);
  const counts = await cellCounts(cloud, cloud.skip, frame, job);
  const gaps = plan.fill_voids ? "footprint" : "leave";
  const params = { ...ofGround(plan), frame, method: plan.method, gaps } as const;
  const raster = await job.track(() =>
    native.terrainRaster(cloud.positions, ground.skip, params, plan.fill_voids ? counts.footprint : null),
  );
  const z = job.adopt(new ColumnRef(raster.z)).native;
  enoughCells(raster.populated_count, frame, plan);
  const warning = joined(ground.warning, lineWarning(raster));
  return {
    frame,
    grid: z,
    drape: z,
    voids: raster.void_count,
    points_used: raster.populated_count,
    sources: {
      ground_source: ground.ground_source,
      slope_correction: plan.slope_correction,
      ...(warning ? { warning } : {}),
    },
    ground_skip: ground.skip,
    under: null,
    counts,
    rows: ground.skip,
    regrid: async (skip, own) => {
      const other = await own.track(() => native.terrainRaster(cloud.positions, skip, params, null));
      return own.adopt(new ColumnRef(other.z)).native;
    },
  };
}

async function topOfCanopy(cloud: DemCloud, plan: DemPlan, job: Job): Promise<DemSurface> {
  job.stage("Binning ground points", 0.2, 0.5);
  const top = await firstReturns(cloud, job);
  const frame = await frameOf(cloud, [top.skip], plan, job);
  job.stage("Interpolating elevation grid", 0.5, 0.75);
  const raster = await job.track(() => native.surfaceRaster(cloud.positions, top.skip, frame, plan.method));
  const z = job.adopt(new ColumnRef(raster.z)).native;
  enoughCells(raster.populated_count, frame, plan);
  const warning = lineWarning(raster);
  return {
    frame,
    grid: z,
    drape: z,
    voids: raster.void_count,
    points_used: raster.populated_count,
    sources: { surface_source: top.surface_source, ...(warning ? { warning } : {}) },
    ground_skip: null,
    under: null,
    counts: null,
    rows: top.skip,
    regrid: (skip, own) => topOf(cloud, skip, frame, plan, own),
  };
}

async function canopy(cloud: DemCloud, plan: DemPlan, job: Job): Promise<DemSurface> {
  job.stage("Extracting ground points (CSF)", 0.05, 0.15);
  const ground = await groundRows(cloud, plan.segment, job);
  const top = await firstReturns(cloud, job);
  job.stage("Gridding ground (DTM)", 0.15, 0.55);
  const frame = await frameOf(cloud, [ground.skip, top.skip], plan, job);
  const scanned = await cellCounts(cloud, top.skip, frame, job);
  const params = { ...ofGround(plan), frame, method: plan.method, gaps: "footprint" } as const;
  const dtm = await job.track(() => native.terrainRaster(cloud.positions, ground.skip, params, scanned.footprint));
  const below = job.adopt(new ColumnRef(dtm.z)).native;
  enoughCells(dtm.populated_count, frame, plan);
  job.stage("Gridding surface (DSM)", 0.55, 0.8);
  const dsm = await job.track(() => native.surfaceRaster(cloud.positions, top.skip, frame, plan.method));
  const above = job.adopt(new ColumnRef(dsm.z)).native;
  enoughCells(dsm.populated_count, frame, plan);
  job.stage("Subtracting DSM − DTM", 0.8, 0.9);
  const chm = await job.track(() => native.canopyHeight(frame, below, above));
  const warning = joined(ground.warning, lineWarning(dtm) ?? lineWarning(dsm));
  return {
    frame,
    grid: job.adopt(new ColumnRef(chm.height)).native,
    drape: job.adopt(new ColumnRef(chm.draped_z)).native,
    voids: chm.void_count,
    points_used: frame.nx * frame.ny - chm.void_count,
    sources: {
      ground_source: ground.ground_source,
      surface_source: top.surface_source,
      slope_correction: plan.slope_correction,
      ...(warning ? { warning } : {}),
    },
    ground_skip: null,
    under: {
      z: below,
      skip: ground.skip,
      regrid: async (skip, own) => {
        const other = await own.track(() => native.terrainRaster(cloud.positions, skip, params, scanned.footprint));
        return own.adopt(new ColumnRef(other.z)).native;
      },
    },
    counts: null,
    rows: top.skip,
    regrid: async (skip, own) => {
      const other = await topOf(cloud, skip, frame, plan, own);
      const canopy = await own.track(() => native.canopyHeight(frame, below, other));
      own.adopt(new ColumnRef(canopy.draped_z));
      return own.adopt(new ColumnRef(canopy.height)).native;
    },
  };
}

/** z of the top of some rows; the run owns it. */
async function topOf(
  { positions }: DemCloud,
  skip: NativeColumn,
  frame: native.RasterFrame,
  { method }: DemPlan,
  job: Job,
): Promise<NativeColumn> {
  const raster = await job.track(() => native.surfaceRaster(positions, skip, frame, method));
  return job.adopt(new ColumnRef(raster.z)).native;
}

/** The grid over the requested box, else over the points that are gridded. */
async function frameOf(
  cloud: DemCloud,
  skips: readonly (NativeColumn | null)[],
  { bbox, cell_size }: DemPlan,
  job: Job,
): Promise<native.RasterFrame> {
  if (bbox) return rasterFrame(bbox, cell_size);
  const all: Bounds[] = [];
  for (const skip of new Set(skips)) {
    const bounds = await boundsOf(cloud, skip, job);
    if (bounds) all.push(bounds);
  }
  if (all.length === 0) throw tooFewPoints();
  const low = (axis: 0 | 1) => Math.min(...all.map(({ min }) => min[axis]));
  const high = (axis: 0 | 1) => Math.max(...all.map(({ max }) => max[axis]));
  return rasterFrame([low(0), low(1), high(0), high(1)], cell_size);
}

/** Points per cell; the run owns the columns. */
export async function cellCounts(
  { positions }: DemCloud,
  skip: NativeColumn | null,
  frame: native.RasterFrame,
  job: Job,
): Promise<native.CellCounts> {
  const cells = await job.track(() => native.cellCounts(positions, skip, frame));
  job.adopt(new ColumnRef(cells.counts));
  job.adopt(new ColumnRef(cells.footprint));
  return cells;
}

function enoughCells(populated: number, { cell, nx, ny }: native.RasterFrame, { bbox }: DemPlan): void {
  if (populated >= FEWEST_POINTS) return;
  throw new AppError(
    "invalid_argument",
    `Only ${populated} of ${nx} x ${ny} cells of ${cell} m contain points, but a DEM needs at least 3; use another cell size${bbox ? " or bbox" : ""}.`,
  );
}

const lineWarning = ({ on_a_line }: native.RasterSurface): string | undefined =>
  on_a_line
    ? "All cells with points lie on one line, so every other cell has the value of the nearest of them."
    : undefined;

const joined = (...texts: readonly (string | undefined)[]): string | undefined =>
  texts.filter((text) => text !== undefined).join(" ") || undefined;
