import { expect, test } from "vitest";
import { upAxisWarnings } from "../../../../backend/services/classify/up-axis.ts";

const even = (values: Partial<Record<"x" | "y" | "z" | "-x" | "-y" | "-z", number>>) =>
  (["x", "y", "z", "-x", "-y", "-z"] as const).map((axis) => values[axis] ?? 0.1);

/** Row-major 3 x 3 of the matrix that a warning names. */
function turnOf(warning: string): number[] {
  const values = /matrix \[([^\]]*)\]/.exec(warning)?.[1]?.split(", ").map(Number) ?? [];
  expect(values).toHaveLength(16);
  expect(values.slice(12)).toEqual([0, 0, 0, 1]);
  return [0, 1, 2].flatMap((row) => values.slice(4 * row, 4 * row + 3));
}

test.each([
  ["x", [1, 0, 0]],
  ["y", [0, 1, 0]],
  ["-x", [-1, 0, 0]],
  ["-y", [0, -1, 0]],
  ["-z", [0, 0, -1]],
] as const)("%s upwards is told, with the rotation that mends it", (axis, up) => {
  const [warning = ""] = upAxisWarnings(even({ [axis]: 0.9 }));
  expect(warning).toMatch(new RegExp(`^z does not seem to point upwards, but ${axis}: .* 90 % .* 10 % along z`));
  const m = turnOf(warning);
  const at = (row: number, column: number) => m[3 * row + column] ?? 0;
  const turned = [0, 1, 2].map((row) => up.reduce<number>((sum, value, column) => sum + at(row, column) * value, 0));
  expect(turned).toEqual([0, 0, 1]);
  const determinant =
    at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
    at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
    at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
  expect(determinant).toBe(1);
});

test("land, rooms, single trees and what is unknown are not", () => {
  expect(upAxisWarnings(even({ z: 0.48, "-z": 0.4 }))).toEqual([]);
  expect(upAxisWarnings(even({ x: 0.9, y: 0.9, z: 0.9, "-x": 0.9 }))).toEqual([]);
  expect(upAxisWarnings(even({ z: 0.07, y: 0.11 }))).toEqual([]);
  expect(upAxisWarnings(even({ z: 0.3, y: 0.5 }))).toEqual([]);
  expect(upAxisWarnings(even({ z: Number.NaN, y: Number.NaN }))).toEqual([]);
});
