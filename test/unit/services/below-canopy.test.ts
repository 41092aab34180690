import { expect, test } from "vitest";
import { belowCanopyWarnings, isSurface, seenShare } from "../../../backend/services/terrain/below-canopy.ts";

const found = (cells: number, closed: number, seen: number) => ({ cell: 0.5, cells, closed, seen });

test("the share that was seen needs 100 cells, and a twentieth of all", () => {
  expect(seenShare(found(1000, 200, 50))).toBe(0.25);
  expect(seenShare(found(1000, 99, 0))).toBeNull();
  expect(seenShare(found(10_000, 499, 0))).toBeNull();
  expect(seenShare(found(0, 0, 0))).toBeNull();
});

test("a surface is one of which less than a fifth was seen", () => {
  expect([199, 200].map((seen) => isSurface(found(2000, 1000, seen)))).toEqual([true, false]);
  expect(isSurface(found(1000, 0, 0))).toBe(false);
  expect(belowCanopyWarnings(found(2000, 1000, 20))).toEqual([
    expect.stringMatching(/^Closed canopy covers 50 % of the area, and in 2 % of it a point lies below it/),
  ]);
  expect(belowCanopyWarnings(found(2000, 1000, 900))).toEqual([]);
  expect(belowCanopyWarnings(null)).toEqual([]);
});
