import { describe, expect, test } from "vitest";
import type { InlineScan } from "../support/lad/beams.ts";
import { ladCalls } from "../support/lad/calls.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute } = ladCalls(made);

const [HALF, STEP] = [3, 0.1];
/** Ground of 6 x 6 m that rises by a fifth along x. */
const ground = (x: number) => -1 + 0.2 * x;

interface Field {
  /** Whether a beam ends half-way, on a leaf. */
  readonly leaf?: (i: number) => boolean;
  /** How far behind the ground a hit lies, as a share of its range. */
  readonly noise?: (i: number) => number;
  /** Beams that go on through the ground. */
  readonly passes?: (i: number) => boolean;
}

/** Beams from 1.5 m above the middle of the ground to all of it. */
function field({ leaf = (i) => i % 4 === 0, noise = () => 0, passes = () => false }: Field = {}): InlineScan {
  const points: [number, number, number][] = [];
  const is_miss: number[] = [];
  const count = Math.round((2 * HALF) / STEP);
  for (let i = 0; i < count * count; i += 1) {
    const x = -HALF + STEP * ((i % count) + 0.5);
    const y = -HALF + STEP * (Math.floor(i / count) + 0.5);
    const share = leaf(i) ? 0.5 : passes(i) ? 100 : 1 + noise(i);
    points.push([share * x, share * y, 0.5 + share * (ground(x) - 0.5)]);
    is_miss.push(passes(i) && !leaf(i) ? 1 : 0);
  }
  points.push([0, 0, 100]);
  is_miss.push(1);
  return { origin: [0, 0, 0.5], points, scalar_columns: { is_miss } };
}

/** From 2 m below the scanner to its height: the ground lies in the voxels. */
const LEVEL = { center: [0, 0, -0.5], size: [4, 4, 2], nx: 4, ny: 4, nz: 4 };
const cells = Array.from({ length: 24 * 24 }, (_, c) => ground(-HALF + 0.25 * ((c % 24) + 0.5)));
const dem = { grid_z: cells, nx: 24, ny: 24, cell: 0.25, origin: [-HALF, -HALF] };
const TOLD = /nothing passes the lowest voxel that beams reach, as at the ground/;

describe("ground in the voxels", () => {
  test("is told with the leaf area of the voxels that it lies in", async () => {
    const { opaque_floor, warnings, cells: voxels } = await compute({ scans: [field()], grid: LEVEL });
    expect(opaque_floor).toMatchObject({ column_count: 16, column_share: 1 });
    const lowest = new Map<number, number>();
    for (const { index, beam_count, leaf_area } of voxels)
      if ((beam_count ?? 0) > 0 && !lowest.has(index % 16)) lowest.set(index % 16, leaf_area);
    expect(opaque_floor.leaf_area).toBeCloseTo(
      [...lowest.values()].reduce((sum, area) => sum + area, 0),
      9,
    );
    expect(warnings.join()).toMatch(TOLD);
    expect(warnings.join()).toMatch(/In 16 of 16 columns with hits .*terrain_follow/);
  });

  test("is told where all voxels are occluded, without a share of nothing", async () => {
    const few = await compute({ scans: [field()], grid: LEVEL, occlusion_threshold_m: 1e6 });
    expect(few.total_leaf_area).toBe(0);
    expect(few.warnings.find((one) => TOLD.test(one))).toMatch(
      /leaves\. All voxels are occluded, so total_leaf_area is 0\. Raise/,
    );
  });

  test("is not, where the columns are raised onto it or begin above it", async () => {
    const raised = { ...LEVEL, center: [0, 0, 0], size: [4, 4, 1], nz: 2 };
    const follows = await compute({ scans: [field()], grid: raised, terrain_follow: true, dem });
    expect(follows.opaque_floor).toEqual({ column_count: 0, column_share: 0, leaf_area: 0 });
    expect(follows.warnings.join()).not.toMatch(TOLD);
    const above = { ...LEVEL, center: [0, 0, 0], size: [4, 4, 0.8], nz: 2 };
    expect((await compute({ scans: [field()], grid: above })).opaque_floor.column_count).toBe(0);
  });

  test("is told where noise puts a few hits below it, and not where beams pass", async () => {
    const noisy = field({ noise: (i) => (i % 197 === 0 ? 0.4 : 0) });
    const few = await compute({ scans: [noisy], grid: LEVEL });
    expect(few.opaque_floor.column_count).toBeGreaterThan(8);
    const thin = field({ passes: (i) => i % 3 === 1 });
    const passed = await compute({ scans: [thin], grid: LEVEL });
    expect(passed.opaque_floor.column_count).toBe(0);
  });

  test("is not told where a scan ends: no beam would go on there", async () => {
    expect((await compute()).opaque_floor).toEqual({ column_count: 0, column_share: 0, leaf_area: 0 });
    const lower = { center: [0, 0, -0.5], size: [1, 1, 2], nx: 1, ny: 1, nz: 2 };
    expect((await compute({ grid: lower })).opaque_floor.column_count).toBe(0);
  });
});
