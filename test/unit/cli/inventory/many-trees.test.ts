import { expect, test } from "vitest";
import { inPieces } from "../../../../backend/cli/inventory/inventory.ts";
import { plotFacts } from "../../../../backend/cli/inventory/results.ts";
import { type MeasuredPlot, sceneWarnings, standFacts } from "../../../../backend/cli/inventory/stand-facts.ts";
import { DEFAULT_STAND_SETTINGS, standSummary } from "../../../../shared/client/stand.ts";
import type { TreeRow } from "../../../../shared/contract/cloud-session/tree-inventory-rows.ts";

test("200 000 trees have facts", () => {
  const trees = Array.from(
    { length: 200_000 },
    (_, i): TreeRow => ({ tree_id: i + 1, n_points: 60, dbh_m: null, height_m: 1 + (i % 20), flags: [] }),
  );
  const list = { trees, skipped: [] as unknown[], stand: null };
  const plot = { scene: { kind: "plot", reason: "made up" }, method: "auto", stems: null };
  const stand = standSummary(list);
  const cloud = { tail: { source_units: null, source_unit_scale: null }, look: { units_stated: false } };
  const found = { cloud, plot, list, stand, settings: DEFAULT_STAND_SETTINGS } as unknown as MeasuredPlot;
  const facts = new Map(plotFacts(found));
  expect(facts.get("Mean, largest height of all trees")).toBe("10.5 m, 20 m");
  expect(new Map(standFacts(found)).get("Mean, largest height of counted trees")).toBe("not known, not known");
  expect(facts.get("With a diameter")).toBe("0");
  expect(facts.get("Units of the file")).toBe("not stated, taken as metres");
});

test("lines are written in long pieces", () => {
  const lines = Array.from({ length: 30_000 }, (_, i) => `line ${i}\n`);
  const pieces = [...inPieces(lines)];
  expect(pieces.join("")).toBe(lines.join(""));
  expect(pieces.length).toBeLessThan(10);
  expect(pieces.every((piece) => piece.length < 70_000)).toBe(true);
  expect([...inPieces([])]).toEqual([]);
});

test.each([
  ["object", "a flat ceiling", /like a thing or a room \(a flat ceiling\)/],
  ["plot", "ground", null],
] as const)("a scene of kind %s: %s", (kind, reason, words) => {
  const warnings = sceneWarnings({ kind, reason });
  if (words === null) expect(warnings).toEqual([]);
  else expect(warnings).toEqual([expect.stringMatching(words)]);
});

test("a plot below 1 m2 has no values per hectare", () => {
  const rows = [{ tree_id: 1, dbh_m: 0.2, height_m: 9 }];
  const perHa = (plot_area_m2: number) =>
    standSummary({ trees: rows, stand: { plot_area_m2, plot_source: "all_points", cover_cell_m: 0 } } as never)
      .stemsPerHa;
  expect(perHa(100)).toBe(100);
  expect(perHa(4e-8)).toBeNull();
});
