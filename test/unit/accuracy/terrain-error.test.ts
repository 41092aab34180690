import { describe, expect, test } from "vitest";
import { dtmErrors, planesRmse, shareAbove } from "../../accuracy/terrain-error.ts";

describe("the terrain of points on a plane is that plane, and a constant offset is its error:", () => {
  const xyz: number[] = [];
  const add = (x: number, y: number, above: number) => xyz.push(x, y, 0.3 * x + 2 + above);
  for (let i = 0; i < 1600; i += 1) add(0.5 * (i % 40) + 0.25, 0.5 * Math.floor(i / 40) + 0.25, 0);
  for (let i = 0; i < 40; i += 1) add(0.5 * i + 0.25, 7.25, -3); // strays below
  const labels = new Uint8Array(1640).fill(1).fill(2, 1600);
  const cloud = { xyz: Float64Array.from(xyz), side: 20, height: (x: number) => 0.3 * x + 2 };
  const lower = { ...cloud, height: (x: number) => 0.3 * x + 1.75 };

  test("planes", () => {
    expect(planesRmse(cloud, labels)).toBeLessThan(1e-9);
    expect(planesRmse(lower, labels)).toBeCloseTo(0.25, 6);
  });
  test("the DTM of the service", async () => {
    expect((await dtmErrors(cloud, labels)).rmse).toBeLessThan(1e-9);
    expect((await dtmErrors(lower, labels)).rmse).toBeCloseTo(0.25, 6);
    expect((await dtmErrors(lower, labels)).bias).toBeCloseTo(0.25, 6);
    expect((await dtmErrors({ ...cloud, height: (x: number) => 0.3 * x + 2.25 }, labels)).bias).toBeCloseTo(-0.25, 6);
    const moved = {
      ...cloud,
      xyz: cloud.xyz.map((value, i) => (i % 3 === 0 ? value + 0.2 : i % 3 === 2 ? value + 0.06 : value)),
    };
    expect((await dtmErrors(moved, labels, false)).rmse).toBeCloseTo(0.06, 6);
    expect((await dtmErrors(moved, labels)).rmse).toBeLessThan(0.01); // the rim of the grid alone
    expect((await dtmErrors(cloud, labels.fill(1))).rmse).toBeGreaterThan(0.01); // the strays are in it
  });
  test("the share of labels above", () => {
    const labels = Uint8Array.from({ length: 1640 }, (_, i) => (i < 800 || i >= 1600 ? 1 : 2));
    expect(shareAbove(lower, labels, 0.2)).toBeCloseTo(800 / 840, 12);
    expect(shareAbove(lower, labels, 0.3)).toBe(0);
  });
});
