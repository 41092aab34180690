import { describe, expect, test } from "vitest";
import { ladCalls } from "../support/lad/calls.ts";
import { PLATE_AREA, plateScan } from "../support/lad/plate.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute, failure, refusedWith } = ladCalls(made);

const GRID = { center: [0, 0, 0], size: [1, 1, 1], nx: 1, ny: 1, nz: 2 };
/** A leaf that faces two scanners: its projection is 1. */
const facing = (more: object = {}) => ({
  scans: [plateScan({ x: -2 }), plateScan({ x: 2 })],
  grid: GRID,
  gtheta: 1,
  check_clumping: false,
  capture_recapture: {},
  ...more,
});
const byViews = async (more: object = {}) => {
  const { capture_recapture } = await compute(facing(more));
  if (!capture_recapture) throw new Error("the answer has no leaf area by views");
  return capture_recapture;
};
const split = (scans: object[]) => ({ scans, wood_split: {} });
const hidden = plateScan({ x: -2, hides: (y) => y > 0 });

describe("leaf area by what scanners see", () => {
  test("a leaf that two see has its area", async () => {
    const found = await byViews();
    expect(found.seen_by[1]).toBeCloseTo(PLATE_AREA, 1);
    expect(found.seen_leaf_area).toBeCloseTo((found.seen_by[0] ?? 0) + (found.seen_by[1] ?? 0), 12);
    expect(found).toMatchObject({ leaf_area_ci_lower: null, leaf_area_ci_upper: null, gtheta: [1] });
    expect(found.leaf_area).toBeGreaterThanOrEqual(found.seen_leaf_area);
  });

  test("what wood hides from one of them counts once, and tells what none sees", async () => {
    const { seen_by, leaf_area, seen_leaf_area } = await byViews(split([hidden, plateScan({ x: 2 })]));
    const [once = 0, twice = 0] = seen_by;
    expect(once / (once + twice)).toBeGreaterThan(0.4);
    expect(once / (once + twice)).toBeLessThan(0.6);
    expect(leaf_area).toBeCloseTo(seen_leaf_area + (0.5 * once ** 2) / (2 * twice), 12);
  });

  test("is unknown where no place is seen by two", async () => {
    const all = plateScan({ x: -2, hides: () => true });
    const { capture_recapture, warnings } = await compute(facing(split([all, plateScan({ x: 2 })])));
    expect(capture_recapture?.leaf_area).toBeNull();
    expect(capture_recapture?.seen_by[0]).toBeCloseTo(PLATE_AREA, 1);
    expect(warnings.join()).toMatch(/No place is seen by two scanners/);
  });

  test("an interval with three, and G by layers", async () => {
    const spec = (value: number) => ({ kind: "constant", value });
    const gtheta_spec = { spatial: "profile", profile: [spec(0.5), spec(1)] };
    const scans = [plateScan({ x: -2 }), plateScan({ x: 2 }), plateScan({ x: 2.2 })];
    const found = await byViews({ scans, gtheta_spec });
    expect(found.gtheta).toEqual([0.5, 1]);
    expect(found.seen_by[2]).toBeCloseTo(1.5 * PLATE_AREA, 1);
    expect(found.leaf_area_ci_lower).toBeLessThanOrEqual(found.leaf_area ?? 0);
    expect(found.leaf_area_ci_upper).toBeGreaterThanOrEqual(found.leaf_area ?? 0);
  });

  test("scans that do not fit are told, and have no interval", async () => {
    const towards = (x: number, by: number) => {
      const { origin, points, ...rest } = plateScan({ x });
      const moved = ([px, py, pz]: readonly [number, number, number]): [number, number, number] => [px - by, py, pz];
      return { ...rest, origin: moved(origin as [number, number, number]), points: points.map(moved) };
    };
    const told = (by: number) => compute(facing({ scans: [plateScan({ x: -2 }), towards(2, by), towards(2.2, by)] }));
    const fits = await told(0);
    expect(fits.capture_recapture?.agreement).toBeGreaterThan(0.95);
    expect(fits.capture_recapture?.leaf_area_ci_lower).not.toBeNull();
    expect(fits.warnings.join()).not.toMatch(/same leaves/);
    const beside = await told(0.1); // each scanner sees through the place where the others have the leaf
    expect(beside.capture_recapture).toMatchObject({ leaf_area_ci_lower: null, leaf_area_ci_upper: null });
    expect(beside.capture_recapture?.agreement).toBeLessThan(0.9);
    expect(beside.warnings).toContainEqual(
      expect.stringMatching(/^The scanners do not see the same leaves at the same places \(agreement 0\.\d\d; /),
    );
  });

  test("beams farther apart than half a leaf are told, and leave no interval", async () => {
    const scans = [plateScan({ x: -2 }), plateScan({ x: 2 }), plateScan({ x: 2.2 })];
    const told = (element_width: number) => compute(facing({ scans, element_width }));
    const wide = await told(0.05); // beams are 2 cm apart
    expect(wide.capture_recapture?.spacing).toBeCloseTo(0.0205, 3);
    expect(wide.capture_recapture?.leaf_area_ci_lower).not.toBeNull();
    expect(wide.warnings.join()).not.toMatch(/Beams are/);
    const narrow = await told(0.03);
    expect(narrow.capture_recapture).toMatchObject({ leaf_area_ci_lower: null, leaf_area_ci_upper: null });
    expect(narrow.warnings.join()).toMatch(/Beams are 0\.021 m apart where they meet leaves, which are 0\.03 m wide/);
    expect((await told(0)).warnings.join()).not.toMatch(/Beams are/); // an unknown width
  });

  test("much that no scanner sees is told, and leaves no interval", async () => {
    const half = (x: number) => plateScan({ x, hides: (y) => y > 0 });
    const seen = async (scans: object[]) => compute(facing(split(scans)));
    const little = await seen([plateScan({ x: -2 }), plateScan({ x: 2 }), half(2.2)]);
    expect(little.warnings.join()).not.toMatch(/seen by no scanner/);
    expect(little.capture_recapture?.leaf_area_ci_lower).not.toBeNull();
    const much = await seen([plateScan({ x: -2 }), half(2), plateScan({ x: 2.2, hides: () => true })]);
    expect(much.warnings.join()).toMatch(/At least \d+ % of the leaf area by views is seen by no scanner/);
    expect(much.capture_recapture).toMatchObject({ leaf_area_ci_lower: null, leaf_area_ci_upper: null });
  });

  test("two scans without an interval and an empty grid are told", async () => {
    expect((await compute(facing())).warnings.join()).toMatch(/Two scans give the leaf area by views no interval/);
    const aside = { ...GRID, center: [0, 0.6, 0], size: [1, 0.4, 1] };
    expect((await compute(facing({ grid: aside }))).warnings.join()).toMatch(/No hit on a leaf lies in the grid/);
  });

  test("not where it is not asked for", async () => {
    expect((await compute(facing({ capture_recapture: null }))).capture_recapture).toBeNull();
  });
});

describe("leaf area by what scanners see is refused", () => {
  test.each([
    ["one scan", { scans: [hidden] }, /at least two scans/],
    ["several returns", { scans: [hidden, { ...hidden, return_type: "multi" }] }, /needs return_type single/],
  ])("for %s", async (_, more, message) => {
    const [status, detail] = await refusedWith(facing(more));
    expect(status).toBe(400);
    expect(String(detail)).toMatch(message);
  });

  test("for triangles whose ranges have more noise than beams are apart", async () => {
    const own = { gtheta_override: false, gtheta: null, lmax: 0.1 };
    const beside = { ...own, capture_recapture: { range_noise_m: 0.01 } };
    expect((await compute(facing(beside))).capture_recapture?.gtheta[0]).toBeGreaterThan(0.9);
    const { error } = await failure(facing({ ...own, capture_recapture: { range_noise_m: 0.03 } }));
    expect(error).toMatch(/needs gtheta_override: .*\(0\.03 m\).*\(0\.02 m\)/);
    expect(await byViews({ capture_recapture: { range_noise_m: 0.03 } })).toMatchObject({ gtheta: [1] });
  });

  test("for a scanner that moved", async () => {
    const pose = (t: number) => ({ t, x: t, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 });
    const moving = { ...hidden, trajectory: { poses: [pose(0), pose(1)] } };
    const [, detail] = await refusedWith(facing({ scans: [hidden, moving] }));
    expect(String(detail)).toMatch(/scan 2 has a trajectory/);
    const along = (i: number) => hidden.points.map((_, row) => (i === 0 ? -2 - row * 1e-5 : 0));
    const origins = { origin_x: along(0), origin_y: along(1), origin_z: along(2) };
    const own = { ...hidden, scalar_columns: { ...hidden.scalar_columns, ...origins } };
    expect((await failure(facing({ scans: [hidden, own] }))).error).toMatch(/Scan 2 has several beam origins/);
  });
});
