import { expect, test } from "vitest";
import { stemFootWarnings } from "../../../../backend/services/trees/stem-feet.ts";

const foot = (tree_id: number, dbh_m: number, above_m: number) => ({
  ...{ tree_id, dbh_m, above_m, top_m: 2.5, axial_m: Number.isNaN(above_m) ? Number.NaN : 3 },
});

test("the diameters at breast height and above are named", () => {
  expect(stemFootWarnings([])).toEqual([]);
  expect(stemFootWarnings([foot(7, 0.704, 0.679)])).toEqual([
    expect.stringMatching(/^One tree has .*\(flags: buttressed; tree 7: 0\.70 m, 0\.68 m at 3\.0 m\)\./),
  ]);
  const [many] = stemFootWarnings([
    foot(1, Number.NaN, 0.5),
    ...[2, 3, 4, 5, 6].map((id) => foot(id, 0.5, Number.NaN)),
  ]);
  expect(many).toMatch(
    /^6 trees have .*tree 1: no circle, 0\.50 m at 3\.0 m; tree 2: 0\.50 m, not seen above; .*, \.\.\)/,
  );
  expect(many).not.toContain("tree 6");
});
