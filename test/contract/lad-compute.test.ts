import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { run } from "../support/app/app.ts";
import { openRun } from "../support/app/live-run.ts";
import { halfIntercepted, parallelBeams, scanRows, UNIT_GRID } from "../support/lad/beams.ts";
import { HALF, LAD_URL, ladCalls, ladRequest, PLANT_AREA } from "../support/lad/calls.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const { run: ladRun, compute, failure, refusedWith } = ladCalls(made);

describe("one voxel", () => {
  test("every field of the answer", async () => {
    const { stages, tail } = await ladRun({ element_width: 0 });
    const [cell] = tail.cells;
    expect(tail.cells).toHaveLength(1);
    expect(cell).toMatchObject({
      index: 0,
      center: [0, 0, 0],
      size: [1, 1, 1],
      gtheta: 0.5,
      hit_count: 200,
      beam_count: 400,
      relative_density_index: 0.5,
      under_sampled: false,
      lad_filled: false,
      lad_solved: true,
      ci_valid: true,
    });
    const std = Math.sqrt(0.25 / 400) / (0.5 * 0.5);
    expect(cell?.lad).toBeCloseTo(HALF, 9);
    expect(cell?.leaf_area).toBeCloseTo(HALF, 9);
    expect(cell?.mean_path_length).toBeCloseTo(1, 12);
    expect(cell?.path_length_total).toBeCloseTo(400, 9);
    expect(cell?.lad_std).toBeCloseTo(std, 9);
    expect(cell?.lad_variance).toBeCloseTo(std * std, 9);
    expect(cell?.leaf_area_ci_lower).toBeCloseTo(HALF - 1.96 * std, 9);
    expect(cell?.leaf_area_ci_upper).toBeCloseTo(HALF + 1.96 * std, 9);
    expect(tail).toMatchObject({
      success: true,
      error: null,
      nx: 1,
      ny: 1,
      nz: 1,
      grid_center: [0, 0, 0],
      grid_size: [1, 1, 1],
      grid_rotation: 0,
      bounds: [
        [-0.5, -0.5, -0.5],
        [0.5, 0.5, 0.5],
      ],
      terrain_follow: false,
      dropped_columns: 0,
      is_multi_return: false,
      return_mode: "single",
      element_width: 0,
      gtheta_profile: [0.5],
      occlusion_threshold_m: 1,
      under_sampled_count: 0,
      filled_count: 0,
      occluded_by_layer: [0],
      filled_leaf_area: 0,
      fill_method_used: null,
      group_ci_valid: true,
      confidence_level: 0.95,
      crs_epsg: null,
    });
    expect(tail.total_leaf_area).toBeCloseTo(HALF, 9);
    expect(tail.group_lad_mean).toBeCloseTo(HALF, 9);
    expect(tail.group_lad_ci_upper).toBeCloseTo(HALF + 1.96 * std, 9);
    expect(tail.warnings).toEqual([expect.stringMatching(PLANT_AREA), "Scan 1 has no time stamps."]);
    const labels = stages.map(([progress, message]) => `${progress} ${message}`);
    expect(labels).toEqual(
      expect.arrayContaining(["0.05 Reading scans", "0.05 Reading scan 1 of 1", "0.45 Building voxel grid"]),
    );
    expect(labels).toEqual(expect.arrayContaining(["0.8 Inverting Beer's law", "0.92 Collecting voxel results"]));
    expect(labels.at(-1)).toBe("1 Done");
  });

  test("defaults: five beams and 100 mean edges of path, both told", async () => {
    const tail = await compute({ min_voxel_hits: null, occlusion_threshold_m: null });
    expect(tail.occlusion_threshold_m).toBe(100);
    expect(tail.cells[0]?.under_sampled).toBe(false);
    expect(tail.warnings).toContain("min_voxel_hits was not given: voxels need 5 beams.");
    const occluded = await compute({ occlusion_threshold_m: 401 });
    expect(occluded).toMatchObject({ under_sampled_count: 1, occluded_by_layer: [1], total_leaf_area: 0 });
    expect(occluded.group_ci_valid).toBe(false);
    expect((await compute({ occlusion_threshold_m: 0 })).occlusion_threshold_m).toBe(0); // 0 is a value, not "not given"
    expect(occluded.warnings.join()).toMatch(/1 voxels \(100\.0 %\) are occluded.*less than 401 m of path/);
  });

  test("the width of leaves widens the interval and leaves the value", async () => {
    const [points, leaves] = [await compute({ element_width: 0 }), await compute({ element_width: 0.1 })];
    expect(leaves.cells[0]?.lad).toBe(points.cells[0]?.lad);
    expect(leaves.cells[0]?.lad_std).toBeGreaterThan(points.cells[0]?.lad_std ?? 0);
  });

  test("leaves that are large against a voxel are told", async () => {
    const warned = async (element_width: number) => (await compute({ element_width })).warnings.join();
    expect(await warned(0.35)).not.toMatch(/are large/); // pi w^2 / 8 = .048
    expect(await warned(0.36)).toMatch(/Leaves of 0.36 m are large against voxels of 1 m/);
    expect(await warned(0)).not.toMatch(/are large/);
  });

  test("a scan of several returns per pulse: each return has the same weight", async () => {
    const one = parallelBeams(1, 20, () => 0.25);
    const points = one.points.flatMap(([, y, z], i): [number, number, number][] =>
      i % 2 === 0
        ? [[0.25, y, z]]
        : [
            [0.25, y, z],
            [900, y, z],
          ],
    );
    const pulse = one.points.flatMap((_, i) => (i % 2 === 0 ? [i] : [i, i]));
    const of = (name: string) => pulse.map((i) => one.scalar_columns[name]?.[i] ?? Number.NaN);
    const columns = {
      timestamp: pulse,
      is_miss: points.map(([x]) => (x > 100 ? 1 : 0)),
      target_index: points.map(([x]) => (x > 100 ? 99 : 0)),
      target_count: pulse.map((i) => 1 + (i % 2)),
      origin_x: of("origin_x"),
      origin_y: of("origin_y"),
      origin_z: of("origin_z"),
    };
    const scan = { origin: one.origin, points, scalar_columns: columns, return_type: "multi" };
    const tail = await compute({ scans: [scan] });
    expect(tail).toMatchObject({ is_multi_return: true, return_mode: "multi", return_weights: "equal" });
    expect(tail.warnings).toEqual([expect.stringMatching(/^The returns of a pulse count alike/)]);
    expect(tail.cells[0]).toMatchObject({ beam_count: 400, hit_count: 400, relative_density_index: 0.75 });
    const { target_count, ...lacking } = columns;
    expect(target_count).toHaveLength(600);
    const single = await compute({ scans: [{ ...scan, scalar_columns: lacking, label: "north" }] });
    expect(single).toMatchObject({ is_multi_return: true, return_mode: "single" });
    expect(single.cells[0]?.beam_count).toBe(600);
    expect(single.warnings).toEqual([expect.stringMatching(/^Scan "north" is declared.*lacks target_count/)]);
    const rounded = { ...columns, timestamp: pulse.map((i) => Math.floor(i / 4)) };
    const apart = await compute({ scans: [{ ...scan, scalar_columns: rounded }] });
    expect(apart.return_mode).toBe("single");
    expect(apart.warnings.join()).toMatch(/they look rounded/);
  });
});

