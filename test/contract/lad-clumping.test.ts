import { describe, expect, test } from "vitest";
import { parallelBeams, UNIT_GRID } from "../support/lad/beams.ts";
import { HALF, ladCalls } from "../support/lad/calls.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute } = ladCalls(made);

/** 400 beams through a voxel of 1 m: of 10 above its middle `above` are intercepted, of 10 below the others of 10. */
const scanOf = (above: number) =>
  parallelBeams(1, 20, (i, _, z) => (i % 10 < (z > 0 ? above : 10 - above) ? 0.25 : null));
const LEAVES = { element_width: 0.02 };

describe("leaves in clumps", () => {
  test("are told by voxels of half the edges", async () => {
    const tail = await compute({ ...LEAVES, scans: [scanOf(7)] });
    const eighths = (-Math.log(0.3) - Math.log(0.7)) / 0.25 / 4; // of each quarter of the hits' half
    expect(tail.cells[0]?.lad).toBeCloseTo(HALF, 9);
    expect(tail.clumping_check).toMatchObject({ voxel_count: 1 });
    expect(tail.clumping_check?.leaf_area).toBeCloseTo(HALF, 9);
    expect(tail.clumping_check?.leaf_area_half_edges).toBeCloseTo(eighths, 9);
    const percent = (100 * (eighths / HALF - 1)).toFixed(0);
    expect(tail.warnings.join()).toMatch(new RegExp(`in clumps.*${percent} % more leaf area`));
  });

  test("even leaves are no clumps", async () => {
    const tail = await compute({ ...LEAVES, scans: [scanOf(5)] });
    expect(tail.clumping_check?.leaf_area_half_edges).toBeCloseTo(HALF, 9);
    expect(tail.warnings.join()).not.toMatch(/clumps/);
  });

  test("the same in a turned, raised grid with a dropped column", async () => {
    const grid = { center: [0, 0.5, -0.3], size: [1, 2, 1], nx: 1, ny: 2, nz: 1, rotation: 0 };
    const raised = { ...grid, column_offsets: [0.3, 0.3], kept_columns: [true, false] };
    const tail = await compute({ ...LEAVES, scans: [scanOf(7)], grid: raised });
    const plain = await compute({ ...LEAVES, scans: [scanOf(7)], grid: { ...UNIT_GRID } });
    expect(tail.clumping_check?.voxel_count).toBe(1);
    expect(tail.clumping_check?.leaf_area_half_edges).toBeCloseTo(plain.clumping_check?.leaf_area_half_edges ?? 0, 9);
    const turned = await compute({ ...LEAVES, scans: [scanOf(7)], grid: { ...UNIT_GRID, rotation: 90 } });
    expect(turned.clumping_check?.leaf_area_half_edges).toBeCloseTo(plain.clumping_check?.leaf_area_half_edges ?? 0, 9);
  });

  test("are told in grids of any size, some layers at a time", async () => {
    // 262,144 voxels have more eighths than are traced at a time.
    const big = { center: [0, 0, 0], size: [16, 16, 16], nx: 64, ny: 64, nz: 64 };
    const scan = parallelBeams(4, 160, (i, _, z) => (i % 10 < (Math.floor(8 * z) % 2 === 0 ? 7 : 3) ? 0.1 : null));
    const rest = { ...LEAVES, scans: [scan] };
    const tail = await compute({ ...rest, grid: big });
    // Above and below the middle, as wide as the beams.
    const parts = await Promise.all(
      [-1, 1].map((z) => compute({ ...rest, grid: { center: [0, 0, z], size: [16, 4, 2], nx: 64, ny: 16, nz: 8 } })),
    );
    const sum = parts.reduce((all, { clumping_check }) => all + (clumping_check?.leaf_area_half_edges ?? 0), 0);
    expect(tail.clumping_check?.leaf_area_half_edges).toBeCloseTo(sum, 6);
    const counts = parts.map(({ clumping_check }) => clumping_check?.voxel_count ?? 0);
    expect(Math.min(...counts)).toBeGreaterThan(1000);
    expect(tail.clumping_check?.voxel_count).toBe(counts.reduce((all, count) => all + count, 0));
  });

  test("beside what leaves of their width at random places would give", async () => {
    const tail = await compute({ element_width: 0.3, scans: [scanOf(7)] });
    const { leaf_area = 1, leaf_area_half_edges = 0, expected_rise = 0 } = tail.clumping_check ?? {};
    expect(expected_rise).toBeCloseTo(1.0686 / 1.0197, 2); // numpy: discs drawn in and around cubes
    const percent = (100 * (leaf_area_half_edges / leaf_area / expected_rise - 1)).toFixed(0);
    expect(tail.warnings.join()).toContain(
      `${percent} % more leaf area than leaves of 0.3 m (element_width) at random`,
    );
    const points = await compute({ element_width: 0, scans: [scanOf(7)] });
    expect(points.clumping_check?.expected_rise).toBe(1);
  });

  test("not where it is not asked for, nor where leaves are too large for such voxels, which is told", async () => {
    expect((await compute({ ...LEAVES, check_clumping: false })).clumping_check).toBeNull();
    const large = await compute({ element_width: 0.51, scans: [scanOf(7)] });
    expect(large.clumping_check).toBeNull();
    expect(large.warnings.join()).toMatch(
      /clumps.* was not checked: leaves of 0.51 m .* voxels of 1 m\. .* voxels of 1 m and more/,
    );
    expect((await compute({ element_width: 0.5 })).clumping_check).not.toBeNull();
    const flat = await compute({ element_width: 0.2, grid: { ...UNIT_GRID, nz: 4 } });
    expect(flat.warnings.join()).toMatch(/wider than halves of voxels of 0.25 m\. .* voxels of 0.4 m and more/);
    expect((await compute({ ...LEAVES, check_clumping: false })).warnings.join()).not.toMatch(/clumps/);
  });
});
