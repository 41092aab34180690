import { expect, test } from "vitest";
import { commandLineWords } from "../../../../backend/cli/wording.ts";
import { lyingWoodWarnings, runsOf } from "../../../../backend/services/qsm/lying-wood.ts";

type Xyz = [number, number, number];
/** A stem of 20 m and 0.15 m of radius, and twenty branches of 3 m and 0.02 m that stand off it at a right angle. */
const tree = (turn: (place: Xyz) => Xyz) => {
  const part = (start: Xyz, end: Xyz, radius: number) => ({ start: turn(start), end: turn(end), radius });
  const branches = Array.from({ length: 20 }, (_, i) => {
    const [x, y] = [3 * Math.cos(i), 3 * Math.sin(i)];
    return part([0, 0, i], [x, y, i], 0.02);
  });
  return [part([0, 0, 0], [0, 0, 20], 0.15), ...branches];
};
const told = (turn: (place: Xyz) => Xyz) => {
  const wood = tree(turn);
  return lyingWoodWarnings(runsOf(wood.length, (i) => wood[i] as (typeof wood)[number]));
};

test("wood that lies is told with its axis", () => {
  expect(told(([x, y, z]) => [x, y, z])).toEqual([]);
  expect(told(([x, y, z]) => [-z, y, x])).toEqual([
    expect.stringMatching(/^The wood lies along x: .*, x or -x points/),
  ]);
  const [y = ""] = told(([x, y, z]) => [x, z, -y]);
  expect(y).toMatch(/^The wood lies along y: .* run along y by 9\d % of their length and rise by [1-9] %\./);
  expect(commandLineWords(y)).toMatch(/not z: give it as --up\.$/);
});

test("leaning trees, wood that runs everywhere and models without volume are not", () => {
  const lean = Math.PI / 4;
  expect(
    told(([x, y, z]) => [x * Math.cos(lean) + z * Math.sin(lean), y, z * Math.cos(lean) - x * Math.sin(lean)]),
  ).toEqual([]);
  expect(lyingWoodWarnings([0.58, 0.58, 0.4])).toEqual([]);
  expect(lyingWoodWarnings(runsOf(0, () => ({ start: [0, 0, 0], end: [0, 0, 0], radius: 0 })))).toEqual([]);
});
