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

test("scans whose stems stand apart are told, the farthest first", () => {
  const told = registrationWarnings([
    offset(2, 0.001),
    offset(3, 0.02),
    offset(4, -0.051),
    offset(5, 0.03),
    offset(6, 0.04),
  ]);
  expect(told).toEqual([
    expect.stringMatching(
      /: 51 mm between scans 1 and 4 \(12 stems\), 40 mm .* and 6 .*, 30 mm .* and 1 more; scan_offsets/,
    ),
  ]);
});

test("what noise or a few stems explain is not", () => {
  expect(registrationWarnings([offset(2, 0.0049), offset(3, 0.008, { spread_m: 0.02 })])).toEqual([]);
  expect(registrationWarnings([offset(3, 0.03, { spread_m: 0.02, n_stems: 3 })])).toEqual([]);
  expect(registrationWarnings([])).toEqual([]);
});
