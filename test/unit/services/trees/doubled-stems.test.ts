import { expect, test } from "vitest";
import { doubledStemWarnings, type Foot, stemsInStems } from "../../../../backend/services/trees/doubled-stems.ts";
import { random } from "../../../support/session-model/source.ts";

const foot = (tree_id: number, x: number, y: number, dbh_m = 0.3): Foot => ({ tree_id, x, y, dbh_m });
/** Trees in a square, and a part of each that stands beside it. */
function stand(count: number, beside: (i: number) => readonly [number, number], dbh_m = Number.NaN): Foot[] {
  const next = random(11);
  return Array.from({ length: count }, (_, i) => {
    const [x, y] = [400_000 + 60 * next(), 5_000_000 + 60 * next()];
    const [dx, dy] = beside(i);
    return [foot(2 * i + 1, x, y), foot(2 * i + 2, x + dx, y + dy, dbh_m)];
  }).flat();
}
const turned = (degrees: number, metres = 0.12) =>
  [metres * Math.cos((degrees * Math.PI) / 180), metres * Math.sin((degrees * Math.PI) / 180)] as const;

test("stems that stand in each other in one direction, or its opposite, are those of two scans", () => {
  for (const degrees of [0, 35, 90, 145]) {
    const found = stemsInStems(
      stand(16, (i) => turned(degrees + 8 * Math.sin(i) + 180 * (i % 2), 0.1 + 0.05 * (i % 3))),
    );
    expect(found).toHaveLength(16);
    const [x, y] = turned(degrees % 180);
    const sign = Math.abs(x) >= Math.abs(y) ? Math.sign(x) : Math.sign(y);
    for (const { by_m } of found) expect(sign * (by_m[0] * x + by_m[1] * y)).toBeGreaterThan(0);
    for (const { tree_id, of } of found) expect(Math.ceil(tree_id / 2)).toBe(Math.ceil(of / 2));
  }
});

test("forks, few trees, stems beside each other and numbers of one stem are not", () => {
  const next = random(5);
  expect(stemsInStems(stand(40, () => turned(360 * next())))).toEqual([]);
  expect(stemsInStems(stand(6, () => turned(20)))).toEqual([]);
  expect(stemsInStems(stand(8, () => turned(20)))).toHaveLength(8);
  const giant = foot(999, 0, 0, 0.9);
  expect(stemsInStems([giant, ...stand(40, () => turned(20, 0.31))])).toEqual([]); // wider than the stem
  expect(stemsInStems(stand(40, () => turned(20, 0.01)))).toEqual([]);
  expect(stemsInStems(stand(40, () => turned(20)).map((one) => ({ ...one, dbh_m: Number.NaN })))).toEqual([]);
  expect(stemsInStems([])).toEqual([]);
});

test("a tree is in one pair", () => {
  const two = stand(12, () => turned(20));
  const third = two.filter((_, i) => i % 2 === 0).map(({ x, y }, i) => foot(100 + i, x - 0.15, y, Number.NaN));
  const found = stemsInStems([...two, ...third]);
  expect(found).toHaveLength(12);
  expect(found.every(({ tree_id, of }) => tree_id < 100 && of < 100)).toBe(true);
});

test("many feet, in one place or on a line, take a second, not minutes", () => {
  expect(stemsInStems(Array.from({ length: 100_000 }, (_, i) => foot(i, 1e15, -7, 500)))).toEqual([]);
  expect(stemsInStems(Array.from({ length: 100_000 }, (_, i) => foot(i, 3, i, 500)))).toEqual([]);
});

test("names the motion and the trees, in any order of the list", () => {
  const list = stand(12, (i) => turned(10 + (i % 3)));
  const [text = ""] = doubledStemWarnings(stemsInStems(list));
  expect(text).toMatch(
    /^12 trees stand within the stem of another, .* \(x \+0\.12 m, y \+0\.02 m in the median; tree /,
  );
  expect(doubledStemWarnings(stemsInStems(list.toReversed()))).toEqual([text]);
  expect(doubledStemWarnings([])).toEqual([]);
});
