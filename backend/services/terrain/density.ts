import type { DemSuccess } from "../../../shared/contract/dem.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import type { DemPlan, SurfaceType } from "./grid.ts";
import type { DemSurface } from "./surface.ts";

/** Lower canopies are herbs and noise, metres; without a higher one they are crops. */
const LOWEST_CANOPY_M = 2;
const LOWEST_CROP_M = 0.1;
const LOWEST_M = -1e9;
/** Told: a terrain that differs by this and this part of a cell; tops that are lower by this, a canopy by this part of its height. */
const TOLD_RMS_M = 0.025;
const TOLD_RMS_CELLS = 0.005;
const TOLD_LOSS_M = 0.25;
const TOLD_LOSS_PART = 0.03;

/** A surface beside that of about half of its points. */
export interface HalfChange extends native.GridChange {
  /** Cells of lower canopies do not count, metres. */
  readonly above_m: number;
}

/** How a surface differs from that of about half of its points. */
export async function changeWithHalf(
  { positions }: DemCloud,
  { grid, rows, regrid }: DemSurface,
  { surface }: DemPlan,
  job: Job,
): Promise<HalfChange> {
  const half = job.adopt(new ColumnRef(await job.track(() => native.halfRows(positions, rows))));
  const other = await regrid(half.native, job);
  const of = async (above_m: number) => ({
    ...(await job.track(() => native.gridChange(grid, other, above_m))),
    above_m,
  });
  if (surface !== "chm") return of(LOWEST_M);
  const high = await of(LOWEST_CANOPY_M);
  return high.cells > 0 ? high : of(LOWEST_CROP_M);
}

/** What of the height of a low canopy may come from the terrain below, as a part of it, without a word. */
const TOLD_TERRAIN_PART = 0.05;

/** Warns of a terrain below crops whose noise and gaps count beside their height. */
export async function lowCanopyWarnings(
  { positions }: DemCloud,
  { frame, under, sources }: DemSurface,
  { above_m, cells, mean_value }: HalfChange,
  { percentile }: DemPlan,
  job: Job,
): Promise<string[]> {
  if (!under || above_m >= LOWEST_CANOPY_M || cells === 0 || sources.ground_source === "all_points") return [];
  const median = await job.track(() => native.medianAboveGround(positions, under.skip, frame, under.z));
  const half = job.adopt(new ColumnRef(await job.track(() => native.halfRows(positions, under.skip))));
  const other = await under.regrid(half.native, job);
  const { rms_change } = await job.track(() => native.gridChange(under.z, other, LOWEST_M));
  const part = (value: number) => `${(100 * value).toFixed(1)} cm, ${((100 * value) / mean_value).toFixed(0)} %`;
  const least = TOLD_TERRAIN_PART * mean_value;
  const canopy = `of the ${mean_value.toFixed(2)} m of the canopy`;
  return [
    ...(median > least && percentile < 50
      ? [
          `Half of the ground's returns lie more than ${part(median)} ${canopy}, above the terrain below it, whose cells have percentile ${percentile} of their heights (ground_percentile). If that is noise of the ranges, the canopy is that much too high; 50 takes the middle.`,
        ]
      : []),
    ...(rms_change > least
      ? [
          `The terrain below the canopy differs by ${part(rms_change)} ${canopy}, from that of every second ground point (root mean square): heights are uncertain by about as much. Plants hide the ground: wider cells, or a scan of the bare field, depend less on it.`,
        ]
      : []),
  ];
}

/** The change as the answer has it. */
export const halfPoints = ({ cells, mean_change, rms_change }: native.GridChange): DemSuccess["half_points"] =>
  cells > 0 ? { n_cells: cells, mean_m: mean_change, rms_m: rms_change } : null;

/** Warns of a surface that another density of points would move; `is_guess`: of the terrain below a canopy nothing was seen. */
export function densityWarnings(
  surface: SurfaceType,
  change: HalfChange,
  { cell, is_guess }: { readonly cell: number; readonly is_guess: boolean },
): string[] {
  const { cells, mean_value, mean_change, rms_change, above_m } = change;
  if (cells === 0) return [];
  const metres = (value: number) => `${value.toFixed(2)} m`;
  if (surface === "dtm") {
    if (!(rms_change > Math.max(TOLD_RMS_M, TOLD_RMS_CELLS * cell))) return [];
    return [
      `The terrain of every second ground point differs by ${metres(rms_change)} (root mean square, half_points): the error of the terrain is of that order${is_guess ? " where the ground was seen" : ""}.`,
    ];
  }
  const least = surface === "chm" ? TOLD_LOSS_PART * mean_value : TOLD_LOSS_M;
  if (!(mean_change > least)) return [];
  const [what, where] = surface === "chm" ? ["canopy", `cells above ${above_m} m`] : ["surface", "all cells"];
  return [
    `The height of the ${what} depends on the density of the returns: with every second one it is ${metres(mean_change)} lower (mean of ${where}, half_points), and denser scans of the same trees are higher. Cells wider than ${Number(cell.toPrecision(3))} m depend less on it.`,
  ];
}
