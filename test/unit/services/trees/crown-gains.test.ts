import { expect, test } from "vitest";
import { gainWarnings } from "../../../../backend/services/trees/crown-gains.ts";

test("crowns of few points are told, with the part that is missing of all of them", () => {
  const crowns = [
    { area_m2: 10, gain_m2: 2 },
    { area_m2: 30, gain_m2: 2.8 },
  ];
  expect(gainWarnings(crowns)).toEqual([
    expect.stringMatching(
      /^Areas and widths of crowns, .* would be 12 % larger than the hulls of so few \(crown_area_gain_m2\)/,
    ),
  ]);
});

test("dense crowns, or none, are not", () => {
  expect(gainWarnings([{ area_m2: 10, gain_m2: 0.4 }])).toEqual([]);
  expect(gainWarnings([])).toEqual([]);
});
