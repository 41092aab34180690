import { describe, expect, test } from "vitest";
import type { DemSuccess } from "../../shared/contract/dem.ts";
import { dem, type Point } from "../support/session/dem.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";

/** Surfaces with birds above them and reflections below, and what the answer says of it. */

const made = sessionTest();
const EDGE = 40;
const box = { cell_size: 1, bbox: [0, 0, EDGE, EDGE], auto_segment_ground: false };

/** Cones of 6 m, 8 m apart, on a slope, through which a third of the returns passes. */
function stand(): { points: Point[]; ground: number[] } {
  const next = random(7);
  const points: Point[] = [];
  const ground: number[] = [];
  for (let i = 0; i < 8000; ++i) {
    const [x, y] = [EDGE * next(), EDGE * next()];
    const crown = next() < 1 / 3 ? 0 : Math.max(0, 6 * (1 - Math.hypot((x % 8) - 4, (y % 8) - 4) / 4));
    points.push([x, y, 0.3 * x + crown]);
    ground.push(crown === 0 ? 1 : 0);
  }
  return { points, ground };
}
const birds: Point[] = [
  [10.5, 10.5, 40],
  [30.3, 20.4, 60],
  [30.6, 20.8, 61],
];

async function surface(surface_type: DemSuccess["surface_type"], more: readonly Point[], is_ground = 0) {
  const { points, ground } = stand();
  const body = { points: [...points, ...more], ground_labels: [...ground, ...more.map(() => is_ground)] };
  const { meta, f32 } = await dem(made, "/api/dem", { ...box, ...body, surface_type });
  return {
    lone: meta.lone_returns,
    told: (meta.warnings ?? []).filter((text) => text.includes("lone_returns")),
    z: f32("grid_z"),
  };
}
/** Cells that differ by more than 1 m, and by how much at most. */
function difference(a: readonly number[], b: readonly number[]) {
  const changes = a.map((z, c) => Math.abs(z - (b[c] ?? 0))).filter(Number.isFinite);
  return { n_cells: changes.filter((change) => change > 1).length, max_m: Math.max(...changes) };
}

describe.each(["dsm", "chm"] as const)("%s", (type) => {
  test("follows birds, and tells by how much", async () => {
    const [clean, with_birds] = [await surface(type, []), await surface(type, birds)];
    expect(clean.lone).toBeNull();
    expect(clean.told).toEqual([]);
    const { n_cells, max_m } = difference(with_birds.z, clean.z);
    expect(n_cells).toBeGreaterThanOrEqual(2);
    expect(max_m).toBeGreaterThan(40);
    expect(with_birds.lone).toEqual({ n_points: 3, n_cells, max_m: expect.closeTo(max_m, 4), max_at: [30.5, 20.5] });
    expect(with_birds.told).toEqual([expect.stringContaining(`up to ${max_m.toFixed(1)} m (at x 30.5, y 20.5)`)]);
    expect(with_birds.told[0]).toContain(`${n_cells} of 1600 cells`);
    expect(with_birds.told[0]).toContain("3 returns that stand alone");
  });

  test("does not tell of one that changes nothing", async () => {
    const crowd: Point[] = Array.from({ length: 60 }, (_, i) => [10.1 + 0.01 * i, 10.4, 3]);
    const z = await surface(type, [...crowd, [10.5, 10.5, 40]]); // the 95th percentile of its cell is that of the crowd
    expect(z.lone).toBeNull();
    expect(z.told).toEqual([]);
  });
});

test("terrain: ground labels of reflections from below", async () => {
  const low: Point[] = [[20.5, 10.5, -9]];
  const [clean, lower] = [await surface("dtm", []), await surface("dtm", low, 1)];
  expect(clean.lone).toBeNull();
  const { n_cells, max_m } = difference(lower.z, clean.z);
  expect(max_m).toBeGreaterThan(10);
  expect(lower.lone).toEqual({ n_points: 1, n_cells, max_m: expect.closeTo(max_m, 4), max_at: [20.5, 10.5] });
  expect(lower.told).toEqual([expect.stringContaining("multiple reflections")]);
  expect((await surface("dtm", low, 0)).lone).toBeNull(); // not of the ground
});
