import { expect, test } from "vitest";
import { barsOf, csvOf } from "../../../backend/window/operations/lad.ts";
import type { LadCell, LadSuccess } from "../../../shared/contract/lad-compute.ts";

/** A voxel in its own layer with a density of 2 m2/m3. */
const cell = (index: number, state: Partial<LadCell>) =>
  ({
    ...{ index, center: [0.5, 0.5, index + 0.5], lad: 2, leaf_area: 2, lad_std: 0.1, hit_count: 9, beam_count: 20 },
    ...{ lad_solved: true, under_sampled: false, lad_filled: false },
    ...state,
  }) as LadCell;

const ANSWER = {
  ...{ nx: 1, ny: 1, nz: 4, grid_size: [1, 1, 4] },
  bounds: [
    [0, 0, 0],
    [1, 1, 4],
  ],
  cells: [
    cell(0, {}),
    cell(1, { under_sampled: true }),
    cell(2, { under_sampled: true, lad_filled: true, lad: 7 }),
    cell(3, { lad: 1 }),
  ],
} as unknown as LadSuccess;

test("the window's table has no leaf area of occluded voxels, and marks interpolated ones", () => {
  const [head = "", ...lines] = csvOf(ANSWER).trim().split("\n");
  const names = head.split(",");
  const column = (name: string) => lines.map((line) => line.split(",")[names.indexOf(name)]);
  expect(column("lad")).toEqual(["2", "", "7", "1"]);
  expect(column("leaf_area")).toEqual(["2", "", "2", "2"]);
  expect(column("lad_filled")).toEqual(["false", "false", "true", "false"]);
});

test("the bars are means of measured voxels, from the top", () => {
  expect(barsOf(ANSWER)).toEqual([
    ["3.5 m", 1],
    ["0.5 m", 2],
  ]);
});
