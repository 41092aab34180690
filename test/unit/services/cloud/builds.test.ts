import { expect, test } from "vitest";
import { buildThreads, poolOf, rowsAtATime } from "../../../../backend/services/cloud/builds.ts";

test.each([1, 2, 3, 4, 7, 8, 9, 15, 16, 23, 64])(
  "small builds use all of %i cores and less than twice as many threads",
  (cores) => {
    const threads = buildThreads(1, 1e6, cores);
    const busy = poolOf(cores) * threads;
    expect(busy).toBeGreaterThanOrEqual(cores);
    expect(busy).toBeLessThan(cores + poolOf(cores) + 1);
  },
);

test("a child with a large share gets all cores", () => {
  expect(buildThreads(1000, 1000, 2)).toBe(0);
  expect(buildThreads(334, 1000, 2)).toBe(0);
  expect(buildThreads(333, 1000, 2)).toBe(1);
  expect(buildThreads(0, 0, 2)).toBe(1);
});

test("rows in memory: the largest concurrent children, each with every miss", () => {
  expect(rowsAtATime([5, 900, 1, 7, 3], 0, true, 3)).toBe(912);
  expect(rowsAtATime([5, 900, 1, 7, 3], 10, true, 3)).toBe(942);
  expect(rowsAtATime([5, 900], 10, true, 3)).toBe(925);
  expect(rowsAtATime([5, 900, 1, 7, 3], 10, false, 3)).toBe(966);
  expect(rowsAtATime([], 10, true)).toBe(0);
});
