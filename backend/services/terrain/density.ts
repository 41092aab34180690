import type { DemSuccess } from "../../../shared/contract/dem.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import type { DemPlan, DemSurface, SurfaceType } from "./grid.ts";

/** Lower canopies are herbs and noise, metres. */
const LOWEST_CANOPY_M = 2;
const LOWEST_M = -1e9;
/** Told: a terrain that differs by this and this part of a cell; tops that are lower by this, a canopy by this part of its height. */
const TOLD_RMS_M = 0.025;
const TOLD_RMS_CELLS = 0.005;
const TOLD_LOSS_M = 0.25;
const TOLD_LOSS_PART = 0.03;

/** How a surface differs from that of about half of its points. */
export async function changeWithHalf(
  { positions }: DemCloud,
  { grid, rows, regrid }: DemSurface,
  { surface }: DemPlan,
  job: Job,
): Promise<native.GridChange> {
  const half = job.adopt(new ColumnRef(await job.track(() => native.halfRows(positions, rows))));
  const other = await regrid(half.native, job);
  const above = surface === "chm" ? LOWEST_CANOPY_M : LOWEST_M;
  return job.track(() => native.gridChange(grid, other, above));
}

/** The change as the answer has it. */
export const halfPoints = ({ cells, mean_change, rms_change }: native.GridChange): DemSuccess["half_points"] =>
  cells > 0 ? { n_cells: cells, mean_m: mean_change, rms_m: rms_change } : null;

/** Warns of a surface that another density of points would move. */
export function densityWarnings(surface: SurfaceType, change: native.GridChange, cell: number): string[] {
  const { cells, mean_value, mean_change, rms_change } = change;
  if (cells === 0) return [];
  const metres = (value: number) => `${value.toFixed(2)} m`;
  if (surface === "dtm") {
    if (!(rms_change > Math.max(TOLD_RMS_M, TOLD_RMS_CELLS * cell))) return [];
    return [
      `The terrain of every second ground point differs by ${metres(rms_change)} (root mean square, half_points): the error of the terrain is of that order.`,
    ];
  }
  const least = surface === "chm" ? TOLD_LOSS_PART * mean_value : TOLD_LOSS_M;
  if (!(mean_change > least)) return [];
  const [what, where] = surface === "chm" ? ["canopy", "cells above 2 m"] : ["surface", "all cells"];
  return [
    `The height of the ${what} depends on the density of the returns: with every second one it is ${metres(mean_change)} lower (mean of ${where}, half_points), and denser scans of the same trees are higher. Cells wider than ${Number(cell.toPrecision(3))} m depend less on it.`,
  ];
}