describe("grid", () => {
  test("cells in order i, j, k; centres with the offsets of their columns; dropped columns are left out", async () => {
    const scan = parallelBeams(4, 40, (i) => (i % 2 === 0 ? 0.25 : null));
    const grid = { center: [10, 20, 30], size: [4, 2, 2], nx: 2, ny: 2, nz: 2 };
    const moved = {
      ...scan,
      points: scan.points.map(([x, y, z]) => [x + 10, y + 20, z + 30]),
      scalar_columns: {
        ...scan.scalar_columns,
        origin_x: scan.scalar_columns.origin_x?.map((x) => x + 10),
        origin_y: scan.scalar_columns.origin_y?.map((y) => y + 20),
        origin_z: scan.scalar_columns.origin_z?.map((z) => z + 30),
      },
    };
    const offsets = { column_offsets: [0, 0.5, 0, 0], kept_columns: [true, true, false, true] };
    const tail = await compute({ scans: [moved], grid: { ...grid, ...offsets } });
    expect(tail.cells.map(({ index }) => index)).toEqual([0, 1, 3, 4, 5, 7]);
    expect(tail.cells.map(({ center }) => center)).toEqual([
      [9, 19.5, 29.5],
      [11, 19.5, 30],
      [11, 20.5, 29.5],
      [9, 19.5, 30.5],
      [11, 19.5, 31],
      [11, 20.5, 30.5],
    ]);
    expect(tail).toMatchObject({ terrain_follow: true, dropped_columns: 1 });
    expect(tail.warnings).toContain("1 of 4 columns of the grid are left out.");
    expect(tail.cells[0]?.relative_density_index).toBe(0); // the hits lie in the second column
    expect(tail.cells[1]?.relative_density_index).toBeCloseTo(0.5, 12);
  });

  test("terrain_follow raises the columns like snap-grid", async () => {
    const dem = { grid_z: Array(400).fill(7), nx: 20, ny: 20, cell: 1, origin: [-10, -10] };
    const tail = await compute({ terrain_follow: true, dem });
    expect(tail.cells[0]?.center[2]).toBeCloseTo(7 + 0.1 + 0.5, 12);
    expect(tail.terrain_follow).toBe(true);
    expect(tail.cells[0]?.beam_count).toBe(0);
    expect(tail.warnings.join()).toMatch(/No beam reaches the grid/);
    expect((await compute({ dem })).cells[0]?.center[2]).toBe(0);
    const away = { ...dem, origin: [500, 500] };
    expect((await failure({ terrain_follow: true, dem: away })).error).toMatch(/outside the terrain/);
  });

  test("a rotated grid and beams turned with it", async () => {
    const turn = (x: number, y: number): [number, number] => {
      const angle = (30 * Math.PI) / 180;
      return [Math.cos(angle) * x - Math.sin(angle) * y, Math.sin(angle) * x + Math.cos(angle) * y];
    };
    const scan = parallelBeams(1, 20, (_, y) => (y < 0 ? 0.25 : null));
    const { origin_x = [], origin_y = [] } = scan.scalar_columns;
    const turned = {
      ...scan,
      points: scan.points.map(([x, y, z]) => [...turn(x, y), z]),
      scalar_columns: {
        ...scan.scalar_columns,
        origin_x: origin_x.map((x, i) => turn(x, origin_y[i] ?? 0)[0]),
        origin_y: origin_x.map((x, i) => turn(x, origin_y[i] ?? 0)[1]),
      },
    };
    const tail = await compute({ scans: [turned], grid: { ...UNIT_GRID, ny: 2, rotation: 30 } });
    expect(tail.cells.map(({ hit_count }) => hit_count)).toEqual([200, 0]);
    expect(tail.cells[0]?.center).toEqual([0, -0.25, 0]);
  });

  test("too many voxels are refused with the finest grid that fits", async () => {
    const grid = { ...UNIT_GRID, size: [100, 100, 100], nx: 500, ny: 500, nz: 400 };
    const [status, sentence] = await refusedWith({ grid });
    expect(status).toBe(400);
    expect(sentence).toMatch(/500 x 500 x 400 = 100000000 voxels \(limit 1000000\); 107 x 107 x 86 is the finest/);
  });
});

