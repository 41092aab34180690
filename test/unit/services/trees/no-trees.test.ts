import { expect, test } from "vitest";
import { flatWarnings, noTreeWarnings, wireWarnings } from "../../../../backend/services/trees/no-trees.ts";

const none = {
  of: 9,
  flat: [],
  wires: [],
  scattered: [],
  bare: [],
  at_walls: [],
  diameters: 7,
  bare_share: 0,
  at_walls_share: 0,
};

test("walls and posts are told, with their trees and what it does", () => {
  expect(noTreeWarnings(none)).toEqual([]);
  expect(noTreeWarnings({ ...none, flat: [3, 4, 5, 7, 8, 9], bare: [2, 6], bare_share: 0.126 })).toEqual([
    expect.stringMatching(
      /^6 of 9 trees lie .* flat surfaces \(tree 3, 4, 5, 7, 8, \.\.\).* no diameter \(flags: flat\)/,
    ),
    expect.stringMatching(
      /^2 of 7 trees with a diameter have .* \(flags: no_crown; tree 2, 6\).* 13 % of the basal area/,
    ),
  ]);
});

test("one of each", () => {
  expect(flatWarnings([4], 4, "So.")).toEqual([expect.stringMatching(/^1 of 4 tree lies .* \(tree 4\), .* So\.$/)]);
  expect(noTreeWarnings({ ...none, wires: [3, 5] })).toEqual([
    expect.stringMatching(
      /^2 of 9 trees are thin, level lines \(tree 3, 5\), .* no tree. They are in no value .*flags: wire/,
    ),
  ]);
  expect(wireWarnings([4], 4, "So.")).toEqual([expect.stringMatching(/^1 of 4 tree is a thin, level line .* So\.$/)]);
  expect(noTreeWarnings({ ...none, at_walls: [2], at_walls_share: 0.5 })).toEqual([
    expect.stringMatching(/^1 of 7 trees with a diameter stands within 0.4 m of a wall .*; tree 2\).*50 % of the/),
  ]);
  expect(noTreeWarnings({ ...none, at_walls: [2, 3], at_walls_share: 0.1, bare: [4], bare_share: 0.5 })).toEqual([
    expect.stringContaining("next to nothing"),
    expect.stringMatching(/^2 of 7 trees with a diameter stand within .* at_wall; tree 2, 3\), as drain pipes.*10 %/),
  ]);
  expect(noTreeWarnings({ ...none, bare: [2], bare_share: 0.5 })).toEqual([
    expect.stringMatching(/^1 of 7 trees with a diameter has .*50 % of the basal area/),
  ]);
});
