import { expect, test } from "vitest";
import { voxelCsv } from "../../../../backend/cli/lad/tables.ts";
import type { LadCell, LadSuccess } from "../../../../shared/contract/lad-compute.ts";

/** A voxel with a leaf area of 2 m2. */
const cell = (index: number, state: Partial<LadCell>) =>
  ({
    ...{ index, center: [index, 0, 0], lad: 2, leaf_area: 2, leaf_area_ci_lower: 1, leaf_area_ci_upper: 3 },
    ...{ gtheta: 0.5, hit_count: 9, beam_count: 20, relative_density_index: 0.4, path_length_total: 10 },
    ...{ lad_std_total: 0.1, lad_solved: true, under_sampled: false, lad_filled: false },
    ...state,
  }) as LadCell;

test("voxels.csv has no leaf area of occluded voxels: the rest adds up to the total, interpolated ones are marked", () => {
  const cells = [
    cell(0, {}),
    cell(1, { under_sampled: true }),
    cell(2, { under_sampled: true, lad_filled: true }),
    cell(3, { lad_solved: false }),
  ];
  const answer = { cells, nx: 4, ny: 1, nz: 1, has_wood_classification: false } as unknown as LadSuccess;
  const [head = "", ...lines] = [...voxelCsv(answer)].join("").trim().split("\n");
  const names = head.split(",");
  const column = (name: string) => lines.map((line) => line.split(",")[names.indexOf(name)]);
  for (const name of ["lad_m2_m3", "leaf_area_m2", "leaf_area_ci_upper_m2", "lad_std_m2_m3"])
    expect(column(name).map((text) => text !== "")).toEqual([true, false, true, false]);
  expect(column("occluded")).toEqual(["0", "1", "1", "0"]);
  expect(column("filled")).toEqual(["0", "0", "1", "0"]);
});
