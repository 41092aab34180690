import { expect, test } from "vitest";
import { breastHeightWarnings } from "../../../../backend/services/trees/breast-height.ts";

test.each([0.2, 1.2, 1.3, 1.37, 2.74, 4])("%f m is a height at which stems are measured", (height) =>
  expect(breastHeightWarnings(height)).toEqual([]),
);

test.each([4.5, 130])("%f is told", (height) =>
  expect(breastHeightWarnings(height)).toEqual([
    expect.stringMatching(
      new RegExp(`^breast_height_m ${height}: .* those ${height} m above the ground\\..*130 cm are 1\\.3 m`),
    ),
  ]),
);
