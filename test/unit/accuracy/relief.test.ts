import { expect, test } from "vitest";
import { relief } from "../../accuracy/relief.ts";
import { pointAt } from "../../accuracy/vector.ts";

test("the relief is the same every time and its ground points lie on its height", () => {
  const one = relief(3, 1);
  const two = relief(3, 1);
  expect(Buffer.from(one.xyz.buffer).equals(Buffer.from(two.xyz.buffer))).toBe(true);
  let furthest = 0;
  for (let i = 0; i < one.truth.length; i += 1) {
    if (one.truth[i] !== 1) continue;
    const [x, y, z] = pointAt(one.xyz, i);
    furthest = Math.max(furthest, Math.abs(z - one.height(x, y)));
  }
  expect(furthest).toBeGreaterThan(0.04); // range noise of 2 cm
  expect(furthest).toBeLessThan(0.12);
});
