import { expect, test } from "vitest";
import { coverWarnings, leafyStems, type StemCover } from "../../../../backend/services/trees/covered-stems.ts";
import { scatterWarnings } from "../../../../backend/services/trees/stem-scatter.ts";

const stems = (scatters: readonly number[], { bare_scatter_m = 0.012, dbh_m = 0.3 } = {}): StemCover[] =>
  scatters.map((scatter_m, i) => ({
    tree_id: i + 1,
    covered: false,
    buttressed: false,
    dbh_m,
    scatter_m,
    bare_scatter_m,
  }));

test("points that lie far from the circles of most stems are told", () => {
  expect(scatterWarnings(stems([0.003, 0.02, 0.021, 0.03, Number.NaN]))).toEqual([
    expect.stringMatching(/^The points of stems scatter 21 mm about their circles \(median of 4 stems\)/),
  ]);
});

test("bark, few stems and giants are not", () => {
  expect(scatterWarnings(stems([0.003, 0.009, 0.011, 0.05]))).toEqual([]);
  expect(scatterWarnings(stems([0.05, 0.05, Number.NaN]))).toEqual([]);
  expect(scatterWarnings(stems([0.05, 0.05, 0.05], { dbh_m: 2 }))).toEqual([]);
  expect(scatterWarnings([])).toEqual([]);
});

test("stems that scatter more than bare ones may have the diameter of leaves", () => {
  const ivy = stems([0.003, 0.002, 0.035, 0.003], { bare_scatter_m: 0.002 });
  expect(coverWarnings(ivy)).toEqual([
    expect.stringMatching(
      /^1 of 4 diameters may be those of leaves, .* \(tree 3\): points scatter 35 mm .*, and 2 mm about bare/,
    ),
  ]);
  expect(scatterWarnings(ivy)).toEqual([]);
  expect(coverWarnings(ivy.map((stem) => ({ ...stem, buttressed: true })))).toEqual([]);
});

test("in noisy ranges, in scans that do not fit and where no bare stem is known they are no leaves", () => {
  expect(leafyStems(stems([0.035, 0.03, 0.036], { bare_scatter_m: 0.013 }))).toEqual([]);
  expect(leafyStems(stems([0.035, 0.03, 0.036], { bare_scatter_m: Number.NaN }))).toEqual([]);
  expect(leafyStems(stems([0.035], { bare_scatter_m: 0.002, dbh_m: 1.2 }))).toEqual([]);
  expect(leafyStems(stems([0.07], { bare_scatter_m: 0.002, dbh_m: 1.4 }))).toEqual([]);
});

test("stems of which no bark was seen are named", () => {
  const one = {
    tree_id: 7,
    covered: true,
    buttressed: false,
    dbh_m: Number.NaN,
    scatter_m: Number.NaN,
    bare_scatter_m: 0.002,
  };
  expect(coverWarnings([one, ...stems([0.002])])).toEqual([
    expect.stringMatching(/^1 of 2 stems is covered .*\(flags: covered; tree 7\)\. They have no diameter;/),
  ]);
  const many = Array.from({ length: 7 }, (_, i) => ({ ...one, tree_id: i }));
  expect(coverWarnings(many)[0]).toContain("7 of 7 stems are covered");
  expect(coverWarnings(many)[0]).toContain("tree 0, 1, 2, 3, 4, ..)");
});
