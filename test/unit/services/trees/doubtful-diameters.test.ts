import { expect, test } from "vitest";
import { doubtfulWarnings } from "../../../../backend/services/trees/doubtful-diameters.ts";

const sure = Array.from({ length: 20 }, (_, i) => ({ tree_id: i + 1, dbh_m: 0.3, sigma_m: 0.01 }));
const wide = { tree_id: 40, dbh_m: 1.6, sigma_m: 0.22 };

test("a doubtful diameter with much of the basal area is named", () => {
  expect(doubtfulWarnings([...sure, wide])).toEqual([
    "One tree whose diameter has a standard error above a tenth of it (tree 40: 1.60 ± 0.22 m) makes up 59 % of the basal area.",
  ]);
  const many = [0.5, 0.6, 0.7, 0.8].map((dbh_m, i) => ({ tree_id: 50 + i, dbh_m, sigma_m: 0.1 }));
  expect(doubtfulWarnings([...sure, ...many])).toEqual([
    expect.stringMatching(/^4 trees whose diameters have .* \(tree 53: 0\.80 ± 0\.10 m, .*, \.\.\) make up 49 %/),
  ]);
});

test("nothing is said of sure diameters, of small ones, and without any", () => {
  expect(doubtfulWarnings(sure)).toEqual([]);
  expect(doubtfulWarnings([...sure, { ...wide, dbh_m: 0.2, sigma_m: 0.05 }])).toEqual([]);
  expect(doubtfulWarnings([...sure, { ...wide, sigma_m: Number.NaN }])).toEqual([]);
  expect(doubtfulWarnings([])).toEqual([]);
});
