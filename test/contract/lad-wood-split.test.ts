import { describe, expect, test } from "vitest";
import { parallelBeams, scanRows, UNIT_GRID } from "../support/lad/beams.ts";
import { HALF, ladCalls, PLANT_AREA } from "../support/lad/calls.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute, failure, refusedWith, run } = ladCalls(made);

/** Half of 400 beams end in a voxel of 1 m; `label` says what of the 200 hits is wood (1) and leaf (2). */
function labelled(label: (hit: number) => number) {
  const scan = parallelBeams(1, 20, (i) => (i % 2 === 0 ? 0.25 : null));
  const wood_class = scan.points.map((_, i) => (i % 2 === 0 ? label(i / 2) : 0));
  return { ...scan, scalar_columns: { ...scan.scalar_columns, wood_class } };
}
const QUARTER = labelled((hit) => (hit % 4 === 0 ? 1 : 2));
const split = (more: object = {}) => ({ scans: [QUARTER], wood_split: {}, ...more });
/** Interception rate where half of the beams are intercepted on 1 m. */
const RATE = HALF * 0.5;

describe("wood and leaves apart", () => {
  test("that all counts as leaves is told, where there are hits", async () => {
    const told = async (more: object) => (await run(more)).tail.warnings.filter((one) => PLANT_AREA.test(one)).length;
    expect(await told({})).toBe(1);
    expect(await told(split())).toBe(0);
    expect(await told({ scans: [parallelBeams(1, 20, () => null)] })).toBe(0);
  });

  test("by the shares of their hits", async () => {
    const tail = await compute(split());
    expect(tail).toMatchObject({
      has_wood_classification: true,
      wood_gtheta: 0.25,
      wood_gtheta_source: "default",
      wood_axis_triangles: 0,
      warnings: ["Scan 1 has no time stamps."],
    });
    const [cell] = tail.cells;
    expect(cell).toMatchObject({ wood_hit_count: 50, leaf_hit_count: 150, wood_fraction: 0.25, wood_gtheta: 0.25 });
    expect(cell?.lad).toBeCloseTo(0.75 * HALF, 9);
    expect(cell?.wad).toBeCloseTo((0.25 * RATE) / 0.25, 9);
    expect(cell?.pad).toBeCloseTo((cell?.lad ?? 0) + (cell?.wad ?? 0), 12);
    expect(tail.total_leaf_area).toBeCloseTo(0.75 * HALF, 9);
    expect(tail.total_wood_area).toBeCloseTo(cell?.wood_area ?? 0, 12);
    const whole = (await compute({ element_width: 0 })).cells[0];
    const variance = 0.75 ** 2 * (whole?.lad_variance ?? 0) + HALF ** 2 * ((0.25 * 0.75) / 200);
    expect((await compute(split({ element_width: 0 }))).cells[0]?.lad_variance).toBeCloseTo(variance, 9);
  });

  test("without it nothing changes", async () => {
    const [plain, given] = [await compute(), await compute({ scans: [QUARTER] })];
    expect(given.cells).toEqual(plain.cells);
    expect(given).toMatchObject({ has_wood_classification: false, total_wood_area: null, wood_gtheta: null });
    expect(given.cells[0]).not.toHaveProperty("wad");
  });

  test("a voxel of wood alone needs no G of leaves", async () => {
    const tail = await compute(split({ scans: [labelled(() => 1)], gtheta: 0.9 }));
    expect(tail.cells[0]).toMatchObject({ lad: 0, lad_solved: true, wood_fraction: 1 });
    expect(tail.cells[0]?.wad).toBeCloseTo(RATE / 0.25, 9);
  });

  test("hits without a label count for neither and are told", async () => {
    const tail = await compute(split({ scans: [labelled((hit) => [1, 2, 2, 5][hit % 4] ?? 0)] }));
    expect(tail.cells[0]).toMatchObject({ wood_hit_count: 50, leaf_hit_count: 100 });
    expect(tail.cells[0]?.wood_fraction).toBeCloseTo(1 / 3, 12);
    expect(tail.warnings[0]).toEqual(expect.stringMatching(/50 of 200 hits in the grid have neither a label/));
    const none = await compute(split({ scans: [labelled(() => 7)] }));
    expect(none.cells[0]).toMatchObject({ wood_fraction: null, wad: 0 });
    expect(none.cells[0]?.lad).toBeCloseTo(HALF, 9);
  });

  test("a column and values of one's own, of a session and a file", async () => {
    const scan = parallelBeams(1, 20, (i) => (i % 2 === 0 ? 0.25 : null));
    const part = scan.points.map((_, i) => (i % 8 === 0 ? 7 : 9));
    const rows = scanRows({ ...scan, scalar_columns: { ...scan.scalar_columns, part } });
    const wood_split = { slug: "part", wood_values: [7], leaf_values: [8, 9] };
    const { session_id } = await cloud(made, rows);
    const path = made.file("parts.txt", `${rows.join("\n")}\n`);
    for (const source of [{ session_id }, { file_path: path, allow_file_source: true }]) {
      const tail = await compute({ scans: [{ ...source, origin: [-10, 0, 0] }], wood_split });
      expect(tail.cells[0]).toMatchObject({ wood_hit_count: 50, leaf_hit_count: 150 });
      expect(tail.cells[0]?.lad).toBeCloseTo(0.75 * HALF, 5);
    }
  });

  test("G of own triangles is that of leaves", async () => {
    // Leaves face the beams; wood is a plane that they graze.
    const scan = parallelBeams(1, 40, (i, y) => (i % 40 < 30 ? 0.1 : i % 40 < 36 ? 2 * (y - 0.3) : null));
    const wood_class = scan.points.map(([x]) => (x === 0.1 ? 2 : x < 1 ? 1 : 0));
    const origin: [number, number, number] = [-10, 0, 0];
    const { is_miss = [] } = scan.scalar_columns;
    const scans = [{ origin, points: scan.points, scalar_columns: { is_miss, wood_class } }];
    const own = { scans, gtheta_override: false, lmax: 0.2, max_aspect_ratio: 10 };
    const [apart, together] = [await compute({ ...own, wood_split: {} }), await compute(own)];
    expect(apart.cells[0]?.gtheta).toBeCloseTo(1, 2);
    expect(together.cells[0]?.gtheta).toBeLessThan(0.97);
  });

  test("refusals", async () => {
    expect(await failure({ wood_split: {} })).toMatchObject({
      error: expect.stringMatching(/needs the column wood_class, and no scan has it/),
    });
    expect(await refusedWith(split({ wood_split: { wood_values: [1, 2] } }))).toEqual([
      400,
      expect.stringMatching(/2 is a label of wood and of leaves/),
    ]);
    expect((await refusedWith(split({ wood_split: { wood_values: [] } })))[0]).toBe(422);
    const two = await compute({
      grid: UNIT_GRID,
      scans: [QUARTER, { ...QUARTER, scalar_columns: { ...QUARTER.scalar_columns, wood_class: null } }],
      wood_split: {},
    });
    expect(two.warnings.join()).toMatch(/Scan 2 without the column wood_class/);
  });
});
