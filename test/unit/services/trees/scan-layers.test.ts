import { expect, test } from "vitest";
import { scanLayersOf, scanLayerWarnings } from "../../../../backend/services/trees/scan-layers.ts";

const found = {
  ...{ n_stems: 12, n_seen_twice: 20, x_m: 0.03, y_m: -0.04, turn_rad: 0.002, middle: [1, 2] as const },
  ...{ joins: false, n_joined: 0 },
};

test("nothing is told of scans that fit", () => {
  expect(scanLayersOf(null)).toBeNull();
  expect(scanLayerWarnings(null, [], true)).toEqual([]);
});

test("turns are degrees; several motions are told as such", () => {
  const layers = scanLayersOf(found);
  expect(layers).toEqual({
    ...{ n_stems: 12, n_seen_twice: 20, x_m: 0.03, y_m: -0.04, joined: false, n_joined: 0 },
    turn_deg: expect.closeTo(0.11459, 4),
  });
  expect(scanLayerWarnings(layers, [], true)).toEqual([
    expect.stringMatching(
      /^Scans do not fit each other: 12 stems are seen twice, 5\.0 cm apart in one direction \(x 3\.0, y -4\.0 cm, turned by 0\.11 degrees; scan_layers\)\. 8 more are seen twice in other ways/,
    ),
  ]);
  expect(scanLayerWarnings(layers, [], false)[0]).toContain("measure with align_scans true");
});

test("parts are named", () => {
  const layers = scanLayersOf({ ...found, joins: true, n_joined: 15 });
  const parts = [{ tree_id: 7, of: 3, by_m: [0.1, 0] as const }];
  expect(scanLayerWarnings(layers, parts, true)[0]).toContain(
    " 15 trees were measured with both moved together (align_scans). 1 tree of the cloud is a part of them, and measured with them (flags: repeated; tree 7 of 3). The cloud stays as it is",
  );
});
