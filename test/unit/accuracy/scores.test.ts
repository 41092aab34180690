import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Scores {
  confusion(truth: Uint8Array, labels: Uint8Array): Record<string, number>;
  scores(counts: Record<string, number>): Record<string, number>;
  planesRmse(cloud: Cloud, labels: Uint8Array): number;
  dtmRmse(cloud: Cloud, labels: Uint8Array, native: unknown, at_centers?: boolean): Promise<number>;
}
interface Cloud {
  xyz: Float64Array;
  side: number;
  height: (x: number, y: number) => number;
}
interface Relief {
  relief(
    seed: number,
    rough: number,
  ): { xyz: Float64Array; truth: Uint8Array; side: number; height: (x: number, y: number) => number };
}

const path = (name: string) => fileURLToPath(new URL(`../../../test/accuracy/${name}`, import.meta.url));
const { confusion, dtmRmse, planesRmse, scores } = (await import(path("scores.mjs"))) as Scores;
const { relief } = (await import(path("relief.mjs"))) as Relief;

describe("scores", () => {
  test("of a labelling that is worked out by hand", () => {
    // truth: 4 ground, 4 not, 1 unknown; one ground lost, two objects taken
    const counts = confusion(Uint8Array.of(1, 1, 1, 1, 2, 2, 2, 2, 0), Uint8Array.of(1, 1, 1, 2, 1, 1, 2, 2, 1));
    expect(counts).toEqual({ groundGround: 3, groundPlant: 1, plantGround: 2, plantPlant: 2 });
    expect(scores(counts)).toEqual({
      kappa: 0.25, // (5/8 - 1/2) / (1 - 1/2)
      typeI: 0.25,
      typeII: 0.5,
      total: 0.375,
      precision: 0.6,
      recall: 0.75,
      f1: expect.closeTo(2 / 3, 12),
    });
  });
});

describe("the terrain of points on a plane is that plane, and a constant offset is its error:", async () => {
  const { addon, column, positions, values } = await import(path("native.mjs"));
  const native = { terrainRaster: addon.terrainRaster, column, positions, values };
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
    expect(await dtmRmse(cloud, labels, native)).toBeLessThan(1e-9);
    expect(await dtmRmse(lower, labels, native)).toBeCloseTo(0.25, 6);
    const moved = {
      ...cloud,
      xyz: cloud.xyz.map((value, i) => (i % 3 === 0 ? value + 0.2 : i % 3 === 2 ? value + 0.06 : value)),
    };
    expect(await dtmRmse(moved, labels, native, false)).toBeCloseTo(0.06, 6);
    expect(await dtmRmse(moved, labels, native)).toBeLessThan(0.01); // the rim of the grid alone
    expect(await dtmRmse(cloud, labels.fill(1), native)).toBeGreaterThan(0.01); // the strays are in it
  });
});

test("the relief is the same every time and its ground points lie on its height", () => {
  const one = relief(3, 1);
  const two = relief(3, 1);
  expect(one.xyz).toEqual(two.xyz);
  let furthest = 0;
  for (let i = 0; i < one.truth.length; i += 1) {
    if (one.truth[i] !== 1) continue;
    const [x, y, z] = one.xyz.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number];
    furthest = Math.max(furthest, Math.abs(z - one.height(x, y)));
  }
  expect(furthest).toBeGreaterThan(0.04); // range noise of 2 cm
  expect(furthest).toBeLessThan(0.12);
});
