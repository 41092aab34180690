import { expect, test } from "vitest";
import { lowForkWarnings } from "../../../../backend/services/trees/low-forks.ts";

const tree = (height_m: number, dbh_m = Number.NaN) => ({ height_m, dbh_m });
const orchard = [...Array.from({ length: 7 }, () => tree(4)), tree(4, 0.13), tree(3, 0.1)];

test("low trees that have no diameter at breast height are told, with a height for their trunks", () => {
  expect(lowForkWarnings(orchard, 1.3)).toEqual([
    "7 of 9 trees lower than 6.7 m have no diameter at 1.3 m. If they part into limbs below it, as trees of orchards do, breast_height_m measures their trunks: 0.4 for trees as high as these.",
  ]);
});

test("nothing is told of trunks that were looked for, of tall trees, of few, and of those with diameters", () => {
  expect(lowForkWarnings(orchard, 0.4)).toEqual([]);
  expect(lowForkWarnings([tree(12), tree(8)], 1.3)).toEqual([]);
  expect(lowForkWarnings([...orchard, ...Array.from({ length: 12 }, () => tree(20, 0.3))], 1.3)).toEqual([]);
  expect(lowForkWarnings([tree(4, 0.1), tree(4, 0.1), tree(4)], 1.3)).toEqual([]);
  expect(lowForkWarnings([tree(1.2), tree(1)], 1.3)).toEqual([]);
  expect(lowForkWarnings([], 1.3)).toEqual([]);
});

test("grass, shrubs and people among trees are no low trees that part into limbs", () => {
  const grass = Array.from({ length: 300 }, () => tree(1.4));
  expect(lowForkWarnings([tree(6, 0.2), tree(5, 0.2), tree(7, 0.3), ...grass], 1.3)).toEqual([]);
  expect(lowForkWarnings([...orchard, ...grass], 1.3)).toEqual(lowForkWarnings(orchard, 1.3));
  expect(
    lowForkWarnings(
      [...Array.from({ length: 9 }, () => tree(14, 0.3)), ...Array.from({ length: 30 }, () => tree(2.6))],
      1.3,
    ),
  ).toEqual([]);
  // Plants alone that are so low may be vines.
  expect(lowForkWarnings([tree(1.9), tree(1.8), tree(1.9)], 1.3)).toHaveLength(1);
});