describe("occluded voxels", () => {
  /** Columns of a field that is smooth in y, of which every fifth voxel gets a single beam. */
  const field = () => {
    const scan = parallelBeams(20, 200, (i, y) => {
      const rate = 0.3 + 0.25 * Math.sin(y / 3);
      return ((i * 7919) % 10_007) / 10_007 < rate ? 0.25 : null;
    });
    const keep = scan.points.map(
      ([, y, z], i) => (Math.floor(y + 10) * 3 + Math.floor(z + 10)) % 5 !== 0 || i % 97 === 0,
    );
    const columns = Object.entries(scan.scalar_columns).map(([name, all]) => [name, all.filter((_, i) => keep[i])]);
    return { ...scan, points: scan.points.filter((_, i) => keep[i]), scalar_columns: Object.fromEntries(columns) };
  };
  const grid = { center: [0, 0, 0], size: [1, 20, 20], nx: 1, ny: 20, nz: 20 };

  test("are filled when asked, outside of the total", async () => {
    const { session_id } = await cloud(made, scanRows(field()));
    const scans = [{ session_id, origin: [-10, 0, 0] }];
    const bare = await compute({ scans, grid, occlusion_threshold_m: 50 });
    const { stages, tail } = await ladRun({ scans, grid, occlusion_threshold_m: 50, fill_occluded: true });
    expect(bare.under_sampled_count).toBeGreaterThan(50);
    expect(bare.fill_method_used).toBeNull();
    expect(tail.fill_method_used).toBe("kriging");
    expect(tail.filled_count).toBe(bare.under_sampled_count);
    expect(tail.total_leaf_area).toBe(bare.total_leaf_area);
    const filled = tail.cells.filter(({ lad_filled }) => lad_filled);
    expect(filled).toHaveLength(tail.filled_count);
    expect(tail.filled_leaf_area).toBeCloseTo(
      filled.reduce((sum, { leaf_area }) => sum + leaf_area, 0),
      9,
    );
    for (const { lad, under_sampled, leaf_area_ci_lower, lad_variance } of filled) {
      expect(lad).toBeGreaterThan(0);
      expect([under_sampled, leaf_area_ci_lower, lad_variance]).toEqual([true, null, null]);
    }
    expect(stages.map(([, label]) => label)).toContain("Filling occluded voxels");
    const none = await compute({ fill_occluded: true });
    expect(none).toMatchObject({ fill_method_used: "none", filled_count: 0 });
  });
});

