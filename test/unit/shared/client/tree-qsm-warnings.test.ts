import { expect, test } from "vitest";
import { treeQsmWarnings } from "../../../../shared/client/index.ts";

const leaves = (percent: number) => `${percent} % of the model's length runs through leaves`;
const far = (lost: number, all: number) => `${lost} of ${all} points are too far from the rest of the tree`;
const model = (tree_id: number, ...warnings: string[]) => ({ tree_id, success: true, warnings });

test("trees that are told the same are counted, with the range of the numbers", () => {
  const trees = [
    model(3, leaves(52), far(9, 100)),
    model(4),
    model(7, leaves(9.5)),
    model(8, far(12, 100), leaves(50)),
  ];
  expect(treeQsmWarnings(trees)).toEqual([
    "3 of 4 models (trees 3, 7, 8): 9.5 to 52 % of the model's length runs through leaves.",
    "2 of 4 models (trees 3, 8): 9 to 12 of 100 points are too far from the rest of the tree.",
  ]);
});

test("five trees are named; a sentence of one tree stays as it is", () => {
  const many = Array.from({ length: 66 }, (_, i) => model(i + 1, "no radius could be measured well."));
  expect(treeQsmWarnings(many)).toEqual([
    "66 of 66 models (trees 1, 2, 3, 4, 5 and 61 more): no radius could be measured well.",
  ]);
  const failed = { tree_id: 2, success: false };
  expect(treeQsmWarnings([model(1, leaves(50)), failed])).toEqual([`1 of 1 model (tree 1): ${leaves(50)}.`]);
  expect(treeQsmWarnings([model(1), failed])).toEqual([]);
});
