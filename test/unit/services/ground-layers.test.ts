// What is told of two layers of ground, by what asks and by what tells the scans apart.
import { expect, test } from "vitest";
import { commandLineWords } from "../../../backend/cli/wording.ts";
import { groundLayerWarnings } from "../../../backend/services/classify/ground-layers.ts";
import type { GroundLayers } from "../../../shared/contract/ground-layers.ts";
import { lengthText } from "../../../shared/length-text.ts";

const FOUND: GroundLayers = {
  ...{ z_m: 0.154, spread_m: 0.01, share: 0.8, n_places: 200, n_both: 150, cell_m: 0.5 },
  ...{ scans_by: "scan_index", by_flight_lines: false, upper_scans: [2, 4], lower_scans: [1, 3] },
};
const HEAD =
  "The ground lies in two layers 15.4 cm apart, in 150 of 200 places of 0.5 m (ground_layers): scans were put together at different heights.";
const REGISTER =
  "Their points do not tell which scans lie higher: register the scans again, or import them with their numbers (column scan_index, or see scan_column), by which POST align_scans moves them.";
const ALIGN =
  "Move the scans onto each other (POST align_scans of a session with trees), then segment ground and trees again.";

test.each([
  ["ground", "The lower one is labelled ground; heights above it are up to 15.4 cm too large."],
  ["dtm", "The terrain follows the lower one; heights above it are up to 15.4 cm too large."],
  ["chm", "Heights of the canopy are up to 15.4 cm too large."],
  [
    "trees",
    "Heights of trees are up to 15.4 cm too large, and points of the upper layer, which belong to trees, may make them flat or cut.",
  ],
] as const)("what is wrong for %s", (asking, effect) => {
  expect(groundLayerWarnings(FOUND, asking)).toEqual([
    `${HEAD} ${effect} Scans 2, 4 (scan_index) lie in the upper one. ${ALIGN}`,
  ]);
});

const lastOf = (layers: Partial<GroundLayers>) =>
  groundLayerWarnings({ ...FOUND, ...layers }, "chm")[0]?.split("too large. ")[1];

test("what to do depends on what tells the scans apart", () => {
  expect(lastOf({ upper_scans: [7] })).toBe(`Scan 7 (scan_index) lies in the upper one. ${ALIGN}`);
  expect(lastOf({ upper_scans: [1, 2, 3, 4, 5, 6] })).toMatch(/^Scans 1, 2, 3, 4, 5, \.\. \(scan_index\) lie in/);
  expect(lastOf({ scans_by: "las_point_source_id", by_flight_lines: true, upper_scans: [21] })).toBe(
    "Flight line 21 (las_point_source_id) lies in the upper one. Adjust the flight lines to each other first; if these are scans, POST align_scans with scan_column las_point_source_id moves them.",
  );
  expect(lastOf({ scans_by: null, upper_scans: [], lower_scans: [] })).toBe(REGISTER);
  expect(lastOf({ upper_scans: [], lower_scans: [1] })).toBe(REGISTER);
});

test("nothing is told of one layer", () => {
  expect(groundLayerWarnings(null, "ground")).toEqual([]);
});

test("commands name what they do themselves", () => {
  const [told = ""] = groundLayerWarnings(FOUND, "trees");
  expect(commandLineWords(told)).toBe(
    "The ground lies in two layers 15.4 cm apart, in 150 of 200 places of 0.5 m: scans were put together at different heights. Heights of trees are up to 15.4 cm too large, and points of the upper layer, which belong to trees, may make them flat or cut. Scans 2, 4 (scan_index) lie in the upper one. The command inventory moves the scans of a plot onto each other, unless it is told --no-align.",
  );
  expect(commandLineWords(`${HEAD} ${REGISTER}`)).toMatch(
    /import them with their numbers \(column scan_index, or see --scan-column\), by which inventory moves them\.$/,
  );
  const [lines = ""] = groundLayerWarnings({ ...FOUND, scans_by: "strip", by_flight_lines: true }, "trees");
  expect(commandLineWords(lines)).toMatch(/; if these are scans, inventory with --scan-column strip moves them\.$/);
});

test("lengths are in centimetres below 1 m", () => {
  expect([0.999, 1, 46.9995, -0.25].map(lengthText)).toEqual(["99.9 cm", "1.00 m", "47.00 m", "-25.0 cm"]);
});
