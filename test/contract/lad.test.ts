import { describe, expect, test } from "vitest";
import { SnapGridResponse } from "../../shared/contract/lad.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const post = (payload: object) => made.app.inject({ method: "POST", url: "/api/lad/snap-grid", payload });
const snapped = async (payload: object) => {
  const response = await post(payload);
  expect(response.statusCode).toBe(200);
  return SnapGridResponse.parse(response.json());
};

/** 40 m x 30 m of a plane that rises by 0.2 m per metre to the east. */
const heights = Array.from({ length: 30 }, () => Array.from({ length: 40 }, (_, i) => 5 + 0.2 * (i + 0.5)));
const dem = { grid_z: heights.flat() as (number | null)[], nx: 40, ny: 30, cell: 1, origin: [100, 200] };
const grid = { center: [120, 215, 10], size: [8, 4, 20], nx: 4, ny: 2, nz: 10 };

describe("snap-grid", () => {
  test("raises every column above the highest ground of its footprint", async () => {
    const answer = await snapped({ grid, dem });
    expect(answer).toMatchObject({ success: true, error: null, dropped_columns: 0 });
    expect(answer.kept_columns).toEqual(Array(8).fill(true));
    // Floor z = 0, voxels of 2 m, a tenth of one as clearance; the east edge of column i lies at 18 + 2 i from the west.
    const wanted = [0, 1, 2, 3, 0, 1, 2, 3].map((i) => 5 + 0.2 * (18 + 2 * i) + 0.2);
    for (const [c, offset] of answer.column_offsets.entries()) expect(offset).toBeCloseTo(wanted[c] ?? 0, 12);
  });

  test("a list of rows, nodata and null are read like a flat list with voids", async () => {
    const flat = await snapped({ grid, dem });
    expect(await snapped({ grid, dem: { ...dem, grid_z: heights } })).toEqual(flat);
    const holes = heights.flat().map((z, c) => (c % 40 === 1 ? (c % 80 === 1 ? null : -9999) : z));
    const patched = heights.flat().map((z, c) => (c % 40 === 1 ? (heights[0]?.[0] ?? 0) : z));
    const west = { ...grid, center: [104, 215, 10] };
    const filled = await snapped({ grid: west, dem: { ...dem, grid_z: holes, nodata: -9999 } });
    expect(filled).toEqual(await snapped({ grid: west, dem: { ...dem, grid_z: patched } }));
    expect(filled.column_offsets[0]).not.toBe((await snapped({ grid: west, dem })).column_offsets[0]);
  });

  test("defaults: one cell per axis, no rotation, a tenth of a voxel; counts below one count as one", async () => {
    const bare = { center: [120, 215, 10], size: [2, 2, 20] };
    const answer = await snapped({ grid: bare, dem });
    expect(answer.column_offsets).toHaveLength(1);
    expect(answer.column_offsets[0]).toBeCloseTo(5 + 0.2 * 21 + 2, 12);
    expect(await snapped({ grid: { ...bare, nx: 0, ny: -3, nz: 0 }, dem })).toEqual(answer);
    const touching = await snapped({ grid: bare, dem, safety_fraction: 0 });
    expect(touching.column_offsets[0]).toBeCloseTo(5 + 0.2 * 21, 12);
  });

  test("columns outside the terrain are dropped", async () => {
    const answer = await snapped({ grid: { ...grid, center: [140, 215, 10] }, dem });
    expect(answer).toMatchObject({ success: true, dropped_columns: 2 }); // x 136..144: the third touches the edge
    expect(answer.kept_columns).toEqual([true, true, true, false, true, true, true, false]);
    expect(answer.column_offsets[3]).toBe(0);
  });

  test("the rotation is counter-clockwise", async () => {
    const turned = await snapped({ grid: { ...grid, rotation: 90 }, dem });
    // Local +y points west: row 1 lies lower than row 0.
    expect(turned.column_offsets[0]).toBeCloseTo(5 + 0.2 * 22 + 0.2, 9);
    expect(turned.column_offsets[4]).toBeCloseTo(5 + 0.2 * 20 + 0.2, 9);
  });

  test.each([
    [
      "another count of heights",
      { dem: { ...dem, nx: 41 } },
      /grid_z length must equal nx\*ny.*1200 values for 41 x 30/,
    ],
    ["a cell of nothing", { dem: { ...dem, cell: 0 } }, /dem\.cell is 0.*positive/],
    ["no cells", { dem: { ...dem, nx: 0 } }, /dem\.nx x dem\.ny is 0 x 30/],
    ["too many cells", { dem: { ...dem, nx: 4e6, ny: 2 } }, /8000000 cells, but the limit is 4000000/],
    ["a terrain of voids", { dem: { ...dem, grid_z: heights.flat().map(() => null) } }, /no ground/],
    ["a terrain of nodata", { dem: { ...dem, nodata: 1, grid_z: heights.flat().map(() => 1) } }, /no ground/],
    ["every column outside", { grid: { ...grid, center: [0, 0, 0] } }, /All 8 columns.*terrain covers x 100 to 140/],
    ["a flat grid", { grid: { ...grid, size: [8, 4, 0] } }, /grid\.size is \[8, 4, 0\]/],
    ["too many columns", { grid: { ...grid, nx: 1e6, ny: 5 } }, /5000000 columns, but the limit is 4000000/],
    ["a negative clearance", { safety_fraction: -0.5 }, /safety_fraction is -0\.5/],
  ])("%s is reported in the response", async (_name, change, message) => {
    const answer = await snapped({ grid, dem, ...change });
    expect(answer).toMatchObject({
      success: false,
      column_offsets: [],
      kept_columns: [],
      dropped_columns: 0,
      code: "invalid_argument",
    });
    expect(answer.error).toMatch(message);
  });

  test.each([
    ["no terrain", { grid }, "dem"],
    ["no grid", { dem }, "grid"],
    ["a centre of two numbers", { dem, grid: { ...grid, center: [1, 2] } }, "center"],
    ["a word among the heights", { grid, dem: { ...dem, grid_z: ["high"] } }, "grid_z"],
    ["half a column", { dem, grid: { ...grid, nx: 1.5 } }, "nx"],
  ])("%s is rejected", async (_name, payload, field) => {
    const response = await post(payload);
    expect(response.statusCode).toBe(422);
    expect(JSON.stringify(response.json())).toContain(field);
  });

  test("unknown keys are named in the warnings", async () => {
    const answer = await snapped({ grid, dem, saftey_fraction: 0.5 });
    expect(answer.warnings?.[0]).toContain("saftey_fraction");
  });
});
