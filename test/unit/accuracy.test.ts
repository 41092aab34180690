import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Scores {
  confusion(truth: Uint8Array, labels: Uint8Array): Record<string, number>;
  scores(counts: Record<string, number>): Record<string, number>;
  terrainRmse(
    cloud: { xyz: Float64Array; side: number; height: (x: number, y: number) => number },
    labels: Uint8Array,
    cell?: number,
  ): number;
}
interface Relief {
  relief(
    seed: number,
    rough: number,
  ): { xyz: Float64Array; truth: Uint8Array; side: number; height: (x: number, y: number) => number };
}

const path = (name: string) => fileURLToPath(new URL(`../../accuracy/${name}`, import.meta.url));
const { confusion, scores, terrainRmse } = (await import(path("scores.mjs"))) as Scores;
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

test("a terrain from points on a plane is that plane, and a constant offset is its error", () => {
  const xyz: number[] = [];
  for (let i = 0; i < 400; i += 1) xyz.push(i % 20, Math.floor(i / 20), 0.3 * (i % 20) + 2);
  const cloud = { xyz: Float64Array.from(xyz), side: 20, height: (x: number) => 0.3 * x + 2 };
  const all = new Uint8Array(400).fill(1);
  expect(terrainRmse(cloud, all)).toBeLessThan(1e-9);
  expect(terrainRmse({ ...cloud, height: (x: number) => 0.3 * x + 1.75 }, all)).toBeCloseTo(0.25, 6);
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
