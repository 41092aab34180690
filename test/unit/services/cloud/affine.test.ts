import { describe, expect, test } from "vitest";
import { apply, composed, linearPart, motionOf } from "../../../../backend/services/cloud/affine.ts";
import type { Triple } from "../../../../backend/sessions/column-names.ts";

const matrix = (linear: readonly number[], [x, y, z]: Triple) => [
  ...linear.slice(0, 3),
  x,
  ...linear.slice(3, 6),
  y,
  ...linear.slice(6),
  z,
  0,
  0,
  0,
  1,
];
const ZERO: Triple = [0, 0, 0];
const UNIT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const QUARTER = [0, -1, 0, 1, 0, 0, 0, 0, 1];
const turn = (degrees: number, scale = 1) => {
  const [c, s] = [scale * Math.cos((degrees * Math.PI) / 180), scale * Math.sin((degrees * Math.PI) / 180)];
  return [c, -s, 0, s, c, 0, 0, 0, scale];
};

describe("kinds of motion", () => {
  test.each([
    ["identity", UNIT, true, 1, true],
    ["a turn", turn(37), true, 1, false],
    ["a turn of 1e-5 degrees", turn(1e-5), true, 1, false],
    ["a scaled turn", turn(37, 2.5), true, 2.5, false],
    ["a shrunk turn", turn(37, 1e-3), true, 1e-3, false],
    ["dust on the identity", UNIT.map((value) => value + 5e-10), true, 1, true],
  ])("%s is a similarity", (_, linear, is_similarity, scale, is_translation) => {
    const motion = motionOf(matrix(linear, [1, 2, 3]), null);
    expect([motion.is_similarity, motion.is_translation]).toEqual([is_similarity, is_translation]);
    if (scale === 1)
      expect(motion.scale).toBe(1); // exactly: no column is multiplied by 1.0000000001
    else expect(motion.scale).toBeCloseTo(scale, 12);
  });
  test.each([
    ["uneven", [2, 0, 0, 0, 1, 0, 0, 0, 1]],
    ["a shear", [1, 0.001, 0, 0, 1, 0, 0, 0, 1]],
    ["a shear of 1e-8", [1, 1e-8, 0, 0, 1, 0, 0, 0, 1]],
  ])("%s is not a similarity", (_, linear) => {
    expect(motionOf(matrix(linear, ZERO), null)).toMatchObject({ is_similarity: false, is_translation: false });
  });
});

describe("in the stored frame", () => {
  const far: Triple = [4_000_000.25, 5_500_000.5, 100];
  test("a translation stays exact, however far away the frame is", () => {
    const motion = motionOf(matrix(UNIT, [0.1, -0.2, 0.3]), far);
    expect(motion.delta).toEqual([0.1, -0.2, 0.3]);
    expect(apply(motion.stored, [1.5, 2.5, 3.5])).toEqual([1.6, 2.3, 3.8]);
  });
  test("a quarter turn about the world's origin", () => {
    // world (x, y, z) -> (-y, x, z); stored (1, 2, 3) is world (4000001.25, 5500002.5, 103)
    const motion = motionOf(matrix(QUARTER, ZERO), far);
    expect(apply(motion.stored, [1, 2, 3])).toEqual([-5500002.5 - far[0], 4000001.25 - far[1], 3]);
  });
  test("a turn about the middle of the cloud keeps it in place: a micrometre at 4000 km", () => {
    const linear = turn(30);
    const [c, s] = [linear[0] ?? 0, linear[3] ?? 0];
    const [x, y] = far;
    const about: Triple = [x - c * x + s * y, y - s * x - c * y, 0]; // t = p - R p
    const at = apply(motionOf(matrix(linear, about), far).stored, [10, 0, 1]);
    // doubles at 4e6 have steps of 5e-10 m; a handful of them
    expect(Math.abs(at[0] - 10 * c)).toBeLessThan(1e-8);
    expect(Math.abs(at[1] - 10 * s)).toBeLessThan(1e-8);
    expect(at[2]).toBe(1);
  });
  test("without a shift the matrix does not change", () => {
    expect(motionOf(matrix(QUARTER, [7, 8, 9]), null).stored).toEqual([0, -1, 0, 7, 1, 0, 0, 8, 0, 0, 1, 9]);
    expect(motionOf(matrix(QUARTER, [7, 8, 9]), ZERO).stored).toEqual([0, -1, 0, 7, 1, 0, 0, 8, 0, 0, 1, 9]);
  });
});

test("the linear part is the left three columns", () => {
  expect(linearPart(motionOf(matrix(QUARTER, [7, 8, 9]), null).stored)).toEqual(QUARTER);
});

test("a composed pose equals the motions one after the other", () => {
  const first = motionOf(matrix(QUARTER, [1, 2, 3]), [100, 0, 0]).stored;
  const second = motionOf(matrix([2, 0, 0, 0, 2, 0, 0, 0, 2], [0, 0, -5]), [100, 0, 0]).stored;
  const pose = composed(second, composed(first, null));
  expect(pose.slice(12)).toEqual([0, 0, 0, 1]);
  for (const point of [ZERO, [1, 2, 3], [-7.5, 0.25, 9]] as Triple[]) {
    expect(apply(pose, point)).toEqual(apply(second, apply(first, point)));
  }
  expect(composed(first, null).slice(0, 12)).toEqual(first);
});

describe("refusals name the rule", () => {
  const refusal = (numbers: readonly number[]) => {
    try {
      motionOf(numbers, null);
      return "none";
    } catch (error) {
      return (error as Error).message;
    }
  };
  test("edges of the tolerances", () => {
    const last = (w: number) => [...matrix(UNIT, ZERO).slice(0, 15), w];
    expect([refusal(last(1 + 0.9e-9)), refusal(last(1 - 0.9e-9))]).toEqual(["none", "none"]);
    expect(refusal(last(1 + 1.1e-9))).toContain("must end with the row 0 0 0 1");
    const flat = (z: number) => matrix([1, 0, 0, 0, 1, 0, 0, 0, z], ZERO);
    expect(refusal(flat(1.1e-12))).toBe("none");
    expect(refusal(flat(1e-12))).toContain("determinant 1e-12; it must be above 1e-12");
    expect(refusal(flat(-1))).toContain("no mirroring");
    expect(refusal(matrix([1, 0, 0, 0, 1, 0, 0, 0, Number.NaN], ZERO))).toBe(
      "matrix must hold finite numbers only; number 11 of 16 is NaN",
    );
  });
});
