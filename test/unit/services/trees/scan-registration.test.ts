import { expect, test } from "vitest";
import { registrationWarnings } from "../../../../backend/services/trees/scan-registration.ts";

const offset = (scan_b: number, x_m: number, more: object = {}) => ({
  scan_a: 1,
  scan_b,
  n_stems: 12,
  x_m,
  y_m: 0,
  spread_m: 0.004,
  ...more,
});

const fit = { n_stems: 40, spread_m: 0.0213, rest_m: 0.00071, drifts: true, aligned: true };

const APART = [offset(2, 0.001), offset(3, 0.02), offset(4, -0.051), offset(5, 0.03), offset(6, 0.04)];
const NAMED =
  /: 51 mm between scans 1 and 4 \(12 stems\), 40 mm .* and 6 .*, 30 mm .* and 1 more; scan_offsets has the directions\. /;

test("scans whose stems stand apart are told, the farthest first", () => {
  expect(registrationWarnings(APART, null)).toEqual([expect.stringMatching(NAMED)]);
  expect(registrationWarnings(APART, null)[0]).toMatch(/diameters are wrong by up to as much/);
});

test("what was done about it is told", () => {
  expect(registrationWarnings(APART, fit)).toEqual([
    expect.stringMatching(/mean place \(align_scans\), up to 0\.7 mm, .* The cloud stays as it is/),
  ]);
  expect(registrationWarnings(APART, fit)[0]).toMatch(NAMED);
  expect(registrationWarnings(APART, { ...fit, aligned: false })).toEqual([
    expect.stringMatching(/Diameters are wrong by about as much: measure with align_scans/),
  ]);
});

test("a scanner that drifts is told without pairs of scans", () => {
  expect(registrationWarnings([], fit)).toEqual([
    expect.stringMatching(
      /^Stems stand at .* different times: 21 mm along x and along y .* 40 stems; .* drifted\. Trees were/,
    ),
  ]);
  expect(registrationWarnings([], { ...fit, drifts: false, aligned: false })).toEqual([]);
});

test("what noise or a few stems explain is not", () => {
  expect(registrationWarnings([offset(2, 0.0049), offset(3, 0.008, { spread_m: 0.02 })], null)).toEqual([]);
  expect(registrationWarnings([offset(3, 0.03, { spread_m: 0.02, n_stems: 3 })], null)).toEqual([]);
  expect(registrationWarnings([], null)).toEqual([]);
});

test("few stems of one pair that happen to scatter little are judged by the others, too", () => {
  const others = [offset(2, 0.001, { n_stems: 17 }), offset(4, 0.002, { n_stems: 13, spread_m: 0.008 })];
  const lucky = offset(3, 0.0069, { n_stems: 5, spread_m: 0.0027 });
  expect(registrationWarnings([...others, lucky], null)).toEqual([]);
  expect(registrationWarnings([lucky], null)).toEqual([expect.stringMatching(/7 mm between scans 1 and 3/)]);
  expect(registrationWarnings([...others, { ...lucky, x_m: 0.02 }], null)).toEqual([
    expect.stringMatching(/20 mm between scans 1 and 3/),
  ]);
});
