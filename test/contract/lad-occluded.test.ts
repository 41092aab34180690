import { describe, expect, test } from "vitest";
import { parallelBeams } from "../support/lad/beams.ts";
import { HALF, ladCalls } from "../support/lad/calls.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute } = ladCalls(made);

/** Ten voxels side by side; in the last `dense` of them three of four beams end, in the others one of eight. */
const ROW = { center: [0, 0, 0], size: [1, 10, 1], nx: 1, ny: 10, nz: 1 };
const row = (dense: number) => {
  const scan = parallelBeams(10, 200, (i, y) => (i % 8 < (y > 5 - dense ? 6 : 1) ? 0.25 : null));
  // One of nineteen beams reaches the dense ones.
  const keep = scan.points.map(([, y, z], i) => Math.abs(z) < 0.5 && (y < 5 - dense || Math.floor(i / 8) % 19 === 0));
  const kept = Object.entries(scan.scalar_columns).map(([name, all]) => [name, all.filter((_, i) => keep[i])]);
  return { ...scan, points: scan.points.filter((_, i) => keep[i]), scalar_columns: Object.fromEntries(kept) };
};
const request = (dense: number, more: object = {}) => ({
  scans: [row(dense)],
  grid: ROW,
  occlusion_threshold_m: 100,
  ...more,
});

describe("leaf area of occluded voxels", () => {
  test("is what their few beams say, outside of the total, with a warning", async () => {
    const tail = await compute(request(2));
    const dark = tail.cells.filter(({ under_sampled }) => under_sampled);
    expect(dark).toHaveLength(2);
    expect(tail.occluded_leaf_area).toBeCloseTo(
      dark.reduce((sum, { leaf_area }) => sum + leaf_area, 0),
      9,
    );
    expect(tail.occluded_leaf_area).toBeCloseTo((2 * Math.log(4)) / 0.5, 0);
    expect(tail.total_leaf_area).toBeCloseTo((8 * Math.log(8 / 7)) / 0.5, 1);
    expect(tail.warnings.join()).toMatch(/not part of total_leaf_area, 2\.\d+ m2: .* they hold [\d.]+ m2 besides/);
  });

  test("is nothing without occluded voxels, or of voxels with fewer beams than asked for", async () => {
    expect((await compute()).occluded_leaf_area).toBe(0);
    const few = await compute(request(2, { min_voxel_hits: 100 }));
    expect(few.under_sampled_count).toBe(2);
    expect(few.occluded_leaf_area).toBe(0);
    const all = await compute({ occlusion_threshold_m: 401 });
    expect(all.occluded_leaf_area).toBeCloseTo(HALF, 9);
    expect(all.warnings.join()).toMatch(/total_leaf_area, 0 m2/);
  });

  test("is told where filling finds far less", async () => {
    const { filled_leaf_area, occluded_leaf_area, warnings } = await compute(request(2, { fill_occluded: true }));
    expect(filled_leaf_area).toBeLessThan(0.5 * occluded_leaf_area);
    expect(warnings.join()).toMatch(/Filled voxels hold [\d.]+ m2 .*, but by the few beams that reach them [\d.]+ m2/);
    const alike = await compute({
      ...request(0, { fill_occluded: true }),
      scans: [parallelBeams(10, 200, (i) => (i % 2 === 0 ? 0.25 : null))],
      grid: { center: [0, 0.25, 0], size: [1, 10, 1], nx: 1, ny: 10, nz: 1 },
      occlusion_threshold_m: 300,
    });
    expect(alike.occluded_leaf_area).toBeGreaterThan(0);
    expect(alike.warnings.join()).not.toMatch(/Filled voxels hold/);
  });
});