describe("hostile requests", () => {
  test.each<[string, object, number]>([
    ["no scans", { scans: [] }, 422],
    ["no grid", { grid: null }, 422],
    ["a negative threshold", { occlusion_threshold_m: -1 }, 422],
    ["no beams needed", { min_voxel_hits: 0 }, 422],
    ["voxels without size", { grid: { ...UNIT_GRID, size: [1, 0, 1] } }, 400],
    ["offsets of another length", { grid: { ...UNIT_GRID, column_offsets: [0, 0] } }, 400],
    ["a terrain to follow that is missing", { terrain_follow: true }, 400],
    ["an infinite point", { scans: [{ ...halfIntercepted(), points: [[0, 0, null]] }] }, 422],
  ])("%s: refused", async (_name, change, status) => {
    expect((await refusedWith(change))[0]).toBe(status);
  });

  test("two at once, and beams at 1e7 m", async () => {
    const scan = halfIntercepted();
    const far = {
      ...scan,
      points: scan.points.map(([x, y, z]) => [x + 1e7, y, z]),
      scalar_columns: { ...scan.scalar_columns, origin_x: scan.scalar_columns.origin_x?.map((x) => x + 1e7) },
    };
    const grid = { ...UNIT_GRID, center: [1e7, 0, 0] };
    const [here, there] = await Promise.all([compute(), compute({ scans: [far], grid })]);
    expect(there.cells[0]?.lad).toBeCloseTo(here.cells[0]?.lad ?? 0, 6);
  });
});

test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
  const scan = parallelBeams(1, 300, (i) => (i % 2 === 0 ? 0.25 : null));
  const grid = { ...UNIT_GRID, nx: 300, ny: 50, nz: 50 };
  const before = addon.bulkBytesInUse();
  for (const phase of [undefined, "Summing up voxels"]) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op: "traceBeams", ...(phase ? { phase } : {}) }, stop, async () => {
      const started = await openRun(made.base, LAD_URL, ladRequest({ scans: [scan], grid }));
      return started.outcome;
    });
    expect([phase, reached, value.kind]).toEqual([phase, true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
  expect((await run(made, LAD_URL, ladRequest())).outcome.kind).toBe("json");
});
