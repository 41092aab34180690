import { expect, test } from "vitest";
import type { Table } from "../../../../backend/services/trees/native-table.ts";
import { strayTop, strayTopWarnings } from "../../../../backend/services/trees/stray-tops.ts";
import { thickTops, thickTopWarnings } from "../../../../backend/services/trees/thick-tops.ts";

const table = (rows: readonly Readonly<Record<string, number>>[]) =>
  ({ length: rows.length, get: (i: number, field: string) => rows[i]?.[field] ?? Number.NaN }) as unknown as Table;

test("what stands alone counts from 0.3 m or 3 % of the height on", () => {
  const of = (height_m: number, stray_top_m: number) => strayTop(table([{ height_m, stray_top_m }]), 0);
  expect([of(20, 0.29), of(20, 0.31), of(2, 0.05), of(2, 0.07), of(20, Number.NaN), of(20, 0)]).toEqual([
    0, 0.31, 0, 0.07, 0, 0,
  ]);
});

test("the last section that is ok tells whether a stem ends thick", () => {
  const sections = (tree_id: number, list: readonly (readonly [number, number, number])[]) =>
    list.map(([height_m, diameter_m, ok]) => ({ tree_id, height_m, diameter_m, ok }));
  const trees = table([
    { tree_id: 1, height_m: 7, dbh_diameter_m: 0.3 }, // seen up to 7 m
    { tree_id: 2, height_m: 14, dbh_diameter_m: 3 }, // a baobab, thick, but with a crown of 7 m
    { tree_id: 3, height_m: 18, dbh_diameter_m: 0.25 }, // a whole pine
    { tree_id: 4, height_m: 7, dbh_diameter_m: 0.3 }, // a circle of leaves at its top
    { tree_id: 5, height_m: 7, dbh_diameter_m: Number.NaN },
    { tree_id: 6, height_m: 7, dbh_diameter_m: 0.3 },
  ]);
  const curve = table([
    ...sections(1, [
      [6.5, 0.18, 1],
      [1.5, 0.3, 1],
    ]),
    ...sections(2, [[7, 2.6, 1]]),
    ...sections(3, [[15.5, 0.1, 1]]),
    ...sections(4, [
      [1.5, 0.3, 1],
      [6.5, 0.4, 0],
    ]),
    ...sections(5, [[6.5, 0.2, 1]]),
  ]);
  expect([...thickTops(trees, curve)]).toEqual([[1, { tree_id: 1, diameter_m: 0.18, below_m: 0.5 }]]);
});

test("trees whose highest points stand alone are told with the largest effect", () => {
  expect(strayTopWarnings([], 9)).toEqual([]);
  expect(strayTopWarnings([{ tree_id: 4, lower_m: 0.5 }], 9)).toEqual([
    expect.stringMatching(/^1 of 9 trees has a highest point that stands alone .* tree 4\).* up to 0\.50 m too large/),
  ]);
  const many = [3, 5, 7, 8, 9, 11].map((tree_id, k) => ({ tree_id, lower_m: 1.5 - 0.2 * k }));
  expect(strayTopWarnings(many, 40)).toEqual([
    expect.stringMatching(
      /^6 of 40 trees have highest points that stand alone .*tree 3, 5, 7, 8, 9, \.\.\).* up to 1\.50 m/,
    ),
  ]);
});

test("trees whose stem ends thick are told, and where they are many that the others end, too", () => {
  expect(thickTopWarnings([], 9)).toEqual([]);
  const snag = { tree_id: 6, diameter_m: 0.314, below_m: 0.52 };
  const [one = ""] = thickTopWarnings([snag], 20);
  expect(one).toMatch(/^1 of 20 trees with a diameter ends .*tree 6; tree 6: 31 cm thick 0\.5 m below its highest/);
  expect(one).not.toContain("With so many");
  expect(thickTopWarnings([snag, { ...snag, tree_id: 8 }], 8)).toEqual([expect.stringContaining("With so many")]);
  expect(thickTopWarnings([snag, { ...snag, tree_id: 8 }], 9)).toEqual([expect.not.stringContaining("With so many")]);
});
