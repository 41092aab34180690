import type { DemSuccess } from "../../../shared/contract/dem.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import type { DemPlan } from "./grid.ts";
import type { DemSurface } from "./surface.ts";

/** From this on a cell counts, metres. */
const TOLD_M = 1;

/** What a surface would be without returns that stand alone. */
export interface LoneReturns extends Pick<native.GridJumps, "cells" | "changed" | "largest"> {
  readonly points: number;
  /** Centre of the cell with the largest difference, metres, frame of the points. */
  readonly at: readonly [number, number];
}

/** Compares a surface with that without the highest returns, for terrain the lowest ones, that stand alone; null without such returns. */
export async function loneReturns(
  { positions, skip }: DemCloud,
  { grid, rows, frame, regrid }: DemSurface,
  { surface }: DemPlan,
  job: Job,
): Promise<LoneReturns | null> {
  const side = surface === "dtm" ? "lowest" : "highest";
  const found = await job.track(() => native.loneReturns(positions, skip, rows, frame, side));
  const without = job.adopt(new ColumnRef(found.skip));
  if (found.count === 0) return null;
  const other = await regrid(without.native, job);
  const jumps = await job.track(() => native.gridJumps(grid, other, TOLD_M));
  const [i, j] = [jumps.cell % frame.nx, Math.floor(jumps.cell / frame.nx)];
  const at = [frame.min_x + (i + 0.5) * frame.cell, frame.min_y + (j + 0.5) * frame.cell] as const;
  return { ...jumps, points: found.count, at };
}

/** The comparison as the answer has it; null where no cell changes by so much. */
export const loneReturnsMeta = (lone: LoneReturns | null): DemSuccess["lone_returns"] =>
  lone && lone.changed > 0
    ? { n_points: lone.points, n_cells: lone.changed, max_m: lone.largest, max_at: [...lone.at] }
    : null;

/** Warns of cells that have the height of a bird or of noise. */
export function loneReturnWarnings(
  lone: LoneReturns | null,
  surface: DemPlan["surface"],
  world_shift: readonly number[],
): string[] {
  if (!lone || lone.changed === 0) return [];
  const { points, cells, changed, largest, at } = lone;
  const [x, y] = at.map((value, axis) => (value + (world_shift[axis] ?? 0)).toFixed(1));
  const share = (100 * changed) / cells;
  const part = share < 0.01 ? "less than 0.01" : share.toFixed(share < 1 ? 2 : 1);
  const by = `${changed} of ${cells} cells (${part} %) ${changed === 1 ? "differs" : "differ"} by more than ${TOLD_M} m, up to ${largest.toFixed(1)} m (at x ${x}, y ${y}), from the ${surface} without ${points === 1 ? "1 return that stands" : `${points} returns that stand`} alone (lone_returns)`;
  return surface === "dtm"
    ? [
        `${by}, lower than all around: multiple reflections and noise that count as ground. Label noise (denoise), then the ground again, or delete them.`,
      ]
    : [
        `${by}: birds, insects, clouds, drops and noise, or thin things such as masts, wires and leaders. Label noise first (denoise), and delete what remains and is none of the scene.`,
      ];
}
